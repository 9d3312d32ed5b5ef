import { runGit } from './exec.ts';

/** Faults where the remote does not let us read. What it has is not asked. */
export async function reachRemote(url: string, signal: AbortSignal): Promise<void> {
  await runGit(['ls-remote', '--quiet', '--end-of-options', url, 'HEAD'], {
    purpose: 'reach the remote',
    remote: true,
    timeoutMs: 60_000,
    signal,
  });
}
