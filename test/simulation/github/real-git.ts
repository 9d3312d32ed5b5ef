import type { Files } from '../../fake/git-model.ts';
import { gitLines, gitText, runGit } from '../../fake/hosted/git.ts';

/** The files of a commit, by path. */
export async function readFiles(gitDir: string, commit: string): Promise<Files> {
  const entries = (await gitLines(gitDir, ['ls-tree', '-r', commit])).map((line) => {
    const [facts = '', path = ''] = line.split('\t');
    return { path, blob: facts.split(' ')[2] ?? '' };
  });
  const input = entries.map(({ blob }) => `${blob}\n`).join('');
  const { stdout } = await runGit(gitDir, ['cat-file', '--batch'], { input });
  const files = new Map<string, string>();
  let at = 0;
  for (const { path } of entries) {
    const end = stdout.indexOf('\n', at);
    const size = Number(stdout.subarray(at, end).toString().split(' ')[2]);
    files.set(path, stdout.subarray(end + 1, end + 1 + size).toString());
    at = end + 1 + size + 1;
  }
  return files;
}

export interface LineCommit {
  readonly sha: string;
  readonly tree: string;
  readonly parent: string | undefined;
  readonly message: string;
}

/** The first-parent commits of a branch, oldest first. */
export async function readLine(gitDir: string, branch: string): Promise<readonly LineCommit[]> {
  const format = '%H%x1f%T%x1f%P%x1f%B%x1e';
  const text = await gitText(gitDir, ['log', '--first-parent', '--reverse', `--format=${format}`, branch]);
  return text
    .split('\x1e')
    .map((record) => record.trimStart())
    .filter((record) => record !== '')
    .map((record) => {
      const [sha = '', tree = '', parents = '', message = ''] = record.split('\x1f');
      return { sha, tree, parent: parents.split(' ')[0], message };
    });
}
