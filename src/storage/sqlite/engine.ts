import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { Fault } from '../../lib/fault.ts';
import type { Operation, Result, SqlEngine } from '../sql/operation.ts';
import type { Call } from '../sql/statement.ts';
import { isBusy, isUnavailable, toStoreError } from './errors.ts';

interface PendingWrite {
  readonly isSynced: boolean;
  readonly operation: () => Operation<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

type Outcome =
  | { readonly kind: 'done'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly error: unknown };

/** As SQLite answers it. */
const FULL = 2;
const SHORTEST_PAUSE_MS = 0.5;
const LONGEST_PAUSE_MS = 3;
const NEVER_WOKEN = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

/**
 * Writes that arrive within one turn of the event loop share a transaction, and so a single wait for the disk; their
 * promises settle after it. From BEGIN to COMMIT all is synchronous, so no read ever sees half of it.
 */
export class SqliteEngine implements SqlEngine {
  readonly #db: DatabaseSync;
  readonly #prepared: (StatementSync | undefined)[] = [];
  #pending: PendingWrite[] = [];
  /** Whether any commit of this connection waits for the disk, and whether the next one does. */
  readonly #syncs: boolean;
  #isSynced: boolean;
  /** How long a write waits while another connection writes. */
  readonly #busyMs: number;
  #isScheduled = false;
  #isHeld = false;
  #isClosed = false;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#busyMs = Number(db.prepare('PRAGMA busy_timeout').get()?.['timeout']);
    this.#syncs = db.prepare('PRAGMA synchronous').get()?.['synchronous'] === FULL;
    this.#isSynced = this.#syncs;
  }

  async read<T>(operation: () => Operation<T>): Promise<T> {
    this.#assertOpen();
    try {
      return this.#run(operation);
    } catch (error) {
      throw toStoreError(error);
    }
  }

  async snapshot<T>(operation: () => Operation<T>): Promise<T> {
    this.#assertOpen();
    try {
      // The ingest process may write between two statements.
      this.#db.exec('BEGIN');
      try {
        return this.#run(operation);
      } finally {
        if (this.#db.isTransaction) this.#db.exec('COMMIT');
      }
    } catch (error) {
      throw toStoreError(error);
    }
  }

  async write<T>(operation: () => Operation<T>): Promise<T> {
    return this.#enqueue(operation, true);
  }

  writeInTurn<T>(operation: () => Operation<T>): Promise<T> {
    return this.write(operation);
  }

  async writeUnsynced<T>(operation: () => Operation<T>): Promise<T> {
    return this.#enqueue(operation, false);
  }

  /** Writes wait while `action` replaces the database's content. */
  async holdWrites<T>(action: () => Promise<T>): Promise<T> {
    this.#assertOpen();
    this.#isHeld = true;
    try {
      return await action();
    } finally {
      this.#isHeld = false;
      this.#schedule();
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#flush();
    this.#isClosed = true;
    this.#prepared.length = 0;
    this.#db.close();
  }

  #enqueue<T>(operation: () => Operation<T>, isSynced: boolean): Promise<T> {
    this.#assertOpen();
    return new Promise<T>((resolve, reject) => {
      this.#pending.push({ operation, isSynced, resolve: resolve as (value: unknown) => void, reject });
      this.#schedule();
    });
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new Fault('STORE_UNAVAILABLE', 'The store is closed.');
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isHeld || this.#pending.length === 0) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      if (!this.#isHeld) this.#flush();
    });
  }

  #flush(): void {
    const writes = this.#pending;
    if (writes.length === 0) return;
    this.#pending = [];
    let outcomes: readonly Outcome[];
    try {
      this.#sync(writes.some(({ isSynced }) => isSynced));
      outcomes = this.#writeTogether(writes) ?? this.#writeEach(writes);
    } catch (error) {
      const failure = toStoreError(error);
      for (const write of writes) write.reject(failure);
      return;
    }
    writes.forEach((write, index) => {
      const outcome = outcomes[index] as Outcome;
      if (outcome.kind === 'done') write.resolve(outcome.value);
      else write.reject(toStoreError(outcome.error));
    });
  }

  /** A commit that waits for the disk also waits for all before it. */
  #sync(isSynced: boolean): void {
    if (!this.#syncs || this.#isSynced === isSynced) return;
    this.#db.exec(`PRAGMA synchronous = ${isSynced ? 'FULL' : 'NORMAL'}`);
    this.#isSynced = isSynced;
  }

  /** SQLite itself would look with growing pauses, and miss the short ones between the writes of another process. */
  #begin(): void {
    const begunAt = performance.now();
    this.#db.exec('PRAGMA busy_timeout = 0');
    try {
      for (;;) {
        try {
          return this.#db.exec('BEGIN IMMEDIATE');
        } catch (error) {
          const waitedMs = performance.now() - begunAt;
          if (!isBusy(error) || waitedMs >= this.#busyMs) throw error;
          Atomics.wait(NEVER_WOKEN, 0, 0, Math.min(LONGEST_PAUSE_MS, SHORTEST_PAUSE_MS + waitedMs / 4));
        }
      }
    } finally {
      this.#db.exec(`PRAGMA busy_timeout = ${this.#busyMs}`);
    }
  }

  /** Undefined (nothing written) if one of the writes failed by its own fault. */
  #writeTogether(writes: readonly PendingWrite[]): readonly Outcome[] | undefined {
    const outcomes: Outcome[] = [];
    this.#begin();
    try {
      for (const { operation } of writes) outcomes.push({ kind: 'done', value: this.#run(operation) });
      this.#db.exec('COMMIT');
      return outcomes;
    } catch (error) {
      this.#rollback();
      if (isUnavailable(error)) throw error;
      return undefined;
    }
  }

  /** Repeats the writes with a savepoint around each. The usual case saves that cost. */
  #writeEach(writes: readonly PendingWrite[]): readonly Outcome[] {
    this.#begin();
    try {
      const outcomes = writes.map(({ operation }) => this.#writeGuarded(operation));
      this.#db.exec('COMMIT');
      return outcomes;
    } catch (error) {
      this.#rollback();
      throw error;
    }
  }

  #writeGuarded(operation: () => Operation<unknown>): Outcome {
    this.#db.exec('SAVEPOINT one');
    try {
      const value = this.#run(operation);
      this.#db.exec('RELEASE one');
      return { kind: 'done', value };
    } catch (error) {
      if (isUnavailable(error)) throw error;
      this.#db.exec('ROLLBACK TO one; RELEASE one');
      return { kind: 'failed', error };
    }
  }

  /** A full disk makes SQLite roll back by itself. */
  #rollback(): void {
    if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
  }

  #run<T>(operation: () => Operation<T>): T {
    const steps = operation();
    let step = steps.next([]);
    while (!step.done) step = steps.next(step.value.map((call) => this.#call(call)));
    return step.value;
  }

  #call({ statement, values }: Call): Result {
    let prepared = this.#prepared[statement.id];
    if (prepared === undefined) {
      prepared = this.#db.prepare(statement.sql);
      this.#prepared[statement.id] = prepared;
    }
    // The dialect has encoded booleans already.
    const bound = values as (string | number | null | Uint8Array)[];
    if (statement.returnsRows) return { rows: prepared.all(...bound), changes: 0 };
    return { rows: [], changes: Number(prepared.run(...bound).changes) };
  }
}
