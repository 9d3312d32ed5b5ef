import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { StoreSignals } from '../waiting.ts';
import type { Server } from './pool.ts';

const CHANNEL = 'sluice';
/** Writes that follow each other within this time share a notification: each takes a lock of the whole database server. */
const GATHER_MS = 100;
const RETRY_MS = 2_000;
/** A lost notification costs one poll. Servers of 0.2.0 send none. */
const LISTENING_POLL_MS = 5_000;
const POLL_MS = 2_000;

/** Behind a pooler that connection would be anybody's: then this only notifies, and the server polls more often. */
// SPEC D41
export class PostgresSignals implements StoreSignals {
  readonly #server: Server;
  /** Notifications of this process are not for itself. */
  readonly #id = randomUUID();
  readonly #listeners = new Set<() => void>();
  #client: pg.Client | undefined;
  #isListening = false;
  #isClosed = false;
  #sending: NodeJS.Timeout | undefined;
  #retry: NodeJS.Timeout | undefined;

  constructor(server: Server) {
    this.#server = server;
  }

  pollMs(): number {
    return this.#isListening ? LISTENING_POLL_MS : POLL_MS;
  }

  listen(listener: () => void): void {
    this.#listeners.add(listener);
  }

  noteWrite(): void {
    if (this.#isClosed) return;
    // A notification that does not arrive costs the others a poll interval.
    const send = () => {
      this.#sending = undefined;
      this.#server.pool.query('SELECT pg_notify($1, $2)', [CHANNEL, this.#id]).catch(() => undefined);
    };
    this.#sending ??= setTimeout(send, GATHER_MS).unref();
  }

  /** Resolves when it listens, or cannot. */
  async start(): Promise<void> {
    const client = this.#server.createClient();
    this.#client = client;
    client.on('error', () => {});
    client.on('end', () => this.#lose(client));
    client.on('notification', ({ payload }) => {
      if (payload !== this.#id) this.#tell();
    });
    try {
      await client.connect();
      const isPooled = await this.#server.verify(client);
      if (isPooled) {
        this.#client = undefined;
        return await client.end();
      }
      await client.query(`LISTEN ${CHANNEL}`);
      this.#isListening = true;
      // Notifications were lost meanwhile.
      this.#tell();
    } catch {
      await client.end().catch(() => undefined);
      this.#lose(client);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#sending);
    clearTimeout(this.#retry);
    await this.#client?.end().catch(() => undefined);
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }

  #lose(client: pg.Client): void {
    if (this.#client !== client || this.#isClosed) return;
    this.#client = undefined;
    this.#isListening = false;
    this.#retry = setTimeout(() => void this.start(), RETRY_MS).unref();
  }
}
