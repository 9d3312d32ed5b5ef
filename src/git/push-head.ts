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

/** Heads of the pull requests of a remote, as plain git keeps them. */
export async function listPullRequestHeads({ folder, remote }: Clone): Promise<ReadonlyMap<number, string>> {
  const { stdout } = await runGit(['-C', folder, 'ls-remote', '--end-of-options', remote, 'refs/pull/*/head'], {
    ...{ purpose: 'list the pull requests of the remote', remote: true, safeDirectory: '*', extra: TRANSPORTS },
    ...{ timeoutMs: TIMEOUT_MS, maxBytes: 64 * 1024 * 1024 },
  });
  const refs = stdout.toString().matchAll(/^([0-9a-f]{40,64})\trefs\/pull\/([1-9]\d{0,9})\/head$/gm);
  return new Map([...refs].map(([, sha = '', number]) => [Number(number), sha]));
}

/** Pushes HEAD of a clone as pull request `number`, whose head must be `expected` so far; empty: there must be none. */
// SPEC W80
export async function pushHead({ folder, remote }: Clone, number: number, expected: string): Promise<RefAnswer> {
  const ref = `refs/pull/${number}/head`;
  const lease = `--force-with-lease=${ref}:${expected}`;
  const args = ['-C', folder, 'push', '--porcelain', '--quiet', '--no-verify', '--no-follow-tags', lease];
  const { exitCode, stdout, stderr } = await runGit([...args, '--end-of-options', remote, `HEAD:${ref}`], {
    ...{ purpose: 'push to the remote', remote: true, safeDirectory: '*', extra: TRANSPORTS },
    ...{ timeoutMs: TIMEOUT_MS, expected: [0, 1, 128] },
  });
  return exitCode === 0 ? { kind: 'done' } : answerOf(stdout.toString(), stderr);
}

/** Whether the clone has the commit. */
export async function hasCommit(folder: string, sha: string): Promise<boolean> {
  const args = ['-C', folder, 'cat-file', '-e', `${sha}^{commit}`];
  return (
    (await runGit(args, { purpose: 'look for a commit', safeDirectory: '*', expected: [0, 1, 128] })).exitCode === 0
  );
}
