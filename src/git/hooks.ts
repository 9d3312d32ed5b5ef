import type { Stats } from 'node:fs';
import { access, constants, readdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Hooks } from '../lib/hooks.ts';
import { runGit } from './exec.ts';
import { TrustedPaths } from './trusted-path.ts';

const PURPOSE = 'look for the hooks of the repository';

/** The hooks of a push, in the order in which git runs them. */
const NAMES = [
  'pre-receive',
  'update',
  'proc-receive',
  'reference-transaction',
  'push-to-checkout',
  'post-receive',
  'post-update',
];

/** The hook settings, and the configuration files that they come from. */
interface Setup {
  readonly hooksDir: string;
  readonly configFiles: readonly string[];
  /** Fingerprint of these files when they were read. */
  readonly stamp: string;
  readonly problem: string | undefined;
}

export interface HookWatch {
  /** Reads the state of every relevant file. Git runs only when the configuration has changed. */
  look(): Promise<Hooks>;
}

// SPEC L34
export function watchHooks(gitDir: string): HookWatch {
  let setup: Setup | undefined;
  return {
    look: async () => {
      if (setup === undefined || (await stampOf(setup.configFiles)) !== setup.stamp) setup = await readSetup(gitDir);
      const entries = await listFiles(setup.hooksDir);
      const [names, notExecutable] = await splitByMode(setup.hooksDir, entries);
      return { names, notExecutable, problem: setup.problem ?? (await findProblem(gitDir, setup, entries)) };
    },
  };
}

/** A user who can write a hook, or a configuration that names one, runs commands as the server. */
// SPEC L14
async function findProblem(gitDir: string, setup: Setup, entries: readonly string[]): Promise<string | undefined> {
  const owner = process.getuid?.();
  if (owner === undefined) return 'this system does not say whom files belong to';
  const paths = new TrustedPaths(owner);
  const files = entries.filter((name) => !name.endsWith('.sample')).map((name) => join(setup.hooksDir, name));
  for (const path of [gitDir, setup.hooksDir, ...files, ...setup.configFiles]) {
    const problem = await paths.findProblem(path);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

async function readSetup(gitDir: string): Promise<Setup> {
  const options = { purpose: PURPOSE, hooks: true, extra: { GIT_DIR: gitDir } };
  const [settings, paths] = await Promise.all([
    runGit(['config', '--list', '--null', '--show-origin', '--includes'], options),
    runGit(['rev-parse', '--is-bare-repository', '--git-path', 'hooks'], options),
  ]);
  const list = settings.stdout.toString();
  const [, isBare, hooksPath = ''] = /^(true|false)\n(.*)\n$/s.exec(paths.stdout.toString()) ?? [];
  const isChecked = isBare === 'true' ? undefined : findCheckedOut(list);
  const { files, problem } = readOrigins(gitDir, list);
  const configFiles = [...new Set([...files, ...usualFiles(gitDir)])];
  // A relative path counts from the repository's folder, in which hooks run.
  const hooksDir = resolve(gitDir, hooksPath);
  return { hooksDir, configFiles, stamp: await stampOf(configFiles), problem: problem ?? isChecked };
}

/** Git refuses a push to the checked-out branch of a work tree, unless `denyCurrentBranch` is configured. */
function findCheckedOut(list: string): string | undefined {
  const deny = list.split('\0').findLast((setting) => /^receive\.denycurrentbranch(?:\n|$)/.test(setting)) ?? '';
  if (/\n\s*(?:false|no|off|0|ignore|warn|updateinstead)\s*$/i.test(deny)) return undefined;
  return 'it is not bare, and git refuses pushes to a branch that is checked out (receive.denyCurrentBranch says otherwise)';
}

/** Includes files that do not exist: a user who could create one could set anything. */
function usualFiles(gitDir: string): readonly string[] {
  const home = process.env['HOME'];
  const ofUser = home?.startsWith('/') ? [join(home, '.gitconfig'), join(home, '.config', 'git', 'config')] : [];
  return [join(gitDir, 'config'), join(gitDir, 'config.worktree'), '/etc/gitconfig', ...ofUser];
}

/** The list alternates `file:NAME` and `key LF value`, each ended by a NUL. */
function readOrigins(gitDir: string, list: string): { files: readonly string[]; problem: string | undefined } {
  const parts = list.split('\0');
  const files = new Set<string>();
  for (let index = 0; index + 1 < parts.length; index += 2) {
    const [origin = '', setting = ''] = parts.slice(index, index + 2);
    if (!origin.startsWith('file:')) continue;
    const file = resolve(gitDir, origin.slice('file:'.length));
    files.add(file);
    const [, included] = /^include(?:if\..*)?\.path\n(.*)$/is.exec(setting) ?? [];
    if (included === undefined) continue;
    if (/^~[^/]|^%/.test(included)) return { files: [...files], problem: `${file} includes ${included}` };
    files.add(resolve(dirname(file), included.replace(/^~(?=\/)/, process.env['HOME'] ?? '/')));
  }
  return { files: [...files], problem: undefined };
}

async function stampOf(files: readonly string[]): Promise<string> {
  const stamps = await Promise.all(files.map((file) => stat(file).then(formatStats, () => '-')));
  return stamps.join(' ');
}

function formatStats({ dev, ino, size, mtimeMs, ctimeMs }: Stats): string {
  return [dev, ino, size, mtimeMs, ctimeMs].join('/');
}

async function listFiles(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch(() => []);
}

async function splitByMode(folder: string, entries: readonly string[]): Promise<[string[], string[]]> {
  const [names, notExecutable]: [string[], string[]] = [[], []];
  for (const name of NAMES.filter((each) => entries.includes(each))) {
    const isExecutable = await access(join(folder, name), constants.X_OK).then(
      () => true,
      () => false,
    );
    (isExecutable ? names : notExecutable).push(name);
  }
  return [names, notExecutable];
}
