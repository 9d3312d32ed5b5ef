// File systems for tests that only root can make.
import { execFile } from 'node:child_process';
import { stat, truncate, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { makeFolder } from './harness.ts';

const run = promisify(execFile);

/** Why they are unavailable, as a reason to skip a test; false if they are available. */
export async function findMountProblem(): Promise<string | false> {
  if (process.platform !== 'linux') return 'SKIPPED: only Linux has the small file systems of this test';
  if (process.getuid?.() !== 0) return 'SKIPPED: only root can mount the small file system of this test';
  try {
    const folder = await makeFolder();
    await run('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder]);
    await run('umount', [folder]);
    return false;
  } catch (error) {
    return `SKIPPED: this machine does not let root mount a file system (${(error as Error).message.trim()})`;
  }
}

export interface SmallDisk {
  readonly folder: string;
  /** Fills the disk up to this much free space. Returns a function that makes room again. */
  fill(leftMegabytes?: number): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

export async function createSmallDisk(megabytes: number): Promise<SmallDisk> {
  const folder = await makeFolder();
  const mount = (options: string) => run('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder]);
  await mount(`size=${megabytes}m`);
  return {
    folder,
    fill: async (leftMegabytes = 0) => {
      const file = `${folder}/ballast`;
      await run('sh', ['-c', 'head -c 1000000000 /dev/zero > "$1" || :', 'sh', file]);
      if (leftMegabytes > 0) await truncate(file, (await stat(file)).size - leftMegabytes * 1024 * 1024);
      return () => writeFile(file, '');
    },
    close: async () => {
      await run('umount', ['--lazy', folder]);
    },
  };
}
