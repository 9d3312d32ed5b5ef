import { setTimeout as delay } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import { assert } from '../../lib/assert.ts';
import { Fault } from '../../lib/fault.ts';
import type { Operation, Result, SqlEngine } from '../sql/operation.ts';
import type { Call } from '../sql/statement.ts';
import { isBroken, isCollision, toStoreError } from './errors.ts';
import type { Server } from './pool.ts';

const MAX_TRIES = 6;
const RETRY_DELAY_MS = 20;
const STARTED = 'pg_postmaster_start_time()::text';

type Work<T> = (client: PoolClient) => Promise<T>;

/** An operation that failed by a collision of transactions or a dead connection is repeated from its beginning. */
export class PostgresEngine implements SqlEngine {
  readonly #server: Server;
  readonly #onWrite: () => void;
  #isClosed = false;

  constructor(server: Server, onWrite = () => {}) {
    this.#server = server;
    this.#onWrite = onWrite;
  }

  read<T>(operation: () => Operation<T>): Promise<T> {
    return this.#retrying((client) => drive(client, operation, this.#server.isPooled(client)));
  }

  snapshot<T>(operation: () => Operation<T>): Promise<T> {
    return this.#retrying(async (client) => {
      const { value } = await this.#inTransaction(client, 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', operation);
      await client.query('COMMIT');
      return value;
    });
  }

  write<T>(operation: () => Operation<T>): Promise<T> {
    return this.#write('BEGIN', operation);
  }

  // SPEC D29
  writeInTurn<T>(operation: () => Operation<T>): Promise<T> {
    return this.#write('BEGIN; SET LOCAL idle_in_transaction_session_timeout = 2000', operation);
  }

  writeUnsynced<T>(operation: () => Operation<T>): Promise<T> {
    return this.#write('BEGIN; SET LOCAL synchronous_commit = off', operation);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#server.pool.end();
  }

  #write<T>(begin: string, operation: () => Operation<T>): Promise<T> {
    return this.#retrying(async (client) => {
      const asked = `${begin}; SELECT pg_current_xact_id()::text AS id, ${STARTED} AS started`;
      const { value, begun } = await this.#inTransaction(client, asked, operation);
      try {
        const { command } = await client.query('COMMIT');
        assert(command === 'COMMIT', `the database answered COMMIT with ${command}`);
      } catch (error) {
        if (!isBroken(error) || !(await this.#wasCommitted(transactionOf(begun)))) throw error;
      }
      this.#onWrite();
      return value;
    });
  }

  async #retrying<T>(work: Work<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#withClient(work);
      } catch (error) {
        const isWorthwhile = tries < MAX_TRIES && (isCollision(error) || error instanceof DeadConnection);
        if (!isWorthwhile) throw toStoreError(this.#server.name, error instanceof DeadConnection ? error.cause : error);
      }
      // A random delay, so that collided transactions do not collide again.
      await delay(Math.random() * RETRY_DELAY_MS * tries);
    }
  }

  async #withClient<T>(work: Work<T>): Promise<T> {
    if (this.#isClosed) throw new Fault('STORE_UNAVAILABLE', 'The store is closed.');
    const client = await this.#server.connect();
    try {
      const value = await work(client);
      client.release();
      return value;
    } catch (error) {
      client.release(isBroken(error) || isCollision(error));
      throw isBroken(error) ? new DeadConnection('the connection died', { cause: error }) : error;
    }
  }

  /** A promoted standby, or a server that crashed, may have given the id to another transaction: it is not asked. */
  // SPEC D34
  async #wasCommitted({ id, started }: Transaction): Promise<boolean> {
    for (let tries = 1; tries <= MAX_TRIES; tries++) {
      const sql = `SELECT CASE WHEN ${STARTED} = $2 THEN pg_xact_status($1::xid8) END AS status`;
      const { rows } = await this.#withClient((client) => client.query(sql, [id, started])).catch((error: unknown) => {
        throw this.#unknownOutcome(error);
      });
      const status: unknown = rows[0]?.status;
      if (status === null) break;
      if (status !== 'in progress') return status === 'committed';
      await delay(RETRY_DELAY_MS * tries);
    }
    throw this.#unknownOutcome(undefined);
  }

  /** Sends BEGIN together with the first statements; the caller commits. */
  async #inTransaction<T>(client: PoolClient, begin: string, operation: () => Operation<T>) {
    const beginning = client.query(begin);
    // Awaited below. If the operation fails first, its error is the one that counts.
    beginning.catch(() => {});
    try {
      const value = await drive(client, operation, this.#server.isPooled(client));
      return { value, begun: (await beginning) as unknown };
    } catch (error) {
      if (!isBroken(error)) await client.query('ROLLBACK');
      throw error;
    }
  }

  #unknownOutcome(cause: unknown): Fault {
    const sentence = `${this.#server.name} was lost during a commit, and whether that is stored cannot be asked.`;
    return new Fault('STORE_UNAVAILABLE', sentence, { cause });
  }
}

/** The caller begins and ends the transaction, if there is one. */
export async function drive<T>(client: PoolClient, operation: () => Operation<T>, isPooled: boolean): Promise<T> {
  const steps = operation();
  let step = steps.next([]);
  while (!step.done) step = steps.next(await send(client, step.value, isPooled));
  return step.value;
}

/** A connection that died in use, unlike one that cannot be made: another one of the pool may still work. */
class DeadConnection extends Error {
  override readonly name = 'DeadConnection';
}

interface Transaction {
  readonly id: string;
  /** When the database started that gave the id. */
  readonly started: string;
}

/** A query of several statements has as many results. */
function transactionOf(begun: unknown): Transaction {
  const selected = (begun as readonly { readonly rows: readonly Transaction[] }[]).at(-1);
  return selected?.rows[0] ?? { id: '0', started: '' };
}

/** Reports the first failure: later ones only say that the transaction has failed. */
// SPEC D35
async function send(client: PoolClient, calls: readonly Call[], isPooled: boolean): Promise<readonly Result[]> {
  const sent = calls.map(({ statement, values }) => {
    const query = { text: statement.sql, values };
    return client.query(isPooled ? query : { ...query, name: `sluice_${statement.id}` });
  });
  const settled = await Promise.allSettled(sent);
  return settled.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return { rows: result.value.rows, changes: result.value.rowCount ?? 0 };
  });
}
