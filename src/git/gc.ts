import { runGit } from './exec.ts';

/** Packs what many fetches left behind, where there is enough of it. */
export async function collectGarbage(gitDir: string, signal: AbortSignal): Promise<void> {
  await runGit(['-c', 'gc.auto=6700', '-c', 'gc.autoDetach=false', 'gc', '--auto', '--quiet'], {
    purpose: "tidy the server's own copy of the repository",
    gitDir,
    timeoutMs: 20 * 60_000,
    signal,
  });
}
