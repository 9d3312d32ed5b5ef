import { rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Timing } from '../../lib/clock.ts';
import { Fault } from '../../lib/fault.ts';
import { FULL_DISK_TEXT, fileErrorReason, isFullFileError } from '../../lib/file-error.ts';
import type { App } from '../core/app.ts';

/** Less than this is used up by the next few requests. */
const PROBE = Buffer.alloc(256 * 1024);
/** Load balancers ask every second, several of them at once. */
const REMEMBERED_MS = 2_000;
/** Load balancers wait 5 s or longer: they must get the sentence. */
const PATIENCE_MS = 4_000;

type Probe<T = void> = () => Promise<T>;

// SPEC D26
export function createReadiness({ store, clock }: Pick<App, 'store' | 'clock'>, dataFolder?: string): Probe {
  const probes = [boundProbe(clock, 'The store', () => pingStore(store))];
  if (dataFolder !== undefined) {
    probes.push(boundProbe(clock, 'The disk of the data folder', () => writeProbe(dataFolder)));
  }
  return async () => {
    await Promise.all(probes.map((probe) => probe()));
  };
}

/** The room on the disk of the data folder. The answer may be some seconds old. */
export function createDiskMeasure(clock: Timing, dataFolder: string): Probe<DiskRoom> {
  return boundProbe(clock, 'The disk of the data folder', async () => {
    const { bavail, blocks, bsize } = await statfs(dataFolder);
    return { freeBytes: bavail * bsize, sizeBytes: blocks * bsize };
  });
}

interface DiskRoom {
  /** For a process without privileges. */
  readonly freeBytes: number;
  readonly sizeBytes: number;
}

/** A probe that hangs is waited for and never started again, because each one would take another thread or connection. */
// SPEC D27
export function boundProbe<T>(clock: Timing, subject: string, probe: Probe<T>, rememberedMs = REMEMBERED_MS): Probe<T> {
  let last: { readonly at: number; readonly answer: Promise<T>; isRunning: boolean } | undefined;
  const begin = () => {
    const answer = probe();
    const begun = { at: clock.now(), answer, isRunning: true };
    const end = () => {
      begun.isRunning = false;
    };
    answer.then(end, end);
    return begun;
  };
  return async () => {
    if (last === undefined || (!last.isRunning && Math.abs(clock.now() - last.at) >= rememberedMs)) last = begin();
    return within(clock, last.answer, subject);
  };
}

async function within<T>(clock: Timing, answer: Promise<T>, subject: string): Promise<T> {
  let cancel = () => {};
  const deadline = new Promise<never>((_, reject) => {
    const late = () => reject(unavailable(`${subject} did not answer within ${PATIENCE_MS / 1_000} s.`));
    cancel = clock.after(PATIENCE_MS, late);
  });
  return Promise.race([answer, deadline]).finally(() => cancel());
}

async function pingStore(store: App['store']): Promise<void> {
  try {
    await store.ping();
  } catch (error) {
    if (!(error instanceof Fault) || error.told !== undefined) throw error;
    throw new Fault(error.code, error.detail, { cause: error.cause, told: 'The store does not answer.' });
  }
}

/** SQLite may find room in its own files for a small write and none for the next. */
// SPEC D9
async function writeProbe(folder: string): Promise<void> {
  const file = join(folder, 'room-check');
  try {
    await writeFile(file, PROBE, { mode: 0o600 });
  } catch (error) {
    const sentence = `The data folder cannot be written: ${fileErrorReason(error)}.`;
    throw unavailable(sentence, { cause: error, told: isFullFileError(error) ? FULL_DISK_TEXT : sentence });
  } finally {
    await rm(file, { force: true }).catch(() => undefined);
  }
}

function unavailable(sentence: string, options: { cause?: unknown; told?: string } = {}): Fault {
  return new Fault('STORE_UNAVAILABLE', sentence, { told: sentence, ...options });
}
