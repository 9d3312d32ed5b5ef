import { request } from 'node:http';
import type { Socket } from 'node:net';
import type { Caller } from '../../app/core/caller.ts';
import { formatTraceparent, type Span } from '../../lib/trace.ts';
import type { ServerRow } from '../../storage/servers.ts';
import { HttpProblem } from '../core/problem.ts';
import { Frames } from './frames.ts';

export const LINK_PATH = '/servers/v1/link';
export const LINK_PROTOCOL = 'sluice-link';
export const PING_MS = 400;
/** A home that says nothing for this long counts as gone: three pings. */
const SILENCE_MS = 3 * PING_MS;

/** [number of the request, answer or null, problem or absent] */
export type AnswerFrame = readonly [number, unknown, Problem?];

export interface Problem {
  readonly code: string;
  readonly detail: string;
  readonly errors?: HttpProblem['errors'];
}

/** The link broke before the answer: the request may have been carried out, or not. */
export class LinkLost extends Error {
  override readonly name = 'LinkLost';
}

interface Asked {
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** A connection to the home of queues, over which requests are passed on. */
export class HomeLink {
  readonly #asked = new Map<number, Asked>();
  readonly #socket: Socket;
  readonly #frames: Frames;
  readonly #silence: NodeJS.Timeout;
  #last = 0;
  isOpen = true;

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.#frames = new Frames(socket, (line) => this.#receive(line));
    this.#silence = setTimeout(() => socket.destroy(), SILENCE_MS).unref();
    socket.on('close', () => this.#lose());
  }

  static open(server: ServerRow, secret: string): Promise<HomeLink> {
    const { promise, resolve, reject } = Promise.withResolvers<HomeLink>();
    const headers = {
      connection: 'upgrade',
      upgrade: LINK_PROTOCOL,
      authorization: secret,
      'sluice-server': server.id,
    };
    const asked = request(`${server.address}${LINK_PATH}`, { headers, timeout: SILENCE_MS });
    asked.on('upgrade', (_response, socket: Socket) => resolve(new HomeLink(socket)));
    asked.on('response', (response) => {
      response.resume();
      reject(new LinkLost(`${server.address} answered ${response.statusCode}`));
    });
    asked.on('timeout', () => asked.destroy());
    asked.on('error', (error) => reject(new LinkLost(error.message)));
    asked.end();
    return promise;
  }

  /** `body` was validated. Rejects with `LinkLost` if the link breaks before the answer. */
  run(operation: string, caller: string, body: unknown, span?: Span): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#last += 1;
    this.#asked.set(this.#last, { resolve, reject });
    const trace = span === undefined ? '' : `,"${formatTraceparent(span)}"`;
    this.#frames.write(`[${this.#last},"${operation}",${caller},${JSON.stringify(body)}${trace}]`);
    return promise;
  }

  /** Asks nothing more, and ends the connection after the last answer. */
  close(): void {
    this.isOpen = false;
    if (this.#asked.size === 0) this.#socket.end();
  }

  #receive(line: string): void {
    this.#silence.refresh();
    if (line === '') return;
    // The home stops.
    if (line === 'bye') return this.close();
    const [id, answer, problem] = JSON.parse(line) as AnswerFrame;
    const asked = this.#asked.get(id);
    this.#asked.delete(id);
    if (problem === undefined) asked?.resolve(answer);
    else asked?.reject(new HttpProblem(problem.code as HttpProblem['code'], problem.detail, problem.errors));
    if (!this.isOpen && this.#asked.size === 0) this.#socket.end();
  }

  #lose(): void {
    this.isOpen = false;
    clearTimeout(this.#silence);
    for (const { reject } of this.#asked.values()) reject(new LinkLost('the connection to the home broke'));
    this.#asked.clear();
  }
}

const written = new WeakMap<Caller, string>();

/** Callers are cached, and so is their text. */
export function writeCaller(caller: Caller): string {
  const known = written.get(caller);
  if (known !== undefined) return known;
  const { scopes, repositoryIds, ...rest } = caller;
  const text = JSON.stringify({ ...rest, scopes: [...scopes], repositoryIds: repositoryIds && [...repositoryIds] });
  written.set(caller, text);
  return text;
}

type WrittenCaller = Omit<Caller, 'scopes' | 'repositoryIds'> & {
  readonly scopes: readonly never[];
  readonly repositoryIds: readonly string[] | null;
};

export function readCaller({ scopes, repositoryIds, ...rest }: WrittenCaller): Caller {
  return { ...rest, scopes: new Set(scopes), repositoryIds: repositoryIds && new Set(repositoryIds) };
}
