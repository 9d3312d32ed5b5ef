import { randomUUID } from 'node:crypto';
import { access, link, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Fault } from './fault.ts';
import { codeOf, fileErrorReason, isErrorOfPlace } from './file-error.ts';
import { createPrivateFile, ensurePrivateFolder } from './private-files.ts';
import { succeeds } from './succeeds.ts';

const NAME_TAKEN = 'there is already a file of this name';

/** How a store tells of its errors. */
interface Errors {
  reasonOf(error: unknown): string;
  /** True if another path may work. */
  isOfPlace(error: unknown): boolean;
}

/** `write` fills a file of another name, which gets its own name when it is whole and on the disk. Nothing is replaced. */
// SPEC D22
export async function writeBackupFile(
  target: string,
  write: (partial: string) => Promise<void>,
  errors: Errors = { reasonOf: fileErrorReason, isOfPlace: isErrorOfPlace },
): Promise<{ readonly sizeBytes: number }> {
  const partial = `${target}.${randomUUID()}.partial`;
  try {
    ensurePrivateFolder(dirname(target));
    if (await exists(target)) throw unusable(target, NAME_TAKEN);
    createPrivateFile(partial);
    await write(partial);
    await sync(partial);
    const { size } = await stat(partial);
    await publish(partial, target);
    return { sizeBytes: size };
  } catch (error) {
    if (error instanceof Fault) throw error;
    const code = errors.isOfPlace(error) ? 'BACKUP_UNUSABLE' : 'STORE_UNAVAILABLE';
    throw new Fault(code, `The backup ${target} cannot be written: ${errors.reasonOf(error)}.`, { cause: error });
  } finally {
    // A leftover file is harmless, and the answer is already on its way.
    await rm(partial, { force: true }).catch(() => {});
  }
}

export function exists(file: string): Promise<boolean> {
  return succeeds(access(file));
}

/** A link fails if the target exists, where a rename would replace it; some file systems have no links. */
async function publish(partial: string, target: string): Promise<void> {
  try {
    await link(partial, target);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw unusable(target, NAME_TAKEN, error);
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(codeOf(error))) throw error;
    if (await exists(target)) throw unusable(target, NAME_TAKEN, error);
    await rename(partial, target);
  }
  await sync(dirname(target));
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export function unusable(file: string, reason: string, cause?: unknown): Fault {
  return new Fault('BACKUP_UNUSABLE', `The backup ${file} cannot be used: ${reason}.`, { cause });
}
