import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { assert } from '../lib/assert.ts';
import { Fault } from '../lib/fault.ts';
import { findConfig, initBare, type RepositoryLayout, setConfig } from './git-dir.ts';
import { parseSharing, type Sharing } from './shared-mode.ts';

const SHARED = 'core.sharedRepository';

/** Sluice's own bare repository for a registered one, in which git runs. It holds copies of remote refs. */
export interface Mirror {
  readonly gitDir: string;
  /** Variables that git needs to read the source's history through the mirror. */
  readonly environment: Readonly<Record<string, string>>;
  readonly objectFormat: string;
  /** How the source shares its files with other users of the machine. */
  readonly sharing: Sharing | undefined;
}

/** Makes git write new objects into another folder than the mirror's, whatever attributes this machine sets. */
export function writingEnvironment(mirror: Mirror, objectsDir: string): Readonly<Record<string, string>> {
  return { GIT_OBJECT_DIRECTORY: objectsDir, GIT_ATTR_NOSYSTEM: '1', ...mirror.environment };
}

export interface MirrorOptions {
  readonly directory: string;
  readonly id: string;
  /** A source on this machine lends its objects as alternates, so nothing is copied. */
  readonly source: RepositoryLayout | undefined;
}

export async function ensureMirror({ directory, id, source }: MirrorOptions): Promise<Mirror> {
  assert(/^[\w.-]+$/.test(id) && !id.startsWith('.'), `the repository id ${JSON.stringify(id)} is no file name`);
  const gitDir = join(directory, `${id}.git`);
  const objectFormat = source?.objectFormat ?? 'sha1';
  try {
    // Only the server may read the mirrors. Checks that run as another user get a copy of the commit under test.
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await initBare(gitDir, objectFormat);
    await lendObjects(gitDir, source);
    const sharing = parseSharing(await shareObjects(gitDir, source));
    await removeScratches(gitDir);
    return { gitDir, environment: environmentOf(source), objectFormat, sharing };
  } catch (cause) {
    if (cause instanceof Fault) throw cause;
    throw new Fault('FORGE_UNAVAILABLE', "The server's own copy of the repository cannot be written.", { cause });
  }
}

/** The source may be a shallow clone, which only this file tells. A missing file is fine. */
function environmentOf(source: RepositoryLayout | undefined): Mirror['environment'] {
  return source === undefined ? {} : { GIT_SHALLOW_FILE: join(source.gitDir, 'shallow') };
}

async function lendObjects(gitDir: string, source: RepositoryLayout | undefined): Promise<void> {
  const file = join(gitDir, 'objects', 'info', 'alternates');
  if (source === undefined) return rm(file, { force: true });
  await mkdir(join(gitDir, 'objects', 'info'), { recursive: true });
  await writeFile(`${file}.new`, `${source.objectsDir}\n`);
  await rename(`${file}.new`, file);
}

/** Git takes the mode of shared files from the mirror. Other configuration of the source must not apply. */
async function shareObjects(gitDir: string, source: RepositoryLayout | undefined): Promise<string | undefined> {
  const [wanted, present] = await Promise.all([
    source === undefined ? undefined : findConfig(source.gitDir, SHARED),
    findConfig(gitDir, SHARED),
  ]);
  if (wanted !== present) await setConfig(gitDir, SHARED, wanted);
  return wanted;
}

/** A killed server leaves these behind. */
async function removeScratches(gitDir: string): Promise<void> {
  const names = (await readdir(gitDir)).filter((name) => name.startsWith('scratch-'));
  await Promise.all(names.map((name) => rm(join(gitDir, name), { recursive: true, force: true })));
}
