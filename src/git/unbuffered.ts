import { runGit } from './exec.ts';
import type { GitVersion } from './version.ts';
import { isAtLeast } from './version.ts';

const KNOWS_STDIN: GitVersion = { major: 2, minor: 39 };
const FLUSHES_STDIN: GitVersion = { major: 2, minor: 49 };
const STDBUF = ['stdbuf', '-o0'];

/**
 * What `merge-tree --stdin` must be started under to answer each line at once: nothing since git flushes by itself,
 * stdbuf before, where the machine has it. Undefined where it cannot be kept.
 */
export async function findUnbufferedWrapper(version: GitVersion): Promise<readonly string[] | undefined> {
  if (isAtLeast(version, FLUSHES_STDIN)) return [];
  if (!isAtLeast(version, KNOWS_STDIN)) return undefined;
  return runGit(['--version'], { purpose: 'start under stdbuf', wrapper: STDBUF }).then(
    () => STDBUF,
    () => undefined,
  );
}
