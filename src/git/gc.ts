import { runGit } from './exec.ts';

/**
 * Unreachable objects can be fetched again, and a new object gets its ref within minutes. So one day is long enough.
 */
const SETTINGS = ['gc.auto=6700', 'gc.autoDetach=false', 'gc.pruneExpire=1.day.ago'];

/** Many fetches leave many packs. Git packs them only when there are enough. */
export async function collectGarbage(gitDir: string, signal: AbortSignal): Promise<void> {
  await runGit([...SETTINGS.flatMap((setting) => ['-c', setting]), 'gc', '--auto', '--quiet'], {
    purpose: "tidy the server's own copy of the repository",
    gitDir,
    timeoutMs: 20 * 60_000,
    signal,
  });
}
