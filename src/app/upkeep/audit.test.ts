import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FakeForge } from '../../../test/fake/fake-forge.ts';
import type { MergeHooks } from '../../../test/fake/fake-merge-api.ts';
import type { FakeRepository } from '../../../test/fake/fake-repository.ts';
import { maker } from '../../../test/helpers/made.ts';
import { QueueWorld, type QueueWorldOptions } from '../../../test/worlds/shell/queue-world.ts';
import type { PrNumber } from '../../engine/model/pull-request.ts';
import type { LandAnswer, LandRequest } from '../../forge/forge.ts';
import type { Sha } from '../../lib/sha.ts';
import { explain } from '../../words/explain.ts';
import { decodeShownEntry } from '../core/queue-codec.ts';
import { audit } from './audit.ts';

const LIMIT = { timeout: 20_000 };

const createWorld = maker((options?: QueueWorldOptions) => QueueWorld.create(options));

async function codes(world: QueueWorld): Promise<string[]> {
  return (await world.alarms()).map(({ code }) => code);
}

async function markOf(world: QueueWorld) {
  const mark = await world.store.alarms.findMark(world.queueId);
  return mark && { sha: mark.sha, version: mark.version };
}

/** Reports the tested commit as landed, and pushes another one. */
class LyingForge extends FakeForge {
  readonly #repository: FakeRepository;

  constructor(repository: FakeRepository) {
    super(repository);
    this.#repository = repository;
  }

  override async landCandidate(request: LandRequest): Promise<LandAnswer> {
    const answer = await super.landCandidate(request);
    if (answer.kind !== 'landed') return answer;
    const { git } = this.#repository;
    const tree = git.writeTree(new Map([['other', 'never tested']]));
    const { sha } = git.writeCommit({
      parents: [request.expectedHead],
      tree,
      author: 'Eve',
      message: 'Other',
      at: request.plannedAt,
    });
    this.#repository.moveBranch('main', sha);
    return { ...answer, how: 'SAME_TREE', pushedSha: sha };
  }
}

describe('the audit', LIMIT, () => {
  it('raises nothing at its first round, and nothing for what the queue landed [N3] [N4]', async () => {
    const world = await createWorld();
    await world.land({ a: 'a' });
    await audit(world.app);
    const first = await markOf(world);
    assert.equal(first?.sha, world.head);
    await world.land({ b: 'b' });
    await world.land({ c: 'c' });
    await audit(world.app);
    assert.deepEqual(await codes(world), []);
    assert.equal((await markOf(world))?.sha, world.head);
    assert.notEqual((await markOf(world))?.version, first?.version);
  });

  for (const mergeMethod of ['MERGE_COMMIT', 'SQUASH', 'REBASE'] as const) {
    it(`proves landings that were composed, by ${mergeMethod} [N4]`, async () => {
      const settings = { mode: 'PARALLEL', mergeMethod, requiredStatuses: ['ci'] } as const;
      const world = await createWorld({ settings });
      await audit(world.app);
      const [one, two] = [await world.submit({ a: 'a' }), await world.submit({ b: 'b' })];
      await world.untilQuiet();
      const nothing = { startedAt: undefined, url: undefined, summary: undefined };
      const check = { name: 'ci', status: 'COMPLETED' as const, conclusion: 'SUCCESS' as const, ...nothing };
      for (const candidate of [1, 2]) {
        await world.tell({ kind: 'check_reported', at: Date.now(), candidate: candidate as never, check });
        await world.untilQuiet();
      }
      const landed = await world.store.queueRecords.findEntries(world.queueId, [one, two]);
      const kinds = landed.map(({ body }) => (JSON.parse(body) as { landed: { kind: string } }).landed.kind);
      assert.deepEqual(kinds.toSorted(), ['COMPOSED', 'IDENTICAL']);
      await audit(world.app);
      assert.deepEqual(await codes(world), []);
      assert.equal((await markOf(world))?.sha, world.head);
    });
  }

  it('tells which landings a rewrite removed from the branch, and which came back [N14]', async () => {
    const world = await createWorld();
    const lost: unknown[] = [];
    world.app.queues.listen((_loaded, { feed }) => {
      lost.push(...feed.filter(({ type }) => type === 'landing.lost').map(({ prNumber }) => prNumber));
    });
    await audit(world.app);
    const begin = world.head as Sha;
    const number = await world.land({ a: 'a' });
    const landed = world.head as Sha;
    await audit(world.app);
    const told = async () => {
      const found = await world.app.queues.find(world.queueId);
      const [row] = await world.store.queueRecords.findEntries(world.queueId, [number]);
      assert.ok(found !== undefined && row !== undefined);
      const { headline, next, reasons } = explain(found.queue, decodeShownEntry(row), Date.now());
      return `${headline}. ${reasons[0]?.text} ${next}`;
    };
    assert.match(await told(), /Nothing to do: it is on main\.$/);
    world.repository.moveBranch('main', begin);
    world.repository.commit('main', { files: { other: 'x' } });
    await audit(world.app);
    await audit(world.app);
    assert.match(
      await told(),
      /^Landed, and no longer on main\. Landed as [0-9a-f]{12}; main was rewritten at [-0-9: ]+UTC and no longer contains it\. Submit it again, or ask who pushed\.$/,
    );
    assert.deepEqual(lost, [number]);
    world.repository.moveBranch('main', landed);
    await audit(world.app);
    assert.match(await told(), /it is on main\.$/);
  });

  it('proves landings of a merge API one by one, and alarms once for a landing it cannot prove [N4] [L9]', async () => {
    const settings = { batch: true, batchingMinSize: 2, landingMode: 'API' } as const;
    let strayed: number | undefined;
    const before: MergeHooks['before'] = (_request, { prNumber }) => {
      if (prNumber === strayed) world.repository.commit('main', { files: { past: 'the queue' }, author: 'Eve' });
      return undefined;
    };
    const world = await createWorld({ settings, forge: { merging: { before } } });
    await audit(world.app);
    const kindsOf = async (numbers: readonly PrNumber[]) => {
      const rows = await world.store.queueRecords.findEntries(world.queueId, numbers);
      return rows.map(({ body }) => (JSON.parse(body) as { landed: { kind: string } }).landed.kind).toSorted();
    };
    const one = [await world.submit({ a: 'a' }), await world.submit({ b: 'b' })];
    await world.untilQuiet();
    await audit(world.app);
    assert.deepEqual([await kindsOf(one), await codes(world)], [['PREFIX', 'SAME_TREE'], []]);
    const two = [await world.submit({ c: 'c' })];
    strayed = (two[0] as number) + 1;
    two.push(await world.submit({ d: 'd' }));
    await world.untilQuiet();
    for (let round = 0; round < 2; round += 1) await audit(world.app);
    const [alarm, ...others] = await world.alarms();
    assert.deepEqual([await kindsOf(two), others], [['PREFIX', 'UNPROVEN'], []]);
    assert.equal(alarm?.code, 'UNPROVEN_LANDING');
    for (const part of [`#${strayed}`, world.head, 'Eve']) assert.ok(alarm?.text.includes(part), alarm?.text);
    assert.equal((await markOf(world))?.sha, world.head);
  });

  it('proves a direct merge [N4] [L8]', async () => {
    const settings = { directMergeMode: 'ALWAYS', requiredStatuses: ['ci'] } as const;
    const world = await createWorld({ settings, forge: { passedChecks: () => ['ci'] } });
    await audit(world.app);
    const { number } = world.repository.openPullRequest({ base: 'main', files: { a: 'a' } });
    world.repository.commit('main', { files: { b: 'b' } });
    await world.observe(world.head);
    world.repository.updatePullRequest(number);
    await world.enter(number, ['a']);
    await world.untilQuiet();
    assert.equal((await world.store.queueRecords.findEntry(world.queueId, number))?.state, 'MERGED');
    await audit(world.app);
    assert.deepEqual(await codes(world), ['FOREIGN_PUSH']);
    assert.equal((await markOf(world))?.sha, world.head);
  });

  it('tells of a push to an idle queue once, with what came [N1] [N10]', async () => {
    const world = await createWorld();
    await audit(world.app);
    const before = world.head;
    world.repository.commit('main', { files: { x: 'x' }, message: 'Quick fix', author: 'Eve' });
    const head = world.repository.commit('main', { files: { y: 'y' }, message: 'Another one' });
    for (let round = 0; round < 3; round += 1) await audit(world.app);
    const [alarm, ...others] = await world.alarms();
    assert.deepEqual(others, []);
    assert.equal(alarm?.code, 'FOREIGN_PUSH');
    for (const part of [before, head, '2 commits', 'Eve', '"Quick fix"'])
      assert.ok(alarm?.text.includes(part), alarm?.text);
    assert.deepEqual(world.errors, [alarm?.text]);
    assert.equal((await markOf(world))?.sha, head);
  });

  it('tells of a push while the queue is paused [N3]', async () => {
    const world = await createWorld();
    await world.setState('PAUSED');
    await audit(world.app);
    world.repository.commit('main', { files: { x: 'x' } });
    await audit(world.app);
    assert.deepEqual(await codes(world), ['FOREIGN_PUSH']);
  });

  it('says nothing of a push that the queue saw by itself, before or after it [N1] [N10]', async () => {
    const world = await createWorld();
    await audit(world.app);
    const first = world.repository.commit('main', { files: { x: 'x' } });
    await world.observe(first);
    await audit(world.app);
    assert.deepEqual(await codes(world), ['FOREIGN_PUSH']);
    const second = world.repository.commit('main', { files: { y: 'y' } });
    await audit(world.app);
    await world.observe(second);
    assert.deepEqual(await codes(world), ['FOREIGN_PUSH', 'FOREIGN_PUSH']);
  });

  it('tells each time when the same commit is pushed again after it was taken back [N10]', async () => {
    const world = await createWorld();
    const good = world.head;
    await audit(world.app);
    const bad = world.repository.commit('main', { files: { x: 'x' } });
    for (const head of [bad, good, bad]) {
      world.laterMs += 1_000;
      world.repository.moveBranch('main', head);
      await audit(world.app);
    }
    const alarms = await world.alarms();
    assert.deepEqual(
      alarms.map(({ text }) => [bad, good].findIndex((sha) => text.includes(`to ${sha}`))),
      [0, 1, 0],
    );
    assert.match(alarms[1]?.text ?? '', /rewritten/);
  });

  it('tells of landings that were taken off, and of a branch that is gone and comes back [N10]', async () => {
    const world = await createWorld();
    const start = world.head;
    await audit(world.app);
    await world.land({ a: 'a' });
    const landed = world.head;
    world.repository.moveBranch('main', start);
    await audit(world.app);
    assert.match((await world.alarms()).at(-1)?.text ?? '', /rewritten/);
    world.repository.moveBranch('main', undefined);
    await audit(world.app);
    assert.equal((await markOf(world))?.sha, null);
    world.repository.moveBranch('main', landed);
    await audit(world.app);
    assert.deepEqual(await codes(world), ['FOREIGN_PUSH', 'TARGET_GONE', 'FOREIGN_PUSH']);
    assert.equal((await markOf(world))?.sha, landed);
  });

  it('finds a landing that differs from the tested commit [N11]', async () => {
    const world = await createWorld({ createForge: (repository) => new LyingForge(repository) });
    await audit(world.app);
    await world.land({ a: 'a' });
    const other = world.createServer({ log: world.app.log });
    await Promise.all([audit(world.app), audit(other), audit(world.app)]);
    await audit(other);
    const [alarm, ...others] = await world.alarms();
    assert.deepEqual(others, []);
    assert.equal(alarm?.code, 'UNPROVEN_LANDING');
    assert.ok(alarm?.text.includes(world.head), alarm?.text);
    assert.deepEqual(world.errors, [alarm?.text]);
  });

  it('goes on from its mark when it could not ask git [N4]', async () => {
    const world = await createWorld();
    await audit(world.app);
    const mark = await markOf(world);
    await world.land({ a: 'a' });
    world.forge.isBroken = true;
    await audit(world.app);
    assert.deepEqual(await markOf(world), mark);
    world.forge.isBroken = false;
    await audit(world.app);
    assert.deepEqual((await markOf(world))?.sha, world.head as Sha);
    assert.deepEqual(await codes(world), []);
  });
});
