import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { runGit } from './exec.ts';

export interface RepositoryLayout {
  /** The folder with the refs, shared by all work trees of the repository. */
  readonly gitDir: string;
  readonly objectsDir: string;
  readonly objectFormat: string;
}

/** Undefined when the folder is not a git repository, even if a folder above it is. */
export async function findLayout(folder: string): Promise<RepositoryLayout | undefined> {
  const args = [
    'rev-parse',
    '--path-format=absolute',
    '--git-common-dir',
    '--git-path',
    'objects',
    '--show-object-format',
  ];
  const { exitCode, stdout } = await runGit(['-C', folder, ...args], {
    purpose: 'open the repository',
    safeDirectory: folder,
    extra: { GIT_CEILING_DIRECTORIES: dirname(folder) },
    expected: [0, 128],
  });
  const [gitDir, objectsDir, objectFormat] = stdout.toString().split('\n');
  if (exitCode !== 0 || gitDir === undefined || objectsDir === undefined || objectFormat === undefined)
    return undefined;
  return { gitDir, objectsDir, objectFormat };
}

/** Creates a bare repository, or completes an existing one. A template would bring hooks, so none is used. */
export async function initBare(gitDir: string, objectFormat: string): Promise<void> {
  await runGit(
    ['init', '--quiet', '--bare', '--template=', `--object-format=${objectFormat}`, '--end-of-options', gitDir],
    {
      purpose: "make the server's own copy of the repository",
    },
  );
}

const READING = 'read the configuration of the repository';

/** Reads the repository's own configuration file only. Git is asked only where the file has the name of the setting. */
export async function findConfig(gitDir: string, key: string): Promise<string | undefined> {
  const name = key.slice(key.lastIndexOf('.') + 1).toLowerCase();
  const text = await readFile(join(gitDir, 'config'), 'latin1').catch(() => undefined);
  if (text !== undefined && !text.toLowerCase().includes(name)) return undefined;
  const args = ['config', '--local', '--null', '--get', '--end-of-options', key];
  const { exitCode, stdout } = await runGit(args, { purpose: READING, gitDir, expected: [0, 1] });
  return exitCode === 0 ? stdout.toString().split('\0', 1)[0] : undefined;
}

export async function setConfig(gitDir: string, key: string, value: string | undefined): Promise<void> {
  const args = value === undefined ? ['--unset-all', '--end-of-options', key] : ['--end-of-options', key, value];
  // Exit code 5: it is not set. Two servers may open one mirror at the same time.
  await runGit(['config', '--local', ...args], { purpose: READING, gitDir, expected: [0, 5] });
}

/** Unreachable objects can be fetched again, and new ones get a ref within minutes: one day is long enough. */
const SETTINGS = ['gc.auto=6700', 'gc.autoDetach=false', 'gc.pruneExpire=1.day.ago'];

/** Many fetches leave many packs. Git packs them only when there are enough. */
export async function collectGarbage(gitDir: string, signal: AbortSignal): Promise<void> {
  await runGit([...SETTINGS.flatMap((setting) => ['-c', setting]), 'gc', '--auto', '--quiet'], {
    purpose: "tidy the server's own copy of the repository",
    gitDir,
    timeoutMs: 20 * 60_000,
    signal,
  });
}
