import { gitText } from './git.ts';

export interface FileChange {
  readonly path: string;
  /** Blob id afterwards. Zeros when the file was removed. */
  readonly sha: string;
  readonly status: 'added' | 'removed' | 'modified';
  readonly additions: number;
  readonly deletions: number;
}

const WORDS: Readonly<Record<string, FileChange['status']>> = { A: 'added', D: 'removed' };

/** The changes since the merge base, as a pull request shows them. Renames are not followed. */
export async function readChanges(gitDir: string, base: string, head: string): Promise<readonly FileChange[]> {
  const range = ['-z', '--no-renames', '--no-abbrev', `${base}...${head}`];
  const [raw, counts] = await Promise.all([
    gitText(gitDir, ['diff', '--raw', ...range]),
    gitText(gitDir, ['diff', '--numstat', ...range]),
  ]);
  const sizes = sizesOf(counts);
  const parts = raw.split('\0');
  const changes: FileChange[] = [];
  for (let index = 0; index + 1 < parts.length; index += 2) {
    const [, , , sha = '', letter = ''] = (parts[index] ?? '').split(' ');
    const path = parts[index + 1] ?? '';
    const { additions = 0, deletions = 0 } = sizes.get(path) ?? {};
    changes.push({ path, sha, status: WORDS[letter] ?? 'modified', additions, deletions });
  }
  return changes;
}

function sizesOf(counts: string): ReadonlyMap<string, Pick<FileChange, 'additions' | 'deletions'>> {
  const lines = counts.split('\0').filter((line) => line !== '');
  return new Map(
    lines.map((line) => {
      const [added = '', deleted = '', path = ''] = line.split('\t');
      // Git prints a dash for binary files.
      return [path, { additions: Number(added) || 0, deletions: Number(deleted) || 0 }];
    }),
  );
}
