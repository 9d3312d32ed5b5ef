// Acts that come too late, or change nothing: what the command line says of them, and how it exits.
import assert from 'node:assert/strict';
import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { writeHook } from '../contract/plain-repository.ts';
import { PATIENCE_MS } from './bad-days.ts';
import { until } from './harness.ts';
import { sluice } from './kept-sluice.ts';
import { type TestQueue, useServer } from './test-queue.ts';

describe('an act', { timeout: 120_000 }, () => {
  const world = useServer();
  const nameOf = ({ repo }: TestQueue) => `local/acme/${repo.name}`;
  const run = (...args: string[]) => sluice(args, { env: world.server.env });

  it('that cancels a landing waits for its answer, and says that it came too late [E38]', async () => {
    const queue = await world.aQueue();
    const { folder } = queue.git;
    await writeHook(
      queue.git,
      'update',
      `case $1 in refs/heads/main) touch ${folder}/begun; while [ ! -e ${folder}/go ]; do sleep 0.05; done;; esac; exit 0`,
    );
    const number = await queue.submitOne();
    await queue.ci.report(await queue.ci.runOf(number), 'SUCCESS');
    await until('the push has begun', PATIENCE_MS, () =>
      access(join(folder, 'begun')).then(
        () => true,
        () => undefined,
      ),
    );
    const cancelling = run('pr', 'cancel', nameOf(queue), 'main', `${number}`);
    await until('the removal is asked for', PATIENCE_MS, async () => {
      const { explanation } = await queue.get(number, { includeExplanation: true });
      return explanation?.summary.includes('asked to remove it') || undefined;
    });
    await writeFile(join(folder, 'go'), '');
    const { code, err } = await cancelling;
    assert.match(err, /Too late: pull request #\d+ landed as [0-9a-f]{12}\./);
    assert.equal(code, 1);
    const { timeline } = await queue.get(number, { includeTimeline: true });
    assert.match(timeline?.[0]?.text ?? '', /asked to remove it while it landed, too late\.$/);
  });

  it('that changes nothing exits with 0 and a warning [W63]', async () => {
    const queue = await world.aQueue();
    const place = [nameOf(queue), 'main'];
    const number = await queue.submitOne();
    for (const [args, warning] of [
      [['pr', 'submit', ...place, `${number}`], /is in the queue exactly so/],
      [['pr', 'submit', ...place, `${number}`, '-p', 'high'], undefined],
      [['pr', 'targets', ...place, `${number}`, '--all'], /The queue is not parallel/],
      [['queue', 'update', ...place, '--concurrency', '4'], undefined],
      [['queue', 'update', ...place, '--concurrency', '4'], /has these settings already/],
      [['queue', 'resume', ...place], /is RUNNING already/],
      [['queue', 'pause', ...place], undefined],
      [['queue', 'pause', ...place], /is PAUSED already/],
      [['pr', 'cancel', ...place, `${number}`], undefined],
      [['pr', 'cancel', ...place, `${number}`], /was cancelled already/],
    ] as const) {
      const { code, err } = await run(...args);
      assert.equal(code, 0, args.join(' '));
      if (warning === undefined) assert.equal(err, '', args.join(' '));
      else assert.match(err, warning);
    }
  });

  it('that sets targets for another commit exits with 0 and a warning [W63]', async () => {
    const queue = await world.aQueue({ mode: 'PARALLEL' });
    const number = await queue.submitOne();
    const other = ['--all', '--sha', 'b'.repeat(40)];
    const { code, err } = await run('pr', 'targets', nameOf(queue), 'main', `${number}`, ...other);
    assert.equal(code, 0);
    assert.match(err, /is at [0-9a-f]{12}, for which they do not count/);
  });

  it('with --json and an unknown field exits with 2, and names the fields [W34]', async () => {
    const queue = await world.aQueue();
    const list = await run('queue', 'list', '--json', 'brnch');
    assert.equal(list.code, 2);
    assert.match(list.err, /has no field brnch\. It has: .*branch/);
    const number = await queue.submitOne();
    const status = ['pr', 'status', nameOf(queue), 'main', `${number}`, '--json'];
    assert.deepEqual(JSON.parse((await run(...status, 'state,landed')).out), { state: 'TESTING', landed: null });
    assert.equal((await run(...status, 'state,lnded')).code, 2);
    const place = [nameOf(queue), 'main'];
    const events = ['watch', ...place, '--until-empty', '--json'];
    assert.equal((await run('pr', 'cancel', ...place, `${number}`, '--json', 'stat')).code, 2);
    assert.match((await run(...status, 'state')).out, /TESTING/);
    assert.equal((await run('token', 'create', '--name', 'lost', '--json', 'secret')).code, 2);
    assert.doesNotMatch((await run('token', 'list')).out, /lost/);
    await run('pr', 'cancel', ...place, `${number}`);
    assert.match((await run(...events, 'type,prNumber')).out, /^\{"type":"[\w.]+","prNumber":\d+\}$/m);
    assert.equal((await run(...events, 'tpe')).code, 2);
  });
});
