import { MessageReader } from './sse.ts';

export interface StreamEvent {
  readonly id?: string;
  readonly type: string;
  readonly repo?: { readonly host: string; readonly owner: string; readonly name: string };
  readonly targetBranch?: string;
  readonly prNumber?: number;
  readonly testId?: string;
  readonly text?: string;
}

export type StreamState = 'connecting' | 'live' | 'offline' | 'refused';

interface Listener {
  onEvent(event: StreamEvent): void;
  onState(state: StreamState): void;
}

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;
/** The server sends a comment every 20 seconds. A line that is silent for longer is dead. */
const SILENCE_MS = 45_000;

/**
 * Follows the events of an organization, and comes back by itself. It asks for no event twice: pages read everything anew
 * when the line is back, so that a server that forgot, repeats or jumps does no harm.
 */
export class StreamConnection {
  readonly #org: string;
  readonly #listener: Listener;
  readonly #server: string;
  #waitMs = FIRST_WAIT_MS;
  #abort = new AbortController();
  #goOn: () => void = () => undefined;
  #isClosed = false;

  /** Without a server: the one that the page came from. */
  constructor(org: string, listener: Listener, server = '') {
    this.#org = org;
    this.#listener = listener;
    this.#server = server;
  }

  open(): this {
    void this.#run();
    return this;
  }

  close(): void {
    this.#isClosed = true;
    this.#abort.abort();
  }

  /** Ends a wait. */
  retry(): void {
    this.#goOn();
  }

  async #run(): Promise<void> {
    while (!this.#isClosed) {
      this.#listener.onState('connecting');
      const isRefused = await this.#follow();
      if (this.#isClosed) return;
      this.#listener.onState(isRefused ? 'refused' : 'offline');
      const jitter = 0.5 + Math.random();
      await new Promise<void>((resolve) => {
        this.#goOn = resolve;
        setTimeout(resolve, (isRefused ? LONGEST_WAIT_MS : this.#waitMs) * jitter);
      });
      this.#waitMs = Math.min(LONGEST_WAIT_MS, this.#waitMs * 2);
    }
  }

  /** Ends with the line. True: the server refuses, because nobody is signed in. */
  async #follow(): Promise<boolean> {
    this.#abort = new AbortController();
    let timer = this.#watch();
    try {
      const headers = { 'x-organization': this.#org };
      const response = await fetch(`${this.#server}/web/v1/streamEvents`, { headers, signal: this.#abort.signal });
      if (!response.ok || response.body === null) return response.status === 401 || response.status === 403;
      this.#listener.onState('live');
      this.#waitMs = FIRST_WAIT_MS;
      const reader = new MessageReader();
      const decoder = new TextDecoder();
      const pieces = response.body.getReader();
      for (let piece = await pieces.read(); !piece.done; piece = await pieces.read()) {
        clearTimeout(timer);
        timer = this.#watch();
        for (const message of reader.read(decoder.decode(piece.value, { stream: true }))) this.#take(message);
      }
    } catch {
      // The line is gone. It is tried again.
    } finally {
      clearTimeout(timer);
    }
    return false;
  }

  #watch(): ReturnType<typeof setTimeout> {
    return setTimeout(() => this.#abort.abort(), SILENCE_MS);
  }

  #take({ type, data }: { readonly type: string; readonly data: string }): void {
    try {
      this.#listener.onEvent({ ...(JSON.parse(data) as object), type });
    } catch {
      // A message that is no JSON is not for us.
    }
  }
}
