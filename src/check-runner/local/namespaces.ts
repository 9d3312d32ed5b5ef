import { readFile, realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createSandbox, type SandboxOptions } from './bubblewrap.ts';
import { type Protection, quote, TREE, type WrapRequest } from './protection.ts';
import { SANDBOX_USER, type SandboxFolders } from './sandbox-folders.ts';

const NAMESPACES = ['--user', '--map-root-user', '--mount', '--pid', '--ipc', '--uts'];
const DEVICES = ['null', 'zero', 'full', 'random', 'urandom', 'tty'];
/** Enough for programs that share memory, too little to exhaust the machine's. */
const SHARED_MEMORY = 'size=512m';

/** Not every machine has `ip`. Without any of these the sandbox has no loopback, which only some tests need. */
const LOOPBACK = `ip link set lo up 2>/dev/null || ifconfig lo up 2>/dev/null ||
perl -e 'socket(S,2,2,0); ioctl(S,0x8914,pack("a16s","lo",0x41))' 2>/dev/null || :`;

/** The command's own user namespace is the one; the limit counts those within it too. */
// SPEC R46
const ONE_MORE_NAMESPACE = 'echo 1 2>/dev/null > /proc/sys/user/max_user_namespaces || :';

/** A sandbox made with `unshare` and `mount` of util-linux, for machines without bubblewrap. */
export function createNamespaces(options: SandboxOptions): Protection {
  return createSandbox('namespaces', options, async (request, begin) => {
    const script = await writeSetUp(options.folders, request);
    const namespaces = [...NAMESPACES, ...(request.network ? [] : ['--net'])];
    // A session of its own: a signal to the command's process group must not reach processes outside.
    return ['unshare', ...namespaces, '--kill-child', '--', 'setsid', '/bin/sh', '-c', script, 'sh', ...begin];
  });
}

/**
 * PID 1 of the sandbox. It builds the root, enters it, and waits for the command. The command runs in a nested user
 * namespace, so it has no rights over the mounts. When PID 1 exits, the kernel kills every process in the sandbox.
 */
// SPEC R27
async function writeSetUp(folders: SandboxFolders, request: WrapRequest): Promise<string> {
  const { root, temporary } = request.folder;
  const mounts = await planMounts(folders, request);
  const table = mounts.map((mount) => formatMount(root, mount)).join('\n');
  const at = (path: string) => quote(path.startsWith('/tmp/') ? temporary + path.slice('/tmp'.length) : root + path);
  const link = (target: string, path: string) => `ln -s ${quote(target)} ${at(path)}`;
  const { uid, gid } = SANDBOX_USER;
  return [
    'set -e',
    // Some of these programs are in sbin, which is not in every user's PATH.
    'path=$PATH; PATH=$PATH:/usr/sbin:/sbin',
    `mount -t tmpfs -o mode=755,size=4m check ${quote(root)}`,
    `cd ${quote(root)}`,
    `mkdir -p ${foldersFor(mounts).map(at).join(' ')}`,
    ...placesFor(mounts).map((target) => `: > ${at(target)}`),
    ...folders.links.map(({ path, target }) => link(target, path)),
    ...[link('pts/ptmx', '/dev/ptmx'), link('/proc/self/fd', '/dev/fd'), link('/tmp', '/var/tmp')],
    ...['stdin', 'stdout', 'stderr'].map((name, fd) => link(`/proc/self/fd/${fd}`, `/dev/${name}`)),
    `printf '%s\\n' ${quote(table)} > mounts`,
    'mount -a --fstab mounts',
    'rm mounts',
    request.network ? ':' : LOOPBACK,
    `mount -o remount,bind,ro ${quote(root)}`,
    'pivot_root . .',
    'umount -l .',
    `cd ${TREE}`,
    'unset OLDPWD; PATH=$path; set +e',
    request.userNamespaces ? ':' : ONE_MORE_NAMESPACE,
    `unshare --user --map-user=${uid} --map-group=${gid} -- "$@"`,
    'exit $?',
  ].join('\n');
}

function foldersFor(mounts: readonly Mount[]): readonly string[] {
  const targets = mounts.map(({ kind, target }) => (kind === 'folder' ? target : dirname(target)));
  return ['/var', '/run', '/etc', ...new Set(targets)];
}

/** Empty files that the bind mounts need as mount points. */
function placesFor(mounts: readonly Mount[]): readonly string[] {
  return mounts.filter(({ kind, isRemount }) => kind === 'file' && isRemount !== true).map(({ target }) => target);
}

interface Mount {
  readonly source: string;
  /** Path within the new root. */
  readonly target: string;
  readonly type: string;
  readonly options: string;
  readonly kind: 'folder' | 'file';
  readonly isRemount?: true;
}

// SPEC R39
async function planMounts(folders: SandboxFolders, { folder, network }: WrapRequest): Promise<readonly Mount[]> {
  const table = parseMountTable(await readFile('/proc/self/mountinfo', 'utf8'));
  const read = [...folders.read, ...(network ? folders.networkFiles : [])].map((path) => ({ path, source: path }));
  const readOnly = await Promise.all([...read, ...folders.files].map((place) => bindReadOnly(table, place)));
  const hidden = await Promise.all(folders.hidden.map(hide));
  return [
    // /tmp is mounted first, since the other paths may lie in it.
    bind(folder.temporary, '/tmp', 'folder'),
    ...readOnly.flat(),
    special('proc', '/proc', 'nosuid,nodev,noexec'),
    ...DEVICES.map((name) => bind(`/dev/${name}`, `/dev/${name}`, 'file')),
    special('tmpfs', '/dev/shm', `mode=1777,nosuid,nodev,${SHARED_MEMORY}`),
    special('devpts', '/dev/pts', 'newinstance,ptmxmode=0666,mode=620,nosuid,noexec'),
    ...folders.caches.map((path) => bind(path, path, 'folder')),
    ...hidden,
    bind(folder.tree, TREE, 'folder'),
    bind(folder.home, '/check/home', 'folder'),
  ];
}

function bind(source: string, target: string, kind: Mount['kind']): Mount {
  return { source, target, type: 'none', options: 'rbind', kind };
}

function special(type: string, target: string, options: string): Mount {
  return { source: type, target, type, options, kind: 'folder' };
}

async function hide(path: string): Promise<Mount> {
  const isFolder = (await stat(path).catch(() => undefined))?.isDirectory() === true;
  return isFolder ? special('tmpfs', path, 'mode=0,size=4k,ro') : bind('/dev/null', path, 'file');
}

/** A bind mount becomes read-only only by a remount. Each mount beneath needs one too, with its own flags. */
async function bindReadOnly(
  table: MountTable,
  { source, path: target }: { readonly source: string; readonly path: string },
): Promise<readonly Mount[]> {
  const path = await realpath(source);
  const kind = (await stat(path)).isDirectory() ? 'folder' : 'file';
  const remount = (beneath: string, flags: readonly string[]): Mount => {
    const options = ['remount', 'bind', ...flags, 'ro'].join(',');
    return {
      source: `${source}${beneath}`,
      target: `${target}${beneath}`,
      type: 'none',
      options,
      kind,
      isRemount: true,
    };
  };
  const beneath = table.beneath(path).map((mount) => remount(mount.path.slice(path.length), mount.flags));
  return [bind(source, target, kind), remount('', table.flagsOf(path)), ...beneath];
}

/** Escapes spaces and the like as in `fstab`. */
function formatMount(root: string, { source, target, type, options }: Mount): string {
  const encode = (text: string) =>
    text.replaceAll(/[\s\\#]/g, (one) => `\\${one.charCodeAt(0).toString(8).padStart(3, '0')}`);
  return `${encode(source)} ${encode(root + target)} ${type} ${options} 0 0`;
}

/** Parsed `/proc/self/mountinfo`. */
interface MountTable {
  /** Flags of the mount that contains a path, without `ro` and `rw`. */
  flagsOf(path: string): readonly string[];
  beneath(folder: string): readonly { readonly path: string; readonly flags: readonly string[] }[];
}

export function parseMountTable(text: string): MountTable {
  // The last mount at a path covers the earlier ones.
  const mounts = new Map<string, readonly string[]>();
  for (const line of text.split('\n')) {
    const [, , , , place, options] = line.split(' ');
    if (place === undefined || options === undefined) continue;
    mounts.set(
      decode(place),
      options.split(',').filter((flag) => flag !== 'rw' && flag !== 'ro'),
    );
  }
  return {
    flagsOf: (path) => {
      const covering = [...mounts.keys()].filter((place) => place === '/' || `${path}/`.startsWith(`${place}/`));
      const [nearest = '/'] = covering.toSorted((a, b) => b.length - a.length);
      return mounts.get(nearest) ?? [];
    },
    beneath: (folder) =>
      [...mounts].flatMap(([path, flags]) => (path.startsWith(`${folder}/`) ? [{ path, flags }] : [])),
  };
}

function decode(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
