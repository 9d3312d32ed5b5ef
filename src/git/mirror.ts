import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { assert } from '../lib/assert.ts';
import { Fault } from '../lib/fault.ts';
import { findConfig, setConfig } from './config.ts';
import { initBare } from './init.ts';
import type { RepositoryLayout } from './rev-parse.ts';
import { parseSharing, type Sharing } from './shared-mode.ts';

const SHARED = 'core.sharedRepository';

/** A bare repository of Sluice's own for one registered repository: git works here, and copies are kept here. */
export interface Mirror {
  readonly gitDir: string;
  /** What git needs to know besides to read the history of the source through the mirror. */
  readonly environment: Readonly<Record<string, string>>;
  readonly objectFormat: string;
  /** How the source shares what is written into it with other users of the machine. */
  readonly sharing: Sharing | undefined;
}

/** Makes git, working on the mirror, write what it makes into another folder of objects. */
export function writingEnvironment(mirror: Mirror, objectsDir: string): Readonly<Record<string, string>> {
  return { GIT_OBJECT_DIRECTORY: objectsDir, ...mirror.environment };
}

export interface MirrorOptions {
  readonly directory: string;
  readonly id: string;
  /** A source on this machine lends its objects, so that nothing is ever copied from it. */
  readonly source: RepositoryLayout | undefined;
}

export async function ensureMirror({ directory, id, source }: MirrorOptions): Promise<Mirror> {
  assert(/^[\w.-]+$/.test(id) && !id.startsWith('.'), `the repository id ${JSON.stringify(id)} is no file name`);
  const gitDir = join(directory, `${id}.git`);
  const objectFormat = source?.objectFormat ?? 'sha1';
  try {
    // Nobody else reads what is kept of repositories: checks that run as another user get a copy of what they test.
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

/** Where the source was cloned without its early history, only this file says so; a file that is not there is fine. */
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

/**
 * What Sluice writes into a repository that several users push to must stay writable for all of them. Git takes that
 * from the configuration of the repository it works on, which is the mirror: so that nothing else in the source's
 * configuration, such as the command of a merge driver, has a say.
 */
async function shareObjects(gitDir: string, source: RepositoryLayout | undefined): Promise<string | undefined> {
  const [wanted, present] = await Promise.all([
    source === undefined ? undefined : findConfig(source.gitDir, SHARED),
    findConfig(gitDir, SHARED),
  ]);
  if (wanted !== present) await setConfig(gitDir, SHARED, wanted);
  return wanted;
}

/** Left behind by a server that was killed. */
async function removeScratches(gitDir: string): Promise<void> {
  const names = (await readdir(gitDir)).filter((name) => name.startsWith('scratch-'));
  await Promise.all(names.map((name) => rm(join(gitDir, name), { recursive: true, force: true })));
}
