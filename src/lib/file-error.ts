const FILE_REASONS: ReadonlyMap<string, string> = new Map([
  ['EACCES', 'there is no permission to write there'],
  ['EPERM', 'there is no permission to write there'],
  ['EROFS', 'the file system is read-only'],
  ['EEXIST', 'there is a file in its place'],
  ['ENOTDIR', 'there is a file in its place'],
  ['EISDIR', 'there is a folder in its place'],
  ['ENOENT', 'no folder can be made there'],
  ['ENAMETOOLONG', 'its name is too long'],
  ['ELOOP', 'its links lead in a circle'],
  ['ENOSPC', 'the disk is full'],
  ['EDQUOT', 'the disk quota is used up'],
  ['EFBIG', 'the file would be too large'],
  ['EIO', 'reading or writing failed'],
  ['EMFILE', 'too many files are open'],
  ['ENFILE', 'too many files are open'],
]);

export const FULL_DISK_TEXT =
  'The disk of the server is full: nothing was stored. The server continues when its operator has made room.';

export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}

export function fileErrorReason(error: unknown): string {
  return FILE_REASONS.get(codeOf(error)) ?? codeOf(error);
}

/** A best guess: a limit on the size of files gives the same errors. */
export function isFullFileError(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT', 'EFBIG'].includes(codeOf(error));
}

/** True if writing a file failed because of its path: another path may well work. */
export function isErrorOfPlace(error: unknown): boolean {
  return CODES_OF_PLACE.includes(codeOf(error));
}

const CODES_OF_PLACE: readonly string[] = [
  ...['EACCES', 'EPERM', 'EROFS', 'EEXIST', 'ENOTDIR', 'EISDIR', 'ENOENT', 'ENAMETOOLONG', 'ELOOP', 'EINVAL'],
];
