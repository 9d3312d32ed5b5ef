import { execFileSync } from 'node:child_process';

const DATE = '1700000000 +0000';

export interface RepositorySize {
  readonly files: number;
  readonly filesPerFolder: number;
  readonly pullRequests: number;
  /** Pull requests add their own files instead of changing two, so that no number of them conflicts. */
  readonly isAdding?: boolean;
}

/**
 * Creates a bare repository with `files` files and the given number of pull requests. Each is one commit that changes
 * two files, based on an older commit of the target branch. One fast-import writes all of them.
 */
export function createRepository(folder: string, size: RepositorySize): void {
  const { files, filesPerFolder, pullRequests } = size;
  execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', folder]);
  const pathOf = (index: number) => {
    const file = index % files;
    return `src/part-${Math.floor(file / filesPerFolder)}/file-${file % filesPerFolder}.txt`;
  };
  const lines: string[] = [];
  commit(lines, { ref: 'refs/heads/main', title: 'Everything', mark: 1 });
  for (let index = 0; index < files; index++) add(lines, pathOf(index), contentOf(index));
  commit(lines, { ref: 'refs/heads/main', title: 'Go on' });
  for (let index = 0; index < 10; index++) add(lines, pathOf(files - 1 - 997 * index), contentOf(index, 'Go on'));
  for (let number = 1; number <= pullRequests; number++) {
    commit(lines, { ref: `refs/pull/${number}/head`, title: `Change ${number}`, from: ':1' });
    if (size.isAdding === true) {
      add(lines, `src/part-${number % 10}/change-${number}.txt`, contentOf(number));
      continue;
    }
    for (const index of [number * 31, number * 31 + 7 * filesPerFolder]) {
      add(lines, pathOf(index), contentOf(index, `Change ${number}`));
    }
  }
  execFileSync('git', ['-C', folder, 'fast-import', '--quiet'], { input: `${lines.join('\n')}\n` });
}

interface CommitHead {
  readonly ref: string;
  readonly title: string;
  readonly mark?: number;
  readonly from?: string;
}

function commit(lines: string[], { ref, title, mark, from }: CommitHead): void {
  lines.push(`commit ${ref}`);
  if (mark !== undefined) lines.push(`mark :${mark}`);
  lines.push(`committer Ada <ada@example.com> ${DATE}`, `data ${title.length}`, title);
  if (from !== undefined) lines.push(`from ${from}`);
}

function add(lines: string[], path: string, content: string): void {
  lines.push(`M 100644 inline ${path}`, `data ${content.length}`, content);
}

function contentOf(index: number, change?: string): string {
  const text = Array.from({ length: 20 }, (_, line) => `line ${line} of file ${index}`);
  if (change !== undefined) text[10] = change;
  return `${text.join('\n')}\n`;
}
