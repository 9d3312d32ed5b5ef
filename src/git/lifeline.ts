import type { ChildProcessWithoutNullStreams } from 'node:child_process';

/** Process groups are a thing of POSIX; elsewhere only git itself is ended. */
const hasGroups = process.platform !== 'win32';

/**
 * A watcher in git's process group waits for the end of git's input, which nobody ever writes to. It comes when the
 * server lets go of it, and when the server dies of whatever. Then all of the group ends: git, its helpers, ssh and
 * scripts around it, politely first. Where git is gone already (`$$` is its id) there is nothing to do; a credential
 * cache that it left running may stay.
 */
const WATCHED = `
exec 3<&0 </dev/null
{ read -r _ <&3; kill -0 $$ || exit; trap "" TERM; kill -TERM 0; sleep 1; kill -KILL 0; } >/dev/null 2>&1 &
exec 3<&-
exec "$@"`;

/** How to start git so that `cutLifeline` ends it with everything that it started. */
export const lifeline: { readonly wrapper: readonly string[]; readonly detached: boolean } = hasGroups
  ? { wrapper: ['/bin/sh', '-c', WATCHED, 'sh'], detached: true }
  : { wrapper: [], detached: false };

export function cutLifeline(child: ChildProcessWithoutNullStreams): void {
  child.stdin.destroy();
  if (!hasGroups) child.kill('SIGKILL');
}
