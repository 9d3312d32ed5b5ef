import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { branchRef } from '../../../test/fake/fake-repository.ts';
import { maker } from '../../../test/helpers/made.ts';
import { QueueWorld, type QueueWorldOptions } from '../../../test/worlds/shell/queue-world.ts';
import type { CandidateNumber } from '../../engine/model/candidate.ts';
import type { Forge } from '../../forge/forge.ts';
import type { ForgeRepository } from '../../forge/forge-repository.ts';
import type { Sha } from '../../lib/sha.ts';
import type { RepositoryId } from '../../storage/repositories.ts';
import { PLAIN_GIT_HOST } from '../core/directory.ts';
import { candidateIdOf } from '../core/entry-id.ts';
import { KEPT_MS, outdated, sweepRefs } from './sweep-refs.ts';

const LIMIT = { timeout: 20_000 };

const createWorld = maker((options?: QueueWorldOptions) => QueueWorld.create(options));

function idOf(world: QueueWorld, number: number): string {
  return candidateIdOf(world.queueId, number as CandidateNumber);
}

/** Refs of a server that built and published a candidate after it had ended. */
function leaveRefs(world: QueueWorld, id: string, branch = `sluice/pr-1/${id}`): void {
  const sha: Sha = world.head;
  world.repository.git.changeRefs([
    { ref: `refs/sluice/candidates/${id}`, sha },
    { ref: branchRef(branch), sha },
  ]);
}

function ownRefs(world: QueueWorld): string[] {
  const { git } = world.repository;
  return ['refs/sluice/', branchRef('sluice/')].flatMap((prefix) => git.listRefs(prefix)).map(([ref]) => ref);
}

describe('the sweep of refs', LIMIT, () => {
  it('removes what a candidate that has ended left behind [N5]', async () => {
    const world = await createWorld();
    await world.land({ a: 'a' });
    assert.deepEqual(ownRefs(world), []);
    leaveRefs(world, idOf(world, 1));
    await sweepRefs(world.app);
    assert.deepEqual(ownRefs(world), []);
  });

  it('leaves refs of a live candidate, and refs that this server does not know [N5]', async () => {
    const world = await createWorld({ settings: { requiredStatuses: ['ci'] } });
    await world.submit({ a: 'a' });
    await world.untilQuiet();
    leaveRefs(world, randomUUID(), `sluice/head/${randomUUID()}`);
    const before = ownRefs(world);
    assert.equal(before.length, 4);
    await sweepRefs(world.app);
    assert.deepEqual(ownRefs(world), before);
  });

  it('waits until everything that was asked for the candidate is done [N5]', async () => {
    const world = await createWorld({ settings: { requiredStatuses: ['ci'] } });
    const number = await world.submit({ a: 'a' });
    await world.untilQuiet();
    await world.stop();
    await world.cancel(number);
    const before = ownRefs(world);
    await sweepRefs(world.app);
    assert.deepEqual(ownRefs(world), before);
    assert.equal(before.length, 2);
  });

  it('removes what a queue left that was deleted before it was done [N5] [Q2]', async () => {
    const world = await createWorld({ settings: { requiredStatuses: ['ci'] } });
    const number = await world.submit({ a: 'a' });
    await world.untilQuiet();
    await world.stop();
    await world.cancel(number);
    const found = await world.app.queues.find(world.queueId);
    assert.ok(found);
    await world.store.queues.delete(world.queueId, found.version, { at: world.app.clock.now(), by: 'ada' });
    assert.equal(ownRefs(world).length, 2);
    await sweepRefs(world.app);
    assert.deepEqual(ownRefs(world), []);
  });

  it('does a part in each round where there is very much, and gets to the end [N5]', async () => {
    const world = await createWorld();
    await world.land({ a: 'a' });
    const id = idOf(world, 1);
    leaveRefs(world, id);
    for (let count = 0; count < 1_200; count += 1) {
      const unknown = `0${randomUUID().slice(1)}`;
      world.repository.git.changeRefs([{ ref: `refs/sluice/candidates/${unknown}`, sha: world.head }]);
    }
    const places = new Map();
    for (let round = 0; round < 4; round += 1) await sweepRefs(world.app, places);
    assert.equal(ownRefs(world).length, 1_200);
    assert.equal(world.repository.git.findRef(`refs/sluice/candidates/${id}`), undefined);
  });

  it('leaves commits of failed runs for 14 days, and the newest 200 [E93]', async () => {
    const world = await createWorld({ settings: { requiredStatuses: ['ci'], confirmFailures: 'NEVER' } });
    await world.submit({ a: 'a' });
    await world.untilQuiet();
    const check = { name: 'ci', status: 'COMPLETED' as const, conclusion: 'FAILURE' as const, startedAt: undefined };
    const at = Date.now();
    await world.tell({
      kind: 'check_reported',
      at,
      candidate: 1 as CandidateNumber,
      check: { ...check, url: undefined, summary: undefined },
    });
    await world.untilQuiet();
    const places = new Map();
    const sweepAfter = (ms: number) =>
      sweepRefs({ ...world.app, clock: { ...world.app.clock, now: () => at + ms } }, places);
    const kept = [`refs/sluice/candidates/${idOf(world, 1)}`];
    await sweepAfter(0);
    assert.deepEqual(ownRefs(world), kept);
    await sweepAfter(KEPT_MS - 60_000);
    assert.deepEqual(ownRefs(world), kept);
    await sweepAfter(KEPT_MS + 60_000);
    assert.deepEqual(ownRefs(world), []);
    const ends = Array.from({ length: 203 }, (_, index) => [`${index}`, index] as const);
    assert.deepEqual(outdated({ after: '', kept: new Map(ends) }, 300), ['2', '1', '0']);
  });

  it('passes over repositories that are known by their test results alone [N5] [G86]', async () => {
    const world = await createWorld();
    const [known] = await world.app.store.repositories.listAll();
    assert.ok(known !== undefined);
    const hosted = 'hosted.example';
    for (const host of [PLAIN_GIT_HOST, 'elsewhere.example', hosted])
      await world.app.store.repositories.save({ ...known, id: host as RepositoryId, host, owner: 'them', git: null });
    const queued = { ...known, id: 'queued' as RepositoryId, host: hosted, git: null, forgeId: '7' };
    await world.app.store.repositories.save(queued);
    const asked: string[] = [];
    const local: Forge = Object.create(world.forge, {
      listCandidateIds: { value: async ({ id }: ForgeRepository) => asked.push(id) && [] },
    });
    const people: Forge = Object.create(local, { hosting: { value: {} } });
    const forges = new Map([...world.app.forges, [PLAIN_GIT_HOST, local], [hosted, people]]);
    await sweepRefs({ ...world.app, forges });
    assert.deepEqual(asked, ['queued']);
  });

  it('goes on with a forge that was away [N5]', async () => {
    const world = await createWorld();
    await world.land({ a: 'a' });
    leaveRefs(world, idOf(world, 1));
    world.forge.isBroken = true;
    await sweepRefs(world.app);
    assert.equal(ownRefs(world).length, 2);
    world.forge.isBroken = false;
    await sweepRefs(world.app);
    assert.deepEqual(ownRefs(world), []);
  });
});
