import { AssertionError } from '../../lib/assert.ts';
import { Fault } from '../../lib/fault.ts';

interface SqliteError extends Error {
  readonly errcode: number;
}

/** SQLite's primary result codes that speak of the disk or the machine rather than of the statement. */
const REASONS: ReadonlyMap<number, string> = new Map([
  [3, 'its files may not be accessed'],
  [5, 'another process keeps it locked'],
  [6, 'it is locked'],
  [7, 'memory ran out'],
  [8, 'its files cannot be written'],
  [9, 'the work was interrupted'],
  [10, 'reading or writing its files failed'],
  [11, 'its file is damaged'],
  [13, 'the disk is full'],
  [14, 'its files cannot be opened'],
  [15, 'another process keeps it locked'],
  [22, 'the file system lacks large files'],
  [26, 'its file is not a database'],
]);

export function reasonOf(error: unknown): string | undefined {
  return isSqliteError(error) ? REASONS.get(error.errcode & 0xff) : undefined;
}

export function isUnavailable(error: unknown): boolean {
  return reasonOf(error) !== undefined;
}

export function isBusy(error: unknown): boolean {
  return isSqliteError(error) && (error.errcode & 0xff) === 5;
}

/** What remains, such as a broken constraint, is a bug of the caller. */
export function toStoreError(error: unknown): unknown {
  const reason = reasonOf(error);
  if (reason !== undefined) {
    return new Fault('STORE_UNAVAILABLE', `The store cannot be used: ${reason}.`, { cause: error });
  }
  if (isSqliteError(error)) return new AssertionError(`the store refused a write: ${error.message}`, { cause: error });
  return error;
}

function isSqliteError(error: unknown): error is SqliteError {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number';
}
