import { spawn } from 'node:child_process';
import {
  ancestorsOf,
  findBase,
  listBetween,
  mergeCommits,
  readCommitFile,
  writeCommit,
} from '../git-files/commit-files.ts';
import { AskGit, orGit } from '../git-files/object-files.ts';
import { readRefs as readRefFiles } from '../git-files/ref-files.ts';

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

export function readRefs(gitDir: string): Promise<Map<string, string>> {
  const askGit = async () => {
    const lines = await gitLines(gitDir, ['for-each-ref', '--format=%(objectname) %(refname)']);
    return new Map(lines.map((line) => [line.slice(41), line.slice(0, 40)]));
  };
  return orGit(() => readRefFiles(gitDir), askGit);
}

/** Undefined when the repository lacks the commit. */
export function findCommit(gitDir: string, name: string): Promise<Commit | undefined> {
  return orGit(
    () => readCommitOf(gitDir, name),
    () => askForCommit(gitDir, name),
  );
}

async function askForCommit(gitDir: string, name: string): Promise<Commit | undefined> {
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`];
  const { code, stdout } = await runGit(gitDir, args, { expected: [0, 1, 128] });
  if (code !== 0) return undefined;
  const [commit] = await readCommits(gitDir, { tip: stdout.toString().trim(), limit: 1 });
  return commit;
}

export async function getCommit(gitDir: string, name: string): Promise<Commit> {
  const commit = await findCommit(gitDir, name);
  if (commit === undefined) throw new Error(`There is no commit ${name} in ${gitDir}.`);
  return commit;
}

const FORMAT = ['%H', '%T', '%P', '%an', '%ae', '%at', '%cn', '%ce', '%ct', '%B'].join('%x1f');

interface Range {
  readonly tip: string;
  /** The history of this commit is left out. */
  readonly without?: string;
  /** The newest ones. */
  readonly limit?: number;
}

/** The commits of a range, oldest first. */
export function readCommits(gitDir: string, range: Range): Promise<readonly Commit[]> {
  return orGit(
    () => listShasIn(gitDir, range).map((sha) => readCommitOf(gitDir, sha)),
    () => askForCommits(gitDir, range),
  );
}

function listShasIn(gitDir: string, { tip, without, limit }: Range): readonly string[] {
  return limit === 1 ? [tip] : listBetween(gitDir, without, tip).slice(0, limit).toReversed();
}

async function askForCommits(gitDir: string, { tip, without, limit }: Range): Promise<readonly Commit[]> {
  const bounds = [
    ...(limit === undefined ? [] : [`--max-count=${limit}`]),
    ...(without === undefined ? [] : [`^${without}`]),
  ];
  const args = ['log', `--format=${FORMAT}%x1e`, '--topo-order', '--reverse', ...bounds, tip];
  const text = (await runGit(gitDir, args)).stdout.toString();
  return text
    .split('\x1e')
    .map((record) => record.replace(/^\n/, ''))
    .filter((record) => record !== '')
    .map(parseCommit);
}

const SHA = /^[0-9a-f]{40}$/;

function readCommitOf(gitDir: string, sha: string): Commit {
  if (!SHA.test(sha)) throw new AskGit(`the name ${sha}`);
  const commit = readCommitFile(gitDir, sha);
  if (commit.encoding !== undefined) throw new AskGit(`${sha} is in ${commit.encoding}`);
  const { tree, parents, author, committer, message } = commit;
  return {
    sha,
    tree,
    parents,
    author: parsePerson(author),
    committer: parsePerson(committer),
    message: message.toString().trimEnd(),
  };
}

function parsePerson(text: string): Person {
  const [, name, email, seconds] = /^(.*) <(.*)> (\d+) \S+$/.exec(text) ?? [];
  if (name === undefined || email === undefined) throw new AskGit(`the person ${text}`);
  return { name, email, at: Number(seconds) * 1000 };
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

/** The tree of a merge; undefined when it conflicts. */
export function mergeTree(gitDir: string, ours: string, theirs: string): Promise<string | undefined> {
  const askGit = async () => {
    const { code, stdout } = await runGit(gitDir, ['merge-tree', '--write-tree', ours, theirs], { expected: [0, 1] });
    return code === 0 ? stdout.toString().trim() : undefined;
  };
  return orGit(() => mergeCommits(gitDir, ours, theirs), askGit);
}

export interface CommitDraft {
  readonly tree: string;
  readonly parents: readonly string[];
  readonly message: string;
  readonly author: Person;
  readonly committer: Person;
}

export function commitTree(gitDir: string, { tree, parents, message, author, committer }: CommitDraft): string {
  return writeCommit(gitDir, {
    tree,
    parents,
    author: describePerson(author),
    committer: describePerson(committer),
    message: Buffer.from(`${message.trimEnd()}\n`),
  });
}

/** As git writes it. Git would change other names first. */
export function describePerson({ name, email, at }: Person): string {
  if (!/^[\w](?:[\w [\]+@.-]*[\w\]])?$/.test(name)) throw new Error(`git does not write the name ${name} as it is`);
  return `${name} <${email}> ${Math.floor(at / 1000)} +0000`;
}

/** Undefined when the two have nothing in common. */
export function findMergeBase(gitDir: string, one: string, other: string): Promise<string | undefined> {
  const askGit = async () => {
    const { code, stdout } = await runGit(gitDir, ['merge-base', one, other], { expected: [0, 1] });
    return code === 0 ? stdout.toString().trim() : undefined;
  };
  return orGit(() => findBase(gitDir, one, other), askGit);
}

export function isAncestor(gitDir: string, ancestor: string, descendant: string): Promise<boolean> {
  const args = ['merge-base', '--is-ancestor', ancestor, descendant];
  const askGit = async () => (await runGit(gitDir, args, { expected: [0, 1] })).code === 0;
  return orGit(() => ancestorsOf(gitDir, descendant).has(ancestor), askGit);
}

/** Their names, newest first. */
export function listShas(gitDir: string, base: string, head: string): Promise<readonly string[]> {
  const askGit = () => gitLines(gitDir, ['rev-list', head, `^${base}`]);
  return orGit(() => listBetween(gitDir, base, head), askGit);
}
