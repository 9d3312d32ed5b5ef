import { runGit } from './exec.ts';
import type { RefAnswer } from './git.ts';
import { answerOf } from './push.ts';

const TIMEOUT_MS = 5 * 60_000;
const TRANSPORTS = { GIT_ALLOW_PROTOCOL: 'file:git:http:https:ssh' };

export interface Clone {
  readonly folder: string;
  /** Its name in this clone. */
  readonly remote: string;
}

export interface RemoteHeads {
  readonly pullRequests: ReadonlyMap<number, string>;
  /** The head of the target branch. */
  readonly target: string | undefined;
}

/** Heads of the pull requests of a remote, as plain git keeps them. */
export async function listHeads(clone: Clone, targetBranch: string): Promise<RemoteHeads> {
  const target = `refs/heads/${targetBranch}`;
  const args = ['ls-remote', '--end-of-options', clone.remote, 'refs/pull/*/head', target];
  const { stdout } = await runInClone(clone, args, { purpose: 'list the pull requests of the remote' });
  const shas = new Map<string, string>();
  for (const [, sha = '', ref = ''] of stdout.toString().matchAll(/^([0-9a-f]{40,64})\t(\S+)$/gm)) shas.set(ref, sha);
  const pullRequests = new Map<number, string>();
  for (const [ref, sha] of shas) {
    const number = /^refs\/pull\/([1-9]\d{0,9})\/head$/.exec(ref)?.[1];
    if (number !== undefined) pullRequests.set(Number(number), sha);
  }
  return { pullRequests, target: shas.get(target) };
}

/** Pushes a commit as pull request `number`, whose head must be `expected` so far; empty: there must be none. */
// SPEC W80
export async function pushHead(clone: Clone, sha: string, number: number, expected: string): Promise<RefAnswer> {
  const ref = `refs/pull/${number}/head`;
  const lease = `--force-with-lease=${ref}:${expected}`;
  const args = ['push', '--porcelain', '--quiet', '--no-verify', '--no-follow-tags', lease];
  const push = [...args, '--end-of-options', clone.remote, `${sha}:${ref}`];
  const asked = { purpose: 'push to the remote', expected: [0, 1, 128] };
  const { exitCode, stdout, stderr } = await runInClone(clone, push, asked);
  return exitCode === 0 ? { kind: 'done' } : answerOf(stdout.toString(), stderr);
}

/** The programs that the clone names for its remotes run, so it must be of the user: git refuses those of others. */
async function runInClone(
  clone: Clone,
  args: readonly string[],
  more: { readonly purpose: string; readonly expected?: number[] },
) {
  const ssh = await ask(clone.folder, ['config', '--get', 'core.sshCommand']);
  return runGit(['-C', clone.folder, ...args], {
    ...{ ...more, remote: true, timeoutMs: TIMEOUT_MS, maxBytes: 64 * 1024 * 1024 },
    extra: { ...TRANSPORTS, ...(ssh && { GIT_SSH_COMMAND: ssh }) },
  });
}

/** Undefined: no. */
async function ask(folder: string, args: readonly string[]): Promise<string | undefined> {
  const asked = { purpose: 'read the clone', safeDirectory: '*', expected: [0, 1, 128] };
  const { exitCode, stdout } = await runGit(['-C', folder, ...args], asked);
  return exitCode === 0 ? stdout.toString().trim() : undefined;
}

/** The address that a push goes to, where it is another one. */
export function readPushUrl({ folder, remote }: Clone): Promise<string | undefined> {
  return ask(folder, ['config', '--get', `remote.${remote}.pushurl`]);
}

export async function isAncestor(folder: string, ancestor: string, descendant: string): Promise<boolean> {
  return (await ask(folder, ['merge-base', '--is-ancestor', ancestor, descendant])) !== undefined;
}

/** Whether HEAD of the clone was ever at this commit. */
export async function wasHead(folder: string, sha: string): Promise<boolean> {
  return (await ask(folder, ['log', '-g', '--format=%H', '-n', '10000', 'HEAD']))?.split('\n').includes(sha) === true;
}
