import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { beginCommand, type Protection, TREE, type Wrapped, type WrapRequest } from './protection.ts';
import { isWithin, SANDBOX_USER, type SandboxFolders } from './sandbox-folders.ts';
import type { UserPool } from './user-pool.ts';

export interface SandboxOptions {
  readonly folders: SandboxFolders;
  readonly users: UserPool | undefined;
  readonly processes: number;
}

/** Every check sees the same paths in its sandbox. */
const VARIABLES = {
  HOME: SANDBOX_USER.home,
  TMPDIR: '/tmp',
  USER: SANDBOX_USER.name,
  LOGNAME: SANDBOX_USER.name,
};

const NAMESPACES = ['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'];

/** PID 1 of the sandbox. It reaps orphans. When it exits, the kernel kills every process in the sandbox. */
const INIT = '"$@"; exit $?';

/** A sandbox made by `bwrap`, which also works without root. */
export function createBubblewrap(options: SandboxOptions & { readonly canDisableUserns: boolean }): Protection {
  return createSandbox('bubblewrap', options, async (request, begin) => {
    const mounts = await mountArguments(options.folders, request);
    const closed = options.canDisableUserns && !request.userNamespaces ? ['--disable-userns'] : [];
    return ['bwrap', ...isolation(request), ...closed, ...mounts, '--', '/bin/sh', '-c', INIT, 'sh', ...begin];
  });
}

/** `enter` answers the program and arguments that make the sandbox and run `begin` in it. */
export function createSandbox(
  kind: Protection['kind'],
  { folders, users, processes }: SandboxOptions,
  enter: (request: WrapRequest, begin: readonly string[]) => Promise<Wrapped['argv']>,
): Protection {
  return {
    kind,
    canRead: (path) => {
      const holds = (folder: string) => isWithin(folder, path);
      return folders.seen.some(holds) && !folders.hidden.some(holds);
    },
    treeOf: () => TREE,
    users,
    wrap: async (request) => {
      const token = randomUUID();
      const sharesFiles = users !== undefined && folders.caches.length > 0;
      const begin = beginCommand({ ...request, processes, sharesFiles, token });
      return { argv: await enter(request, begin), variables: VARIABLES, token };
    },
  };
}

/** Uses an own PID 1: bwrap's reports the end of the command before all other processes have ended. */
// SPEC R27
function isolation({ network }: WrapRequest): string[] {
  const { uid, gid } = SANDBOX_USER;
  const whom = ['--uid', String(uid), '--gid', String(gid), '--hostname', 'check'];
  const ends = ['--as-pid-1', '--die-with-parent', '--new-session', '--cap-drop', 'ALL'];
  return [...NAMESPACES, ...(network ? [] : ['--unshare-net']), ...whom, ...ends];
}

// SPEC R39
async function mountArguments(folders: SandboxFolders, { folder, network }: WrapRequest): Promise<string[]> {
  const { read, links, files, networkFiles, caches, hidden } = folders;
  const hide = hidden.map(async (path) => {
    const isFolder = (await stat(path).catch(() => undefined))?.isDirectory() === true;
    return isFolder ? ['--tmpfs', path, '--remount-ro', path] : ['--ro-bind', '/dev/null', path];
  });
  return [
    ...['--proc', '/proc', '--dev', '/dev', '--dir', '/var', '--dir', '/run'],
    // /tmp is mounted first, since the other paths may lie in it.
    ...['--bind', folder.temporary, '/tmp', '--symlink', '/tmp', '/var/tmp'],
    ...read.flatMap((path) => ['--ro-bind', path, path]),
    ...(network ? networkFiles : []).flatMap((path) => ['--ro-bind', path, path]),
    ...links.flatMap(({ path, target }) => ['--symlink', target, path]),
    ...files.flatMap(({ path, source }) => ['--ro-bind', source, path]),
    ...caches.flatMap((path) => ['--bind', path, path]),
    ...(await Promise.all(hide)).flat(),
    ...['--bind', folder.tree, TREE, '--bind', folder.home, '/check/home'],
    ...['--remount-ro', '/', '--chdir', TREE],
  ];
}
