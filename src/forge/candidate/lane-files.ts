import type { ChangesAnswer, ChangesQuestion, FilesQuestion, NamedFile } from '../forge.ts';
import { type CommitAccess, checkShas } from './commits.ts';

const MAX_CHANGES = 100_000;
const MAX_FILES = 20_000;
const MAX_BYTES = 32 * 1024 * 1024;

/** Both have to be in the local copy for a moment only, so a copy of the last second will do. */
const LATEST_MS = 1_000;

export async function readFiles(
  { ask, obtain }: CommitAccess,
  { repository, sha, names }: FilesQuestion,
): Promise<readonly NamedFile[] | undefined> {
  checkShas([sha]);
  return ask(repository, async (git) => {
    if ((await obtain(git, [sha], LATEST_MS)).length > 0) return undefined;
    return git.readFiles({ commit: sha, names, maxFiles: MAX_FILES, maxBytes: MAX_BYTES });
  });
}

/** Without a search for renames, a renamed file has its old and its new name. */
// SPEC T14
export async function listChangedFiles(
  { ask, obtain }: CommitAccess,
  { repository, base, head }: ChangesQuestion,
): Promise<ChangesAnswer> {
  checkShas([base, head]);
  return ask(repository, async (git) => {
    if ((await obtain(git, [base, head], LATEST_MS)).length > 0) return { kind: 'lost' };
    const bases = await git.listMergeBases({ target: base, head });
    if (bases.length === 0) return { kind: 'unrelated' };
    const paths = new Set<string>();
    for (const from of bases) {
      for (const path of (await git.listChanges({ from, to: head })).keys()) paths.add(path);
    }
    if (paths.size > MAX_CHANGES) return { kind: 'too_many' };
    return { kind: 'changed', paths: [...paths].map(decode) };
  });
}

/** Git lists one character per byte. */
function decode(path: string): string {
  return Buffer.from(path, 'latin1').toString();
}
