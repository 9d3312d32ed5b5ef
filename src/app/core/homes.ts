import { hash } from 'node:crypto';
import type { Timing } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { PeriodicTask } from '../../lib/periodic.ts';
import type { ServerRow, ServerStore } from '../../storage/servers.ts';

const BEAT_MS = 400;
/** Three beats: a server that is late by two of them is still alive. */
export const ALIVE_MS = 3 * BEAT_MS;
const KEPT_HOMES = 10_000;

/**
 * Which server is the home of a queue: of the servers that are alive, the one that a hash of both names chooses. Nothing
 * about it is stored, and servers that disagree for a moment do no harm: the version of the queue decides.
 */
// SPEC D30
export class Homes {
  readonly #id: string;
  readonly #version: string;
  readonly #store: ServerStore;
  readonly #beats: PeriodicTask;
  #address = '';
  #alive: readonly ServerRow[] = [];
  #aliveUntilMs = 0;
  #known = new Map<string, ServerRow>();

  constructor(
    of: Omit<ServerRow, 'address'> & { readonly store: ServerStore; readonly clock: Timing; readonly log: Log },
  ) {
    this.#id = of.id;
    this.#version = of.version;
    this.#store = of.store;
    const round = () => this.#beat();
    this.#beats = new PeriodicTask(of, {
      firstMs: 0,
      everyMs: BEAT_MS,
      failure: 'could not tell other servers',
      round,
    });
  }

  /** `address` is the one at which other servers reach this one. */
  start(address: string): void {
    this.#address = address;
    this.#beats.start();
  }

  /** Other servers take over at once. */
  async stop(): Promise<void> {
    await this.#beats.stop();
    this.#alive = [];
    await this.#store.leave(this.#id).catch(() => undefined);
  }

  /** Undefined: this server. A server that lost the database, or is alone, knows no other. */
  findOther(queue: string): ServerRow | undefined {
    if (this.#alive.length < 2 || performance.now() > this.#aliveUntilMs) return undefined;
    const home = this.#known.get(queue) ?? this.#choose(queue);
    return home.id === this.#id ? undefined : home;
  }

  #choose(queue: string): ServerRow {
    if (this.#known.size >= KEPT_HOMES) this.#known.clear();
    const weigh = ({ id }: ServerRow) => hash('sha1', `${id}\n${queue}`);
    const home = this.#alive.reduce((best, each) => (weigh(each) > weigh(best) ? each : best));
    this.#known.set(queue, home);
    return home;
  }

  async #beat(): Promise<void> {
    const begunMs = performance.now();
    const self = { id: this.#id, address: this.#address, version: this.#version };
    const all = await this.#store.beat(self, ALIVE_MS);
    // Servers of another version may know other operations.
    const alive = all.filter(({ version }) => version === this.#version);
    this.#aliveUntilMs = begunMs + ALIVE_MS;
    if (JSON.stringify(alive) === JSON.stringify(this.#alive)) return;
    this.#alive = alive;
    this.#known = new Map();
  }
}
