import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { usageError } from '../../src/cli/core/exit.ts';

/** The folder with all files of the demo, and nothing else. */
export interface DemoFolder {
  readonly path: string;
  readonly repository: string;
  readonly data: string;
  readonly log: string;
  /** The process id of the running server. */
  readonly pid: string;
  /** Variables for a shell that calls the server, if it is left running. */
  readonly environment: string;
  /** A file that the checks share, which real checks should not do. */
  readonly ratesCache: string;
  /** The demo chose the folder, so the user does not expect to find it later. */
  readonly isTemporary: boolean;
  remove(): Promise<void>;
}

export async function makeDemoFolder(wanted: string | undefined): Promise<DemoFolder> {
  const folder = await (wanted === undefined ? makeTemporary() : makeNamed(path.resolve(wanted)));
  return {
    path: folder,
    repository: path.join(folder, 'shop.git'),
    data: path.join(folder, 'data'),
    log: path.join(folder, 'server.log'),
    environment: path.join(folder, 'env'),
    pid: path.join(folder, 'server.pid'),
    ratesCache: path.join(folder, 'rates-cache.json'),
    isTemporary: wanted === undefined,
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}

async function makeTemporary(): Promise<string> {
  return mkdtemp(path.join(tmpdir(), 'sluice-demo-')).catch((error: unknown) => refuse(tmpdir(), error));
}

async function makeNamed(folder: string): Promise<string> {
  try {
    await mkdir(folder, { recursive: true });
    if ((await readdir(folder)).length === 0) return folder;
  } catch (error) {
    return refuse(folder, error);
  }
  throw usageError(`The folder ${folder} is not empty. Name one that is, or one that does not exist yet.`);
}

function refuse(folder: string, error: unknown): never {
  throw usageError(`The folder ${folder} cannot be used (${(error as NodeJS.ErrnoException).code}).`);
}
