import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const pollMs = 250;
// How long a lock of another machine, or a lock without an owner's name, is respected.
const foreignMs = 10 * 60_000;
const namelessMs = 10_000;

/**
 * Runs `task` while it holds the lock `path`. The process that created the directory holds the lock. The lock of a dead
 * process is broken.
 *
 * @param {{ path: string, onWait: () => void, task: () => Promise<void> }} options
 */
export async function withLock({ path, onWait, task }) {
  await mkdir(dirname(path), { recursive: true });
  let waited = false;
  while (!(await tryMakeDirectory(path))) {
    if (await breakIfStale(path)) continue;
    if (!waited) onWait();
    waited = true;
    await sleep(pollMs);
  }
  try {
    await writeFile(join(path, 'owner'), JSON.stringify({ pid: process.pid, host: hostname(), at: Date.now() }));
    await task();
  } finally {
    await rm(path, { recursive: true, force: true });
  }
}

async function tryMakeDirectory(path) {
  try {
    await mkdir(path);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Two waiters may find the same lock stale, and the slower must not remove the lock that the faster has taken since. So
 * only the holder of a second directory may break the lock, after checking it again.
 */
async function breakIfStale(path) {
  if (!(await isStale(path))) return false;
  const breaking = `${path}.breaking`;
  if (!(await tryMakeDirectory(breaking))) {
    if (await isOlderThan(breaking, namelessMs)) await rm(breaking, { recursive: true, force: true });
    return false;
  }
  try {
    if (await isStale(path)) await rm(path, { recursive: true, force: true });
  } finally {
    await rm(breaking, { recursive: true, force: true });
  }
  return true;
}

async function isStale(path) {
  let owner;
  try {
    owner = JSON.parse(await readFile(join(path, 'owner'), 'utf8'));
  } catch {
    return isOlderThan(path, namelessMs);
  }
  if (owner.host !== hostname()) return isOlderThan(path, foreignMs);
  try {
    process.kill(owner.pid, 0);
    return false;
  } catch (error) {
    return error.code === 'ESRCH';
  }
}

async function isOlderThan(path, ms) {
  try {
    return Date.now() - (await stat(path)).mtimeMs > ms;
  } catch {
    return false;
  }
}
