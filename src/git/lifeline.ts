import type { ChildProcessWithoutNullStreams } from 'node:child_process';

/** Only POSIX has process groups. On other systems only git itself is ended. */
const hasGroups = process.platform !== 'win32';

/**
 * A watcher in git's process group reads a pipe that is never written. The pipe closes when the server closes it or
 * dies. The watcher then ends the whole group with SIGTERM, later SIGKILL: git, its helpers, ssh and wrapper scripts.
 * If git (`$$`) has exited already, the watcher does nothing. Processes that git left running on purpose, such as a
 * credential cache or a CI job of a hook, may stay.
 */
const WATCHER = `
{ read -r _ <&3; kill -0 $$ || exit; trap "" TERM; kill -TERM 0; sleep 1; kill -KILL 0; } </dev/null >/dev/null 2>&1 &
exec 3<&-
exec "$@"`;

/** The pipe is git's stdin, and git gets /dev/null instead; or it is a separate descriptor. */
const WATCHED = { input: `\nexec 3<&0 </dev/null${WATCHER}`, beside: WATCHER };

export type LifelineKind = keyof typeof WATCHED;

/** Wraps git so that `cutLifeline` ends it and all its children. */
export function lifeline(kind: LifelineKind): { readonly wrapper: readonly string[]; readonly detached: boolean } {
  return hasGroups
    ? { wrapper: ['/bin/sh', '-c', WATCHED[kind], 'sh'], detached: true }
    : { wrapper: [], detached: false };
}

export function cutLifeline(child: ChildProcessWithoutNullStreams): void {
  (child.stdio[3] ?? child.stdin).destroy();
  if (!hasGroups) child.kill('SIGKILL');
}
