import { spawn } from 'node:child_process';

export interface GitOptions {
  readonly input?: string | Buffer;
  readonly env?: Readonly<Record<string, string>>;
  /** Exit codes that count as answers. Default: 0. */
  readonly expected?: readonly number[];
}

export interface Person {
  readonly name: string;
  readonly email: string;
  readonly at: number;
}

export interface Commit {
  readonly sha: string;
  readonly tree: string;
  readonly parents: readonly string[];
  readonly author: Person;
  readonly committer: Person;
  readonly message: string;
}

export interface GitResult {
  readonly code: number;
  readonly stdout: Buffer;
}

/** Ignores the developer's own git configuration. */
export function gitEnv(): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    LC_ALL: 'C',
    HOME: '/nonexistent',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
  };
}

export function runGit(gitDir: string, args: readonly string[], options: GitOptions = {}): Promise<GitResult> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', args, { env: { ...gitEnv(), GIT_DIR: gitDir, ...options.env }, stdio: 'pipe' });
    const stdout: Buffer[] = [];
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.stdin.on('error', () => undefined);
    child.on('error', reject);
    child.on('close', (exitCode) => {
      const code = exitCode ?? -1;
      if ((options.expected ?? [0]).includes(code)) resolve({ code, stdout: Buffer.concat(stdout) });
      else reject(new Error(`git ${args.join(' ')} ended with ${code}: ${stderr}`));
    });
    child.stdin.end(options.input);
  });
}

export async function gitText(gitDir: string, args: readonly string[], options: GitOptions = {}): Promise<string> {
  return (await runGit(gitDir, args, options)).stdout.toString().trim();
}

export async function gitLines(gitDir: string, args: readonly string[], options: GitOptions = {}): Promise<string[]> {
  return (await gitText(gitDir, args, options)).split('\n').filter((line) => line !== '');
}

export async function readRefs(gitDir: string): Promise<Map<string, string>> {
  const lines = await gitLines(gitDir, ['for-each-ref', '--format=%(objectname) %(refname)']);
  return new Map(lines.map((line) => [line.slice(41), line.slice(0, 40)]));
}

/** Undefined when the repository lacks the commit. */
export async function findCommit(gitDir: string, name: string): Promise<Commit | undefined> {
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`];
  const { code, stdout } = await runGit(gitDir, args, { expected: [0, 1, 128] });
  if (code !== 0) return undefined;
  const [commit] = await readCommits(gitDir, ['--no-walk', stdout.toString().trim()]);
  return commit;
}

export async function getCommit(gitDir: string, name: string): Promise<Commit> {
  const commit = await findCommit(gitDir, name);
  if (commit === undefined) throw new Error(`There is no commit ${name} in ${gitDir}.`);
  return commit;
}

const FORMAT = ['%H', '%T', '%P', '%an', '%ae', '%at', '%cn', '%ce', '%ct', '%B'].join('%x1f');

export async function readCommits(gitDir: string, args: readonly string[]): Promise<readonly Commit[]> {
  const text = (await runGit(gitDir, ['log', `--format=${FORMAT}%x1e`, ...args])).stdout.toString();
  return text
    .split('\x1e')
    .map((record) => record.replace(/^\n/, ''))
    .filter((record) => record !== '')
    .map(parseCommit);
}

function parseCommit(record: string): Commit {
  const [sha = '', tree = '', parents = '', an = '', ae = '', at = '', cn = '', ce = '', ct = '', message = ''] =
    record.split('\x1f');
  return {
    sha,
    tree,
    parents: parents.split(' ').filter((parent) => parent !== ''),
    author: { name: an, email: ae, at: Number(at) * 1000 },
    committer: { name: cn, email: ce, at: Number(ct) * 1000 },
    message: message.trimEnd(),
  };
}

/** The merged tree. Undefined when it conflicts. */
export async function mergeTree(gitDir: string, ours: string, theirs: string): Promise<string | undefined> {
  const { code, stdout } = await runGit(gitDir, ['merge-tree', '--write-tree', ours, theirs], { expected: [0, 1] });
  return code === 0 ? stdout.toString().trim() : undefined;
}

export interface CommitDraft {
  readonly tree: string;
  readonly parents: readonly string[];
  readonly message: string;
  readonly author: Person;
  readonly committer: Person;
}

export function commitTree(gitDir: string, draft: CommitDraft): Promise<string> {
  const { author, committer } = draft;
  const env = {
    GIT_AUTHOR_NAME: author.name,
    GIT_AUTHOR_EMAIL: author.email,
    GIT_AUTHOR_DATE: `${Math.floor(author.at / 1000)} +0000`,
    GIT_COMMITTER_NAME: committer.name,
    GIT_COMMITTER_EMAIL: committer.email,
    GIT_COMMITTER_DATE: `${Math.floor(committer.at / 1000)} +0000`,
  };
  const parents = draft.parents.flatMap((parent) => ['-p', parent]);
  return gitText(gitDir, ['commit-tree', draft.tree, ...parents], { env, input: `${draft.message.trimEnd()}\n` });
}

/** Undefined when the two share no commit. */
export async function findMergeBase(gitDir: string, one: string, other: string): Promise<string | undefined> {
  const { code, stdout } = await runGit(gitDir, ['merge-base', one, other], { expected: [0, 1] });
  return code === 0 ? stdout.toString().trim() : undefined;
}

export async function isAncestor(gitDir: string, ancestor: string, descendant: string): Promise<boolean> {
  const args = ['merge-base', '--is-ancestor', ancestor, descendant];
  return (await runGit(gitDir, args, { expected: [0, 1] })).code === 0;
}

export async function isRefName(gitDir: string, ref: string): Promise<boolean> {
  return (await runGit(gitDir, ['check-ref-format', ref], { expected: [0, 1] })).code === 0;
}
