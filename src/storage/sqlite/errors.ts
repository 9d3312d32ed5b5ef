import { AssertionError } from '../../lib/assert.ts';
import { Fault } from '../../lib/fault.ts';
import { codeOf, FULL_DISK_TEXT, fileErrorReason, isErrorOfPlace, isFullFileError } from '../../lib/file-error.ts';

interface SqliteError extends Error {
  readonly errcode: number;
}

/** SQLite's primary result codes that concern the disk or the machine rather than the statement. */
const REASONS: ReadonlyMap<number, string> = new Map([
  [3, 'its files may not be accessed'],
  [5, 'another process keeps it locked'],
  [6, 'it is locked'],
  [7, 'memory ran out'],
  [8, 'its files are read-only'],
  [9, 'the work was interrupted'],
  [10, 'reading or writing its files failed'],
  [11, 'its file is damaged'],
  [13, 'the disk is full'],
  [14, 'its files cannot be opened'],
  [15, 'another process keeps it locked'],
  [22, 'the file system lacks large files'],
  [26, 'its file is not a database'],
]);

/** Errors caused by the chosen path: no permission, read-only, cannot be opened. */
const RESULTS_OF_PLACE: readonly number[] = [3, 8, 14];
/** Out of memory, or a full disk. */
const RESULTS_OF_MACHINE: readonly number[] = [7, 13];

export function reasonOf(error: unknown): string | undefined {
  return isSqliteError(error) ? REASONS.get(error.errcode & 0xff) : undefined;
}

export function fileReasonOf(error: unknown): string {
  return reasonOf(error) ?? fileErrorReason(error);
}

/** True if writing a file failed because of its path, rather than because of the machine. */
export function isOfPlace(error: unknown): boolean {
  if (isSqliteError(error)) return RESULTS_OF_PLACE.includes(error.errcode & 0xff);
  return isErrorOfPlace(error);
}

/** True if the machine lacks room for a valid file. */
export function isOutOfRoom(error: unknown): boolean {
  if (error instanceof Fault) return isOutOfRoom(error.cause);
  if (isSqliteError(error)) return RESULTS_OF_MACHINE.includes(error.errcode & 0xff);
  return ['ENOSPC', 'EDQUOT', 'EFBIG', 'EMFILE', 'ENFILE'].includes(codeOf(error));
}

export function isDiskFull(error: unknown): boolean {
  if (isSqliteError(error)) return (error.errcode & 0xff) === 13;
  return isFullFileError(error);
}

export function isUnavailable(error: unknown): boolean {
  return reasonOf(error) !== undefined;
}

export function isBusy(error: unknown): boolean {
  return isSqliteError(error) && (error.errcode & 0xff) === 5;
}

/** Any other error, such as a broken constraint, is a bug of the caller. */
export function toStoreError(error: unknown): unknown {
  const reason = reasonOf(error);
  if (reason !== undefined) {
    const told = isDiskFull(error) ? FULL_DISK_TEXT : undefined;
    return new Fault('STORE_UNAVAILABLE', `The store cannot be used: ${reason}.`, { cause: error, told });
  }
  if (isSqliteError(error)) return new AssertionError(`the store refused a write: ${error.message}`, { cause: error });
  return error;
}

function isSqliteError(error: unknown): error is SqliteError {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number';
}
