import type { RemoteAccess } from './environment.ts';
import { type RunOptions, type RunResult, runGit } from './exec.ts';
import type { RemoteLocation } from './git.ts';

export interface RemoteRun extends RunResult {
  /** The credentials of the command. A fault must not quote them. */
  readonly access: RemoteAccess | undefined;
}

/** Runs a command on the remote. A token is requested for each command, since it may expire between two. */
// SPEC G2
export async function runOnRemote(
  remote: RemoteLocation,
  args: readonly string[],
  options: Omit<RunOptions, 'remote' | 'access'> & { readonly signal: AbortSignal },
): Promise<RemoteRun> {
  const access = await findAccess(remote);
  return { ...(await runGit(args, { ...options, remote: true, access })), access };
}

async function findAccess({
  url,
  authorize,
  isHttpAllowed = false,
}: RemoteLocation): Promise<RemoteAccess | undefined> {
  if (authorize === undefined) return undefined;
  return { url, authorization: await authorize(), isHttpAllowed };
}
