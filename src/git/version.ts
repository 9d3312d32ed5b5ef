import { Fault } from '../lib/fault.ts';
import { runGit } from './exec.ts';

export interface GitVersion {
  readonly major: number;
  readonly minor: number;
}

/** The first version with `merge-tree --write-tree`. */
const OLDEST: GitVersion = { major: 2, minor: 38 };

export async function getGitVersion(): Promise<GitVersion> {
  const { stdout } = await runGit(['--version'], { purpose: 'tell its version', timeoutMs: 10_000 });
  return parseGitVersion(stdout.toString());
}

export function parseGitVersion(text: string): GitVersion {
  const match = /^git version (\d+)\.(\d+)/.exec(text);
  const version = { major: Number(match?.[1] ?? 0), minor: Number(match?.[2] ?? 0) };
  if (isAtLeast(version, OLDEST)) return version;
  const found = match === null ? 'its version cannot be read' : `this is ${version.major}.${version.minor}`;
  throw new Fault('GIT_UNSUPPORTED', `Sluice needs git ${OLDEST.major}.${OLDEST.minor} or newer; ${found}.`);
}

export function isAtLeast(version: GitVersion, other: GitVersion): boolean {
  return version.major > other.major || (version.major === other.major && version.minor >= other.minor);
}

const KNOWS_STDIN: GitVersion = { major: 2, minor: 39 };
const FLUSHES_STDIN: GitVersion = { major: 2, minor: 49 };
const STDBUF = ['stdbuf', '-o0'];

/**
 * The wrapper that makes `merge-tree --stdin` answer each line at once. Newer git flushes by itself; older git needs
 * stdbuf. Undefined when stdbuf is missing.
 */
export async function findUnbufferedWrapper(version: GitVersion): Promise<readonly string[] | undefined> {
  if (isAtLeast(version, FLUSHES_STDIN)) return [];
  if (!isAtLeast(version, KNOWS_STDIN)) return undefined;
  return runGit(['--version'], { purpose: 'start under stdbuf', wrapper: STDBUF }).then(
    () => STDBUF,
    () => undefined,
  );
}
