import { hash } from 'node:crypto';
import { backoffMs } from '../../lib/backoff.ts';
import type { Instant } from '../../lib/clock.ts';
import { PeriodicTask } from '../../lib/periodic.ts';
import type { LeasedWork, Postponement } from '../../storage/leased-work.ts';
import type { App } from './app.ts';

/** A living server renews its leases. The work of a server that died stays locked for at most this long. */
const LEASE_MS = 20_000;
const RENEW_EVERY_MS = 5_000;
/** After a poll that failed. The store poller wakes it for work that another server stored. */
const POLL_EVERY_MS = 60_000;
/** An item that is not taken is put back for this long, so that it does not block those behind it. */
const CROWDED_MS = 2_000;

interface WorkItem {
  readonly dueAt: Instant;
}

/** Work that takes long and occupies no slot. It ends early when `stop` says so. */
export interface LongRun<Settlement> {
  readonly kind: 'long_running';
  run(stop: AbortSignal): Promise<Settlement | undefined>;
}

/** Undefined: the work has settled the item itself. */
type Outcome<Settlement> = Settlement | Postponement | LongRun<Settlement> | undefined;

/** One kind of stored work: how it is told apart, run and settled. */
interface WorkKind<Item extends WorkItem, Settlement> {
  readonly name: string;
  readonly store: LeasedWork<Item, Item, Settlement>;
  /** Calls `wake` when work may be due. Returns a function that ends this. */
  listen(wake: () => void): () => void;
  /** Claims follow each other by at least this much, so that one serves many items. Absent: at once. */
  readonly gatherMs?: number;
  slots(): number;
  idOf(item: Item): string;
  /** Items with the same line run one after the other, in the order in which they were claimed. */
  lineOf?(item: Item): string;
  /** Whether to put the item back, by the items that the server works on. */
  isCrowded?(item: Item, held: readonly Item[]): boolean;
  run(item: Item): Promise<Outcome<Settlement>>;
  settlementFor(item: Item, error: unknown, isStopped: boolean): Settlement;
  onSettled?(item: Item, settlement: Settlement | Postponement): Promise<void>;
}

interface Held<Item> {
  readonly item: Item;
  /** Ends a long run early. */
  readonly stop: AbortController;
}

/** Claims items with a lease, runs each at least once, and stores how each ended. Several servers do so at once. */
export class LeasedWorker<Item extends WorkItem, Settlement extends object> {
  readonly #app: Pick<App, 'clock' | 'log' | 'store'>;
  readonly #holder: string;
  readonly #kind: WorkKind<Item, Settlement>;
  readonly #held = new Map<string, Held<Item>>();
  readonly #underWay = new Set<Promise<void>>();
  readonly #longRuns = new Set<Promise<void>>();
  /** The last item of each line. */
  readonly #lines = new Map<string, Promise<void>>();
  readonly #polls: PeriodicTask;
  readonly #renewals: PeriodicTask;
  #stopListening: (() => void) | undefined;
  #isStopped = false;

  constructor(app: Pick<App, 'clock' | 'log' | 'store'>, holder: string, kind: WorkKind<Item, Settlement>) {
    this.#app = app;
    this.#holder = holder;
    this.#kind = kind;
    this.#polls = new PeriodicTask(app, {
      firstMs: POLL_EVERY_MS,
      everyMs: () => this.#findPause(),
      gatherMs: kind.gatherMs ?? 0,
      // The store is away for a moment; the next poll finds the same work.
      failure: `could not claim the next ${kind.name}`,
      round: () => this.#claim(),
    });
    this.#renewals = new PeriodicTask(app, {
      firstMs: RENEW_EVERY_MS,
      everyMs: RENEW_EVERY_MS,
      // The next renewal may still be in time. If not, another server repeats the work, which is safe.
      failure: 'could not renew leases',
      round: () => this.#renew(),
    });
  }

  start(): void {
    this.#stopListening = this.#kind.listen(() => this.wake());
    this.#renewals.start();
    void this.#endFormerLeases().then(() => {
      this.#polls.start();
      this.wake();
    });
  }

  /** Waits for the work under way. Closing the forges, before or meanwhile, ends what hangs. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#stopListening?.();
    for (const { stop } of this.#held.values()) stop.abort();
    await this.#polls.stop();
    await Promise.all(this.#underWay);
    await Promise.all(this.#longRuns);
    await this.#renewals.stop();
  }

  wake(): void {
    this.#polls.wake();
  }

  /** Leases left from before a restart. Of a store that no other server uses, all leases are. */
  async #endFormerLeases(): Promise<void> {
    try {
      await this.#kind.store.endLeases(this.#app.store.isShared ? this.#holder : undefined);
    } catch (error) {
      // They also expire without this, after their time.
      this.#app.log.warn({ err: error }, 'could not end leases left from before the restart');
    }
  }

  #countFree(): number {
    return this.#kind.slots() - this.#underWay.size;
  }

  async #claim(): Promise<void> {
    const limit = this.#countFree();
    if (limit <= 0) return;
    const { store, idOf, isCrowded } = this.#kind;
    const now = this.#app.clock.now();
    for (const item of await store.claim({ holder: this.#holder, now, leaseUntil: now + LEASE_MS, limit })) {
      // This server was too late to renew the lease, and has claimed its own item again: it is still running here.
      if (this.#held.has(idOf(item))) continue;
      const held = [...this.#held.values()].map((each) => each.item);
      if (isCrowded?.(item, held) === true) await this.#putBack(item, now + CROWDED_MS);
      else this.#take(item);
    }
  }

  async #putBack(item: Item, dueAt: Instant): Promise<void> {
    await this.#kind.store.settle(item, this.#holder, { kind: 'postpone', dueAt }, this.#app.clock.now());
    // Items behind it may be due, and find a free slot.
    this.wake();
  }

  /** A poll would find no free slot when all are taken, and the first item that ends wakes the task. */
  async #findPause(): Promise<number> {
    const dueAt = await this.#kind.store.findNextDueAt().catch(() => undefined);
    if (dueAt === undefined || this.#countFree() <= 0) return POLL_EVERY_MS;
    return Math.min(POLL_EVERY_MS, Math.max(1, dueAt - this.#app.clock.now()));
  }

  #take(item: Item): void {
    const held = { item, stop: new AbortController() };
    this.#held.set(this.#kind.idOf(item), held);
    const line = this.#kind.lineOf?.(item);
    const before = line === undefined ? undefined : this.#lines.get(line);
    const run = (before ?? Promise.resolve())
      .then(() => this.#run(held))
      .finally(() => {
        this.#underWay.delete(run);
        if (line !== undefined && this.#lines.get(line) === run) this.#lines.delete(line);
        this.wake();
      });
    this.#underWay.add(run);
    if (line !== undefined) this.#lines.set(line, run);
  }

  async #run(held: Held<Item>): Promise<void> {
    const { item, stop } = held;
    const long = await this.#settle(item, () => this.#begin(item));
    if (long === undefined) {
      this.#held.delete(this.#kind.idOf(item));
      return;
    }
    if (this.#isStopped) stop.abort();
    const run = this.#settle(item, () => long.run(stop.signal)).then(() => {
      this.#held.delete(this.#kind.idOf(item));
      this.#longRuns.delete(run);
      this.wake();
    });
    this.#longRuns.add(run);
  }

  async #begin(item: Item): Promise<Outcome<Settlement>> {
    // Claimed while the server stops: another server need not wait for the end of the lease.
    return this.#isStopped ? { kind: 'postpone', dueAt: item.dueAt } : this.#kind.run(item);
  }

  /** Stores the outcome. A long run is returned instead, because the item is not settled yet. */
  async #settle(item: Item, work: () => Promise<Outcome<Settlement>>): Promise<LongRun<Settlement> | undefined> {
    const { store, settlementFor, onSettled, name, idOf } = this.#kind;
    try {
      const outcome = await work().catch((error: unknown) => settlementFor(item, error, this.#isStopped));
      if (outcome === undefined) return undefined;
      if (isLongRun<Settlement>(outcome)) return outcome;
      await store.settle(item, this.#holder, outcome, this.#app.clock.now());
      await onSettled?.(item, outcome);
    } catch (error) {
      // The lease runs out, and the item is claimed again.
      this.#app.log.warn({ err: error, [name]: idOf(item) }, `could not settle ${name}`);
    }
    return undefined;
  }

  async #renew(): Promise<void> {
    const items = [...this.#held.values()].map(({ item }) => item);
    if (items.length === 0) return;
    const until = this.#app.clock.now() + LEASE_MS;
    const kept = new Set(await this.#kind.store.renewLeases(this.#holder, items, until));
    // Another server took over a lease that this one was too late to renew.
    for (const item of items) if (!kept.has(item)) this.#held.get(this.#kind.idOf(item))?.stop.abort();
  }
}

function isLongRun<Settlement>(outcome: object): outcome is LongRun<Settlement> {
  return 'run' in outcome;
}

/** The same delay for the same attempt, so that a simulated run can be repeated; another one for other work. */
export function delayOf(id: string, attempts: number, retry: { readonly firstMs: number; readonly capMs: number }) {
  return backoffMs(attempts, { ...retry, spread: spreadOf(`${id} ${attempts}`) });
}

/** From 0 to 1, the same for the same text. It spreads retries of work that failed at the same time. */
export function spreadOf(text: string): number {
  return Number.parseInt(hash('sha256', text).slice(0, 8), 16) / 0xffffffff;
}
