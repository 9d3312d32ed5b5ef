import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { findMarked, killMarked, MARK } from './marked-processes.ts';

const skip = process.platform !== 'linux' && 'only Linux tells the environment of a process';

/** Starts a process that keeps only its environment, and prints its pid. */
async function startDaemon(mark: string): Promise<number> {
  const child = spawn('sh', ['-c', "exec setsid sh -c 'echo $$; exec sleep 1000'"], {
    env: { PATH: process.env['PATH'], [MARK]: mark },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [bytes] = (await once(child.stdout, 'data')) as [Buffer];
  child.stdout.destroy();
  child.unref();
  return Number(bytes.toString());
}

describe('processes that are marked', { skip }, () => {
  it('are found by the beginning of their mark, and killed [R4]', async () => {
    const mark = randomUUID();
    const [one, two] = [await startDaemon(`${mark}.1.`), await startDaemon(`${mark}.10.`)];
    // A process in the middle of `exec` shows no environment.
    for (let tries = 0; tries < 1_000 && (await findMarked(mark)).length < 2; tries += 1);
    assert.deepEqual((await findMarked(mark)).toSorted(), [one, two].toSorted());
    await killMarked(`${mark}.1.`);
    assert.deepEqual(await findMarked(mark), [two]);
    await killMarked(mark);
    assert.deepEqual(await findMarked(mark), []);
  });

  it('one that starts others all the time is killed with them [R4]', { timeout: 30_000 }, async () => {
    const mark = randomUUID();
    const script = 'while :; do setsid sleep 1000 & sleep 0.01; done';
    const child = spawn('sh', ['-c', script], {
      env: { PATH: process.env['PATH'], [MARK]: mark },
      stdio: 'ignore',
    });
    await once(child, 'spawn');
    while ((await findMarked(mark)).length < 5);
    await killMarked(mark);
    assert.deepEqual(await findMarked(mark), []);
  });

  it('the server itself is not one of them, nor is a process that only names the mark [R4]', async () => {
    const mark = randomUUID();
    const child = spawn('sleep', ['1000'], { env: { PATH: process.env['PATH'], OTHER: `${MARK}=${mark}` } });
    await once(child, 'spawn');
    try {
      assert.deepEqual(await findMarked(mark), []);
    } finally {
      child.kill('SIGKILL');
    }
  });
});
