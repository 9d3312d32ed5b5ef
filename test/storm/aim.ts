import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Prng } from '../../src/lib/prng.ts';
import { lookUntil, pause } from './pause.ts';
import type { Line } from './plan.ts';
import { RUNNING_FILE } from './project.ts';

/** The moments at which a server is killed. */
export const AIMS = [
  'at any moment',
  'while it starts',
  'when the target moved',
  'when the target is locked',
  'when a test branch appears',
  'while a check runs',
] as const;
export type Aim = (typeof AIMS)[number];

const LOOK_EVERY_MS = 2;
const MAX_START_MS = 700;

export interface Sight {
  readonly repository: string;
  readonly lines: readonly Line[];
  readonly dataFolders: readonly string[];
  /** If the moment does not come within this time, the server is killed anyway. */
  readonly patienceMs: number;
}

/** Resolves at such a moment or at the time limit. Returns whether the moment came. */
export async function takeAim(random: Prng, aim: Aim, sight: Sight): Promise<boolean> {
  if (aim === 'at any moment' || aim === 'while it starts') {
    await pause(random.integer(aim === 'at any moment' ? sight.patienceMs : MAX_START_MS));
    return true;
  }
  // Drawn first, so that the random sequence does not depend on what happens.
  const lagMs = random.pick([0, 0, 0, 2, 10, 40]);
  const look = await watch(aim, sight);
  const isHit = await lookUntil({ withinMs: sight.patienceMs, everyMs: LOOK_EVERY_MS }, async () =>
    (await look()) ? true : undefined,
  );
  if (lagMs > 0) await pause(lagMs);
  return isHit === true;
}

async function watch(aim: Aim, sight: Sight): Promise<() => Promise<boolean>> {
  const { repository, lines, dataFolders } = sight;
  const targets = lines.map(({ branch }) => join(repository, 'refs', 'heads', branch));
  switch (aim) {
    case 'when the target is locked':
      return async () => (await Promise.all(targets.map((target) => exists(`${target}.lock`)))).includes(true);
    case 'when a test branch appears': {
      const before = new Set(await listTestBranches(repository));
      return async () => (await listTestBranches(repository)).some((name) => !before.has(name));
    }
    case 'while a check runs':
      return async () => (await Promise.all(dataFolders.map(isCheckRunning))).includes(true);
    default: {
      const before = await Promise.all(targets.map(read));
      return async () => (await Promise.all(targets.map(read))).some((sha, index) => sha !== before[index]);
    }
  }
}

async function listTestBranches(repository: string): Promise<readonly string[]> {
  return readdir(join(repository, 'refs', 'heads', 'sluice'), { recursive: true }).catch(() => []);
}

async function isCheckRunning(dataFolder: string): Promise<boolean> {
  const runner = join(dataFolder, 'runner');
  for (const mark of await list(runner)) {
    for (const job of await list(join(runner, mark))) {
      if (await exists(join(runner, mark, job, 'tmp', RUNNING_FILE))) return true;
    }
  }
  return false;
}

async function list(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch(() => []);
}

async function read(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch(() => undefined);
}

async function exists(file: string): Promise<boolean> {
  return (await read(file)) !== undefined;
}
