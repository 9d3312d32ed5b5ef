import { runGit } from './exec.ts';

/** What no ref leads to any more can be fetched again; what was just written gets its ref within minutes. */
const SETTINGS = ['gc.auto=6700', 'gc.autoDetach=false', 'gc.pruneExpire=1.day.ago'];

/** Packs what many fetches left behind, where there is enough of it. */
export async function collectGarbage(gitDir: string, signal: AbortSignal): Promise<void> {
  await runGit([...SETTINGS.flatMap((setting) => ['-c', setting]), 'gc', '--auto', '--quiet'], {
    purpose: "tidy the server's own copy of the repository",
    gitDir,
    timeoutMs: 20 * 60_000,
    signal,
  });
}
