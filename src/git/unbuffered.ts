import { runGit } from './exec.ts';
import type { GitVersion } from './version.ts';
import { isAtLeast } from './version.ts';

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
