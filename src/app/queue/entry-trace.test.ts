import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { keepSpans } from '../../../test/helpers/record-spans.ts';
import { PageWorld } from '../../../test/worlds/shell/page-world.ts';
import type { PrNumber } from '../../engine/model/pull-request.ts';
import type { QueueSettings } from '../../engine/model/settings.ts';
import { traceEntries } from './entry-trace.ts';

async function open(t: TestContext, settings: Partial<QueueSettings> = {}) {
  const world = await PageWorld.create(settings);
  t.after(() => world.stop());
  const { tracing, spans } = keepSpans();
  const untilMade = traceEntries(world.app, tracing);
  /** Names, seconds from the submission to begin and end, and what tells spans of one name apart. */
  const traceOf = async (prNumber: PrNumber) => {
    await untilMade();
    const root = spans.findLast(({ attributes }) => attributes['sluice.pull_request'] === prNumber) ?? assert.fail();
    const seconds = (ms: number) => Math.round((ms - root.startMs) / 1_000);
    return spans
      .filter(({ traceId }) => traceId === root.traceId)
      .map(({ name, startMs, endMs, attributes }) => {
        const result = attributes['sluice.outcome'] ?? attributes['sluice.test_run.result'];
        return `${name} ${seconds(startMs)}-${seconds(endMs)}${result === undefined ? '' : ` ${result}`}`;
      });
  };
  return { world, spans, untilMade, traceOf };
}

describe('the trace of a stay', () => {
  it('has the search for a culprit, with its runs [M23]', async (t) => {
    const { world, traceOf } = await open(t, { batch: true, batchingMinSize: 2 });
    const [first] = [await world.submit(), await world.submit()];
    await world.pass(10_000);
    await world.report(1, 'ci', 'FAILURE');
    await world.pass(10_000);
    await world.report(2, 'ci', 'FAILURE');
    await world.pass(10_000);
    assert.equal(await world.stateOf(first.number), 'FAILED');
    assert.deepEqual(await traceOf(first.number), [
      'pull request in queue 0-20 FAILED',
      'waiting 0-0',
      'testing 0-10',
      'search for a culprit 10-20',
      'test run 0-10 failed',
      'test run 10-20 failed',
    ]);
  });

  it('has pauses that began before it, and the part of them within it [M23]', async (t) => {
    const { world, traceOf } = await open(t);
    const set = (state: 'RUNNING' | 'PAUSED') =>
      world.send({ kind: 'queue_updated', at: world.now, actor: 'ada', settings: {}, state });
    await set('PAUSED');
    await world.pass(60_000);
    const { number } = await world.submit();
    await world.pass(30_000);
    await set('RUNNING');
    await world.pass(10_000);
    await world.cancel(number);
    assert.deepEqual(await traceOf(number), [
      'pull request in queue 0-40 CANCELLED',
      'not ready 0-30',
      'testing 30-40',
      'test run 30-40 abandoned',
      'queue paused 0-30',
    ]);
  });

  it('has holds, also one that lasts when it ends [M23]', async (t) => {
    const { world, traceOf } = await open(t);
    const { id: repositoryId } = await world.repository();
    const body = JSON.stringify({ actor: { kind: 'sluice', name: 'sluice' }, text: 'It holds.', data: {} });
    const tell = (type: string) =>
      world.store.feed.add([
        {
          ...{ source: 'the test', version: world.now, ordinal: 0, at: world.now, type, organizationId: null },
          ...{ repositoryId, queueId: world.queueId, targetBranch: 'main', prNumber: null, testId: null, body },
        },
      ]);
    const { number } = await world.submit();
    await world.pass(10_000);
    await tell('queue.held');
    await world.pass(10_000);
    await tell('queue.released');
    await world.pass(10_000);
    await tell('queue.held');
    await world.pass(10_000);
    await world.cancel(number);
    const held = (await traceOf(number)).filter((span) => span.startsWith('queue held'));
    assert.deepEqual(held, ['queue held 10-20', 'queue held 30-40']);
  });
});
