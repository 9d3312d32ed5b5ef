import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FakeForge } from '../../../test/fake/fake-forge.ts';
import { QueueWorld } from '../../../test/worlds/shell/queue-world.ts';
import type { PrNumber } from '../../engine/model/pull-request.ts';
import { findEntry } from '../../engine/model/queue.ts';
import { Fault } from '../../lib/fault.ts';
import { PlainGitPoller } from '../forge-events/plain-git-poller.ts';

/** More than are polled at once. */
const MANY = 40;

/** A forge on which some pull requests cannot be read. */
class PartlyBrokenForge extends FakeForge {
  readonly broken = new Set<PrNumber>();

  override async findPullRequest(query: Parameters<FakeForge['findPullRequest']>[0]) {
    if (this.broken.has(query.number)) throw new Fault('FORGE_UNAVAILABLE', 'It is damaged.');
    return super.findPullRequest(query);
  }
}

describe('a failing poll', () => {
  it('of one pull request does not hold up the others, and ends by itself [C16] [E21]', async (context) => {
    const world = await QueueWorld.create({
      settings: { requiredStatuses: ['ci'] },
      createForge: (repository) => new PartlyBrokenForge(repository),
    });
    context.after(() => world.stop());
    const { broken } = world.forge as PartlyBrokenForge;
    const numbers: PrNumber[] = [];
    for (let count = 0; count < MANY; count += 1) numbers.push(await world.submit({ [`f${count}`]: 'x' }));
    const [first, last] = [numbers[0] as PrNumber, numbers.at(-1) as PrNumber];
    broken.add(first);
    world.repository.close(last);
    const poller = new PlainGitPoller(world.app);
    await poller.pollOnce();
    const queue = await world.queue();
    assert.equal(findEntry(queue, last), undefined);
    const id = findEntry(queue, first)?.id ?? '';
    assert.equal(world.app.outages.find(id)?.text, 'It is damaged.');
    broken.clear();
    await poller.pollOnce();
    assert.equal(world.app.outages.find(id), undefined);
    assert.ok(findEntry(await world.queue(), first));
  });
});
