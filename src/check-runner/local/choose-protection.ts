import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '../../lib/fault.ts';
import type { ProtectionKind } from '../runner.ts';
import { createBubblewrap } from './bubblewrap.ts';
import { createNamespaces } from './namespaces.ts';
import { innerMarkOf, ProcessTree } from './process-tree.ts';
import { beginCommand, type Protection, quote, shellWords } from './protection.ts';
import { type FolderOptions, findSandboxFolders } from './sandbox-folders.ts';
import type { UidRange, User } from './user.ts';
import { UserPool } from './user-pool.ts';
import { createJobFolder, giveTo, removeFolder, type WorkFolder } from './work-folder.ts';

export interface ProtectionOptions extends FolderOptions {
  /** The required protection. Undefined: the first one that works. */
  readonly wanted: ProtectionKind | undefined;
  readonly uids: UidRange;
  /** Limit of processes and threads per command. */
  readonly processes: number;
}

export interface Choice {
  readonly protection: Protection;
  /** Why no stronger protection was chosen. */
  readonly problems: readonly string[];
}

const TRIAL_MS = 20_000;

/** An installed program may lack the permission to do its work. */
// SPEC R25
export async function chooseProtection(work: WorkFolder, options: ProtectionOptions): Promise<Choice> {
  const { wanted } = options;
  if (wanted === 'none' || process.platform !== 'linux') {
    if (wanted !== undefined && wanted !== 'none') throw unusable(wanted, 'It needs Linux.');
    return { protection: noProtection, problems: [] };
  }
  const kinds: readonly ProtectionKind[] = wanted === undefined ? ['bubblewrap', 'namespaces', 'users'] : [wanted];
  const problems: string[] = [];
  for (const kind of kinds) {
    const tried = await tryKind(kind, work, { ...options, users: makePool(kind, options.uids) });
    if (typeof tried !== 'string') return { protection: tried, problems };
    if (wanted !== undefined) throw unusable(wanted, tried);
    problems.push(`${kind}: ${tried}`);
  }
  return { protection: noProtection, problems };
}

// SPEC R41
function unusable(kind: ProtectionKind, problem: string): Fault {
  const hint = 'Without SLUICE_RUNNER_PROTECTION, the best that works is used.';
  return new Fault(
    'MISCONFIGURED',
    `SLUICE_RUNNER_PROTECTION is ${kind}, which does not work here. ${problem} ${hint}`,
  );
}

/** A sandbox shares only the folders that the operator names. Without one, a group would share every file of it. */
function makePool(kind: ProtectionKind, uids: UidRange): UserPool | undefined {
  return process.getuid?.() === 0 ? new UserPool(uids, { sharesGroup: kind !== 'users' }) : undefined;
}

/** The protection, or a sentence why it does not work. */
async function tryKind(
  kind: ProtectionKind,
  work: WorkFolder,
  options: Omit<Makings, 'canDisableUserns'>,
): Promise<Protection | string> {
  try {
    const tried = await tryWith(kind, work, { ...options, canDisableUserns: true });
    // bwrap has --disable-userns since 0.8, and not where it is setuid.
    const isOld = kind === 'bubblewrap' && typeof tried === 'string';
    return isOld ? await tryWith(kind, work, { ...options, canDisableUserns: false }) : tried;
  } catch (error) {
    if (error instanceof Fault && error.code === 'RUNNER_UNAVAILABLE') return error.detail;
    throw error;
  }
}

async function tryWith(kind: ProtectionKind, work: WorkFolder, makings: Makings): Promise<Protection | string> {
  const made = await make(kind, work, makings);
  return typeof made === 'string' ? made : ((await tryOut(made, work)) ?? made);
}

type Makings = ProtectionOptions & { readonly users: UserPool | undefined; readonly canDisableUserns: boolean };

/** The protection, or a sentence why it cannot be set up. */
async function make(kind: ProtectionKind, work: WorkFolder, options: Makings): Promise<Protection | string> {
  const { users, processes, canDisableUserns } = options;
  if (kind === 'users') return users === undefined ? 'Only root can use it.' : createUsers({ users, processes });
  const user = await users?.take();
  try {
    const folders = await findSandboxFolders({ ...options, work: work.path, user });
    const create = kind === 'bubblewrap' ? createBubblewrap : createNamespaces;
    return create({ folders, users, processes, canDisableUserns });
  } finally {
    if (user !== undefined) await users?.giveBack(user);
  }
}

/** Undefined when it works and a file of the server cannot be read from within. */
async function tryOut(protection: Protection, work: WorkFolder): Promise<string | undefined> {
  const user = await protection.users?.take();
  const name = `trial-${randomUUID()}`;
  const secret = join(work.path, `${name}.secret`);
  const folder = await createJobFolder(work, name);
  try {
    await writeFile(secret, 'secret', { mode: 0o600 });
    if (user !== undefined) await giveTo(user, folder);
    const command = `cat ${quote(secret)} 2>/dev/null && exit 9; test -w . && test -w "$HOME" && test -w "$TMPDIR"`;
    return await tryCommand({ protection, user, command, folder, mark: `${work.mark}.${name}.` });
  } finally {
    if (user !== undefined) await protection.users?.clear(user);
    await rm(secret, { force: true });
    await removeFolder(folder.path).catch(() => undefined);
    if (user !== undefined) await protection.users?.giveBack(user);
  }
}

interface Trial {
  readonly protection: Protection;
  readonly user: User | undefined;
  readonly command: string;
  readonly folder: Awaited<ReturnType<typeof createJobFolder>>;
  readonly mark: string;
}

async function tryCommand({ protection, user, command, folder, mark }: Trial): Promise<string | undefined> {
  const wrapped = await protection.wrap({
    command,
    folder,
    mark: innerMarkOf(mark),
    network: false,
    userNamespaces: false,
  });
  const environment = { PATH: process.env['PATH'] ?? '', ...wrapped.variables };
  const tree = new ProcessTree({ wrapped, folder: folder.tree, environment, user, mark, onOutput: async () => {} });
  const timer = setTimeout(() => tree.stop(), TRIAL_MS);
  const { code, signal } = await tree.end().finally(() => clearTimeout(timer));
  if (tree.complaint !== undefined) return firstLine(tree.complaint) ?? `It ended with ${code ?? signal}.`;
  return code === 0 ? undefined : `A command in it ended with ${code ?? signal}.`;
}

function firstLine(text: string): string | undefined {
  const [line = ''] = text.split('\n');
  return line === '' ? undefined : `${line.slice(0, 300).replace(/\.$/, '')}.`;
}

interface UsersOptions {
  readonly users: UserPool;
  readonly processes: number;
}

/** A separate user for each running command, without a sandbox. For root on systems without namespaces. */
function createUsers({ users, processes }: UsersOptions): Protection {
  return {
    kind: 'users',
    canRead: () => true,
    treeOf: ({ tree }) => tree,
    users,
    wrap: async ({ command, args, mark, folder }) => {
      const token = randomUUID();
      return {
        // A setuid program would escape the kill of the user's processes.
        argv: [
          'setpriv',
          '--no-new-privs',
          ...beginCommand({ processes, token, mark, command, args, sharesFiles: false }),
        ],
        variables: { HOME: folder.home, TMPDIR: folder.temporary, USER: 'check', LOGNAME: 'check' },
        token,
      };
    },
  };
}

/** The command runs as the server's user. */
const noProtection: Protection = {
  kind: 'none',
  canRead: () => true,
  treeOf: ({ tree }) => tree,
  users: undefined,
  wrap: async ({ folder, ...words }) => ({
    argv: ['/bin/sh', '-c', ...shellWords(words)],
    variables: { HOME: folder.home, TMPDIR: folder.temporary },
    token: undefined,
  }),
};
