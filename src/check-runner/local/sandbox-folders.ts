import { execFile } from 'node:child_process';
import { chmod, lstat, mkdir, readlink, realpath, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, delimiter, dirname, isAbsolute, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Fault } from '../../lib/fault.ts';
import type { User } from './user.ts';

/** Mounts that are the same for all checks. All paths except those of `files` are the host's own. */
export interface SandboxFolders {
  /** Read-only. */
  readonly read: readonly string[];
  /** Writable, and shared by all checks. */
  readonly caches: readonly string[];
  /** Top-level symbolic links, such as `/bin` on most systems. */
  readonly links: readonly { readonly path: string; readonly target: string }[];
  /** Files made for the sandbox, by their path in it. */
  readonly files: readonly { readonly path: string; readonly source: string }[];
  readonly networkFiles: readonly string[];
  /** Everything of the machine that can be read in it, by the names that lead there. */
  readonly seen: readonly string[];
  /** Paths within the others that appear empty. */
  readonly hidden: readonly string[];
}

export interface FolderOptions {
  /** Read-only folders that the operator named. */
  readonly tools: readonly string[];
  readonly caches: readonly string[];
  /** Files and folders of the server. They are hidden, whatever is mounted. */
  readonly secrets: readonly string[];
}

const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix/store', '/gnu/store'];

/** Configuration that programs read by default. None of it is secret. */
const CONFIGURATION = [
  ...['alternatives', 'ca-certificates', 'ca-certificates.conf', 'crypto-policies', 'fonts', 'java', 'ld.so.cache'],
  ...['ld.so.conf', 'ld.so.conf.d', 'localtime', 'locale.alias', 'magic', 'magic.mime', 'mime.types', 'nsswitch.conf'],
  ...['os-release', 'perl', 'pki', 'protocols', 'python3', 'services', 'ssl', 'terminfo', 'timezone'],
].map((name) => `/etc/${name}`);

const NETWORK_CONFIGURATION = ['/etc/resolv.conf', '/etc/gai.conf'];

/** Every check runs as this user inside its sandbox. */
export const SANDBOX_USER = { uid: 1000, gid: 1000, name: 'check', home: '/check/home' };

const OWN_FILES = {
  passwd: `root:x:0:0:root:/:/bin/sh\n${SANDBOX_USER.name}:x:1000:1000::${SANDBOX_USER.home}:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n`,
  group: `root:x:0:\n${SANDBOX_USER.name}:x:1000:\nnogroup:x:65534:\n`,
  hosts: '127.0.0.1 localhost\n::1 localhost\n',
};

/** Computed once. A tool installed later is visible only if its folder existed before. */
// SPEC R8
export async function findSandboxFolders(
  options: FolderOptions & { readonly work: string; readonly user: User | undefined },
): Promise<SandboxFolders> {
  const secrets = await Promise.all(options.secrets.map(real));
  for (const folder of [...options.tools, ...options.caches]) await checkChosen(folder, secrets);
  const { links, folders } = await findSystem();
  const tools = [...findTools(process.env['PATH'] ?? '', secrets), ...options.tools];
  const covered = [...folders, ...links.map(({ path }) => path)];
  const wanted = [...folders, ...CONFIGURATION, ...tools.filter((tool) => !covered.some((top) => isWithin(top, tool)))];
  const readable = await keepReadable([...wanted, ...NETWORK_CONFIGURATION], options.user);
  await checkWritable(options.caches, options.user);
  const read = readable.filter((path) => !NETWORK_CONFIGURATION.includes(path));
  const mounted = [...(await Promise.all(read.map(real))), ...options.caches];
  const seen = [...read, ...mounted, ...links.map(({ path }) => path)];
  return {
    read,
    caches: options.caches,
    links,
    files: await writeOwnFiles(options.work),
    networkFiles: readable.filter((path) => NETWORK_CONFIGURATION.includes(path)),
    seen,
    hidden: secrets.filter((secret) => mounted.some((folder) => isWithin(folder, secret))),
  };
}

/** The operator named this folder, so an unusable one is an error and not only a log line. */
async function checkChosen(folder: string, secrets: readonly string[]): Promise<void> {
  const path = await realpath(folder).catch(() => undefined);
  if (path === undefined || !(await stat(path)).isDirectory())
    throw new Fault('MISCONFIGURED', `${folder} is to be mounted for checks, and is no folder.`);
  if (path === '/' || secrets.some((secret) => isWithin(path, secret) || isWithin(secret, path)))
    throw new Fault('MISCONFIGURED', `${folder} is to be mounted for checks, and has files of the server in it.`);
}

async function findSystem(): Promise<{ links: SandboxFolders['links'][number][]; folders: string[] }> {
  const links: SandboxFolders['links'][number][] = [];
  const folders: string[] = [];
  for (const path of SYSTEM) {
    const stats = await lstat(path).catch(() => undefined);
    if (stats?.isSymbolicLink()) links.push({ path, target: await readlink(path) });
    else if (stats?.isDirectory()) folders.push(path);
  }
  return { links, folders };
}

/** A toolchain keeps its libraries beside its `bin`: the parent is mounted, unless it is a home or has our files. */
export function findTools(path: string, secrets: readonly string[], home: string = homedir()): string[] {
  const kept = [...secrets, home, process.cwd()];
  const found = path
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && resolve(folder) !== '/')
    .map((folder) => resolve(folder));
  const tools = found.flatMap((folder) => {
    const above = dirname(folder);
    const isDeep = dirname(above) !== '/' && above !== '/';
    const isHome = dirname(above) === '/home' || kept.some((other) => isWithin(above, other));
    const chosen = /^s?bin$/.test(basename(folder)) && isDeep && !isHome ? above : folder;
    const isOurs = secrets.some((secret) => isWithin(secret, chosen) || isWithin(chosen, secret));
    return isOurs ? [] : [chosen];
  });
  return [...new Set(tools)].filter((tool, _, all) => !all.some((other) => other !== tool && isWithin(other, tool)));
}

/** Paths that exist and that the user of a check can read. */
function keepReadable(paths: readonly string[], user: User | undefined): Promise<string[]> {
  return select('test -r "$p" && { ! test -d "$p" || test -x "$p"; }', paths, user);
}

async function checkWritable(caches: readonly string[], user: User | undefined): Promise<void> {
  const closed = await select('! test -w "$p"', caches, user);
  if (closed.length === 0) return;
  const whom = user === undefined ? 'the server' : 'the users of SLUICE_RUNNER_UIDS';
  const problem = `SLUICE_RUNNER_CACHES names ${closed.join(', ')}, where ${whom} cannot write.`;
  throw new Fault('MISCONFIGURED', `${problem} Checks share these folders: open them, or remove them from it.`);
}

/** Runs the test as that user. */
async function select(test: string, paths: readonly string[], user: User | undefined): Promise<string[]> {
  const script = `for p; do if ${test}; then printf "%s\\0" "$p"; fi; done`;
  const options = { ...user, cwd: '/', env: { PATH: process.env['PATH'] } };
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', script, 'sh', ...paths], options);
  return stdout.split('\0').slice(0, -1);
}

async function writeOwnFiles(work: string): Promise<SandboxFolders['files']> {
  const folder = join(work, 'etc');
  await mkdir(folder, { recursive: true });
  // The users of checks must read them, whatever the server's umask.
  await chmod(folder, 0o711);
  const files = Object.entries(OWN_FILES).map(async ([name, text]) => {
    const source = join(folder, name);
    await writeFile(source, text);
    await chmod(source, 0o644);
    return { path: `/etc/${name}`, source };
  });
  return Promise.all(files);
}

export function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder === '/' ? folder : `${folder}/`);
}

function real(path: string): Promise<string> {
  return realpath(path).catch(() => resolve(path));
}
