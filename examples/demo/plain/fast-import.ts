import { runGit } from '../../../src/git/exec.ts';

export interface ImportedCommit {
  /** The ref that points to this commit afterwards. */
  readonly ref: string;
  /** Index of the parent commit in the same list. */
  readonly parent?: number;
  /** `Name <email>`. */
  readonly author: string;
  /** Seconds since 1970. */
  readonly at: number;
  readonly message: string;
  /** Changed paths with their new content. */
  readonly files: Readonly<Record<string, string>>;
}

/** Writes a history into a bare repository with one process. The same history gives the same commits. */
export async function fastImport(gitDir: string, commits: readonly ImportedCommit[]): Promise<void> {
  await runGit(['fast-import', '--quiet', '--date-format=raw'], {
    purpose: 'write a history',
    gitDir,
    input: Buffer.from(commits.map(encode).join('')),
  });
}

function encode({ ref, parent, author, at, message, files }: ImportedCommit, index: number): string {
  const who = `${author} ${at} +0000`;
  return [
    `commit ${ref}\nmark :${index + 1}\nauthor ${who}\ncommitter ${who}\n${encodeData(message)}`,
    parent === undefined ? '' : `from :${parent + 1}\n`,
    ...Object.entries(files).map(([path, text]) => `M 100644 inline ${path}\n${encodeData(text)}`),
    '\n',
  ].join('');
}

function encodeData(text: string): string {
  return `data ${Buffer.byteLength(text)}\n${text}\n`;
}

/** Sets the branch that a clone checks out. */
export async function setHead(gitDir: string, branch: string): Promise<void> {
  await runGit(['symbolic-ref', 'HEAD', `refs/heads/${branch}`], { purpose: 'set the default branch', gitDir });
}
