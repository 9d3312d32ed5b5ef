import type { ChildProcessWithoutNullStreams } from 'node:child_process';

/** Process groups are a thing of POSIX; elsewhere only git itself is ended. */
const hasGroups = process.platform !== 'win32';

/**
 * A watcher in git's process group waits for the end of a pipe, which nobody ever writes to. It comes when the server lets
 * go of it, and when the server dies of whatever. Then all of the group ends: git, its helpers, ssh and scripts around it,
 * politely first. Where git is gone already (`$$` is its id) there is nothing to do; what it left running may stay: a
 * credential cache, or CI that a hook started.
 */
const WATCHER = `
{ read -r _ <&3; kill -0 $$ || exit; trap "" TERM; kill -TERM 0; sleep 1; kill -KILL 0; } </dev/null >/dev/null 2>&1 &
exec 3<&-
exec "$@"`;

/** The pipe is git's input, of which git itself gets none, or one beside it. */
const WATCHED = { input: `\nexec 3<&0 </dev/null${WATCHER}`, beside: WATCHER };

export type LifelineKind = keyof typeof WATCHED;

/** How to start git so that `cutLifeline` ends it with everything that it started. */
export function lifeline(kind: LifelineKind): { readonly wrapper: readonly string[]; readonly detached: boolean } {
  return hasGroups
    ? { wrapper: ['/bin/sh', '-c', WATCHED[kind], 'sh'], detached: true }
    : { wrapper: [], detached: false };
}

export function cutLifeline(child: ChildProcessWithoutNullStreams): void {
  (child.stdio[3] ?? child.stdin).destroy();
  if (!hasGroups) child.kill('SIGKILL');
}
