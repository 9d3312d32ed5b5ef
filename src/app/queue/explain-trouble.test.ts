import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { FakeForge } from '../../../test/fake/fake-forge.ts';
import { QueueWorld } from '../../../test/worlds/shell/queue-world.ts';
import type { PrNumber } from '../../engine/model/pull-request.ts';
import { findCandidate, findEntry } from '../../engine/model/queue.ts';
import { Fault } from '../../lib/fault.ts';
import type { Repository } from '../../storage/repositories.ts';
import { explainTrouble } from './explain-trouble.ts';

const REPOSITORY = { id: 'r', blockedReason: null as Repository['blockedReason'] } as Repository;

/** A forge on which nothing can be built while there is an error. */
class BrokenForge extends FakeForge {
  error: Error | undefined;

  override async buildCandidate(...args: Parameters<FakeForge['buildCandidate']>) {
    if (this.error !== undefined) throw this.error;
    return super.buildCandidate(...args);
  }
}

async function createWorld(context: TestContext, error: Error) {
  const world = await QueueWorld.create({
    createForge: (repository) => new BrokenForge(repository),
    settings: { requiredStatuses: ['ci'] },
  });
  context.after(() => world.stop());
  (world.forge as BrokenForge).error = error;
  const explain = async (prNumber: PrNumber) => {
    const queue = await world.queue();
    const entry = findEntry(queue, prNumber);
    assert.ok(entry);
    return explainTrouble(world.app, { id: world.queueId, repository: REPOSITORY, queue }, entry);
  };
  /** Makes effects due at once, until that many tries have failed. */
  const untilAttempts = async (attempts: number) => {
    for (const deadline = performance.now() + 10_000; performance.now() < deadline; ) {
      const effects = await world.store.effects.list(world.queueId);
      if (effects.some((effect) => effect.attempts >= attempts)) return;
      world.laterMs += 60_000;
      world.worker.wake();
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    assert.fail('it was not tried as often');
  };
  return { world, explain, untilAttempts };
}

describe('an effect or poll that keeps failing', () => {
  it('is explained to the entry, and to those that are built on it [E15]', async (context) => {
    const { world, explain, untilAttempts } = await createWorld(context, new Fault('FORGE_UNAVAILABLE', 'It is gone.'));
    const one = await world.submit({ a: 'a' });
    const two = await world.submit({ b: 'b' });
    await untilAttempts(3);
    const [reason] = await explain(one);
    assert.equal(reason?.code, 'TRYING_AGAIN');
    assert.match(
      reason.text,
      /^The commit that tests it could not be built: It is gone\. Tried \d times; (?:the next try|it is being tried)/,
    );
    assert.equal(findCandidate(await world.queue(), reason.testRun as number as never)?.members[0]?.prNumber, one);
    const [ofOther] = await explain(two);
    assert.match(ofOther?.text ?? '', new RegExp(`^The commit that tests #${one} could not be built: `));
    (world.forge as BrokenForge).error = undefined;
    // A jump of the clock in the middle of a try ends its lease, so the try after it counts.
    for (let jump = 0; jump < 50 && (await world.effects()).length > 0; jump += 1) {
      world.laterMs += 60_000;
      world.worker.wake();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await world.untilQuiet();
    assert.deepEqual(await explain(one), []);
    assert.deepEqual(await explain(two), []);
  });

  it('asks for an operator if it is a bug, and is not retried [E15]', async (context) => {
    const { world, explain, untilAttempts } = await createWorld(context, new Error('a is not a function'));
    const one = await world.submit({ a: 'a' });
    await untilAttempts(5);
    const [reason] = await explain(one);
    assert.equal(reason?.code, 'NEEDS_ATTENTION');
    assert.match(
      reason.text,
      /: an unexpected error\. The log of the server has the details\. Tried 5 times; it is not tried again automatically\. An administrator must look/,
    );
  });

  it("explains outages too, the entry's own first, and nothing for an ended entry [E15]", async (context) => {
    const { world, explain } = await createWorld(context, new Fault('FORGE_UNAVAILABLE', 'It is gone.'));
    const one = await world.submit({ a: 'a' });
    const id = findEntry(await world.queue(), one)?.id ?? '';
    const now = world.app.clock.now();
    world.app.outages.begin('r', new Fault('FORGE_UNAVAILABLE', 'The repository is gone.'), now);
    const textOf = async () => (await explain(one)).find(({ code }) => code === 'FORGE_UNAVAILABLE')?.text;
    assert.match((await textOf()) ?? '', /cannot read it from the forge: The repository is gone\./);
    world.app.outages.begin(id, new Error('secret'), now);
    assert.match((await textOf()) ?? '', /cannot read it from the forge: An error that the log/);
    world.app.outages.end(id, now);
    world.app.outages.end('r', now);
    assert.equal(await textOf(), undefined);
  });
});
