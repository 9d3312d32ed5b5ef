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
  const refs = stdout.toString().matchAll(/^([0-9a-f]{40,64})\trefs\/pull\/([1-9]\d{0,9})\/head$/gm);
  const [own] = stdout
    .toString()
    .split('\n')
    .filter((line) => line.endsWith(`\t${target}`));
  return {
    pullRequests: new Map([...refs].map(([, sha = '', number]) => [Number(number), sha])),
    target: own?.split('\t')[0],
  };
}

/** Pushes a commit as pull request `number`, whose head must be `expected` so far; empty: there must be none. */
// SPEC W80
export async function pushHead(clone: Clone, sha: string, number: number, expected: string): Promise<RefAnswer> {
  const ref = `refs/pull/${number}/head`;
  const lease = `--force-with-lease=${ref}:${expected}`;
  const args = ['push', '--porcelain', '--quiet', '--no-verify', '--no-follow-tags', lease];
  const { exitCode, stdout, stderr } = await runInClone(
    clone,
    [...args, '--end-of-options', clone.remote, `${sha}:${ref}`],
    {
      ...{ purpose: 'push to the remote', expected: [0, 1, 128] },
    },
  );
  return exitCode === 0 ? { kind: 'done' } : answerOf(stdout.toString(), stderr);
}

/** The programs that the clone names for its remotes run, so it must be of the user: git refuses those of others. */
async function runInClone(
  clone: Clone,
  args: readonly string[],
  more: { readonly purpose: string; readonly expected?: number[] },
) {
  const ssh = await read(clone.folder, ['config', '--get', 'core.sshCommand']);
  return runGit(['-C', clone.folder, ...args], {
    ...{ ...more, remote: true, timeoutMs: TIMEOUT_MS, maxBytes: 64 * 1024 * 1024 },
    extra: { ...TRANSPORTS, ...(ssh !== '' && { GIT_SSH_COMMAND: ssh }) },
  });
}

/** Empty if git answers nothing. */
async function read(folder: string, args: readonly string[]): Promise<string> {
  const asked = { purpose: 'read the clone', safeDirectory: '*', expected: [0, 1, 128] };
  const { exitCode, stdout } = await runGit(['-C', folder, ...args], asked);
  return exitCode === 0 ? stdout.toString().trim() : '';
}

/** The address that a push goes to, where it is another one. */
export function readPushUrl({ folder, remote }: Clone): Promise<string> {
  return read(folder, ['config', '--get', `remote.${remote}.pushurl`]);
}

export async function isAncestor(folder: string, ancestor: string, descendant: string): Promise<boolean> {
  const args = ['merge-base', '--is-ancestor', ancestor, descendant];
  const asked = { purpose: 'compare commits', safeDirectory: '*', expected: [0, 1, 128] };
  return (await runGit(['-C', folder, ...args], asked)).exitCode === 0;
}

/** Whether HEAD of the clone was ever at this commit. */
export async function wasHead(folder: string, sha: string): Promise<boolean> {
  return (await read(folder, ['log', '-g', '--format=%H', '-n', '10000', 'HEAD'])).split('\n').includes(sha);
}
