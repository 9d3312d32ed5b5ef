import { runGit } from './exec.ts';

/** Long enough for the first copy of a large repository; a remote that falls silent is given up far earlier. */
const TIMEOUT_MS = 20 * 60_000;

export interface FetchOptions {
  readonly gitDir: string;
  readonly url: string;
  readonly signal: AbortSignal;
}

/** Makes branches, pull requests and candidates of the mirror those of the remote. */
export async function fetchRefs({ gitDir, url, signal }: FetchOptions): Promise<void> {
  const quietly = [
    '--quiet',
    '--prune',
    '--no-tags',
    '--no-write-fetch-head',
    '--no-recurse-submodules',
    '--no-auto-maintenance',
  ];
  const refspecs = ['+refs/heads/*:refs/heads/*', '+refs/pull/*:refs/pull/*', '+refs/sluice/*:refs/sluice/*'];
  await runGit(['fetch', ...quietly, '--end-of-options', url, ...refspecs], {
    purpose: 'fetch from the remote',
    gitDir,
    remote: true,
    timeoutMs: TIMEOUT_MS,
    signal,
  });
}
