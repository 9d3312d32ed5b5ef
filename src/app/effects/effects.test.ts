import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { FakeForge, type FakeForgeOptions } from '../../../test/fake/fake-forge.ts';
import type { MergeHooks } from '../../../test/fake/fake-merge-api.ts';
import { branchRef } from '../../../test/fake/fake-repository.ts';
import { ShellWorld } from '../../../test/worlds/shell/shell-world.ts';
import type { CandidateNumber } from '../../engine/model/candidate.ts';
import type { LandCandidate } from '../../engine/model/effect.ts';
import type { PrNumber } from '../../engine/model/pull-request.ts';
import { findCandidate, findEntry } from '../../engine/model/queue.ts';
import { candidatesOf } from '../../engine/model/roster.ts';
import type { QueueSettings } from '../../engine/model/settings.ts';
import type { BuildRequest, LandRequest, PublishRequest } from '../../forge/forge.ts';
import type { Hosting } from '../../forge/hosting.ts';
import { Fault } from '../../lib/fault.ts';
import { setIn, valuesOf } from '../../lib/int-map.ts';
import type { Sha } from '../../lib/sha.ts';
import { createMemoryStore } from '../../storage/sqlite/create-memory-store.ts';
import { currentTestSettings } from '../../storage/test-codec.ts';
import type { App } from '../core/app.ts';
import { candidateIdOf } from '../core/entry-id.ts';
import { toForgeRepository } from '../core/find-queue.ts';
import { buildCandidate, discardCandidate } from './build-candidate.ts';
import type { EffectAnswer, EffectRun } from './effect-run.ts';
import { landCandidate } from './land-candidate.ts';
import { startChecks } from './start-checks.ts';

const NOON = Date.UTC(2026, 8, 17, 12);
const [FIRST, SECOND] = [1 as CandidateNumber, 2 as CandidateNumber];
const [A, B] = [1 as PrNumber, 2 as PrNumber];
const DONE = { kind: 'done' };

/** Records the requests to the fake forge. */
class WatchedForge extends FakeForge {
  readonly builds: BuildRequest[] = [];
  readonly landings: LandRequest[] = [];
  readonly published: PublishRequest[] = [];

  override buildCandidate(request: BuildRequest) {
    this.builds.push(request);
    return super.buildCandidate(request);
  }

  override publishCandidate(request: PublishRequest) {
    this.published.push(request);
    return super.publishCandidate(request);
  }

  override landCandidate(request: LandRequest) {
    this.landings.push(request);
    return super.landCandidate(request);
  }
}

/** Only the test runs effects. */
class World extends ShellWorld {
  now = NOON;
  readonly clock = { now: () => this.now, after: (_ms: number, act: () => void) => cancelable(setImmediate(act)) };
  readonly store = createMemoryStore();
  readonly forge: WatchedForge;
  readonly app: App;

  constructor(options: FakeForgeOptions) {
    super();
    this.forge = new WatchedForge(this.repository, options);
    this.forge.protection = ['ci'];
    this.app = this.createServer();
  }

  static create(settings: Partial<QueueSettings> = {}, options: FakeForgeOptions = {}): Promise<World> {
    return new World(options).begin({ concurrency: 2, ...settings });
  }

  submit(files: Readonly<Record<string, string>>, message?: string): Promise<PrNumber> {
    return this.submitFiles(files, {}, message);
  }

  /** The queue as a worker finds it now. */
  async run(): Promise<EffectRun> {
    const found = await this.app.queues.find(this.queueId);
    assert.ok(found);
    const repository = (await this.app.store.repositories.listAll()).find(({ id }) => id === found.repositoryId);
    assert.ok(repository);
    return {
      app: this.app,
      found: { ...found, repository },
      forge: this.forge,
      checks: [],
      junit: [],
      checksBlocked: undefined,
      repository: toForgeRepository(repository),
    };
  }

  async tellAnswer(answer: EffectAnswer): Promise<void> {
    if (answer.kind === 'event') await this.tell({ ...answer.event, at: this.now });
  }

  async build(candidate: CandidateNumber): Promise<void> {
    await this.tellAnswer(await buildCandidate(await this.run(), { kind: 'build_candidate', candidate }));
  }

  async pass(candidate: CandidateNumber): Promise<void> {
    const nothing = { startedAt: undefined, url: undefined, summary: undefined };
    const check = { name: 'ci', status: 'COMPLETED' as const, conclusion: 'SUCCESS' as const, ...nothing };
    await this.tell({ kind: 'check_reported', at: this.now, candidate, check });
  }

  get testBranches(): string[] {
    return this.repository.git.listRefs(branchRef('sluice/')).map(([ref]) => ref);
  }
}

function cancelable(turn: NodeJS.Immediate): () => void {
  return () => clearImmediate(turn);
}

/** Runs also a long landing to its end. */
async function landToEnd(run: EffectRun, effect: LandCandidate): Promise<EffectAnswer> {
  const answer = await landCandidate(run, effect);
  return answer.kind === 'long_running' ? answer.run(new AbortController().signal) : answer;
}

describe('landing a candidate', () => {
  let world: World;
  let base: Sha;

  beforeEach(async () => {
    world = await World.create({ mergeMethod: 'MERGE_COMMIT' });
    base = world.head;
    await world.submit({ a: 'a' }, 'Add a');
    await world.build(FIRST);
    await world.pass(FIRST);
  });

  function land(run: EffectRun, expectedHead = base): Promise<EffectAnswer> {
    return landToEnd(run, { kind: 'land_candidate', candidate: FIRST, expectedHead });
  }

  async function refuse(): Promise<void> {
    const problem = { kind: 'not_composable' as const };
    await world.tell({ kind: 'landing_refused', at: world.now, candidate: FIRST, problem });
  }

  it('asks for exactly what passed, from the head that is expected [L1]', async () => {
    const run = await world.run();
    const candidate = findCandidate(run.found.queue, FIRST);
    const answer = await land(run);
    assert.deepEqual(world.forge.landings, [
      {
        repository: run.repository,
        targetBranch: 'main',
        candidateId: candidateIdOf(world.queueId, FIRST),
        proofKey: world.app.store.signingKey,
        expectedHead: base,
        base,
        ...candidate?.commit,
        entries: [{ prNumber: A, headSha: world.repository.getPullRequestHead(A), title: 'Add a', author: 'Ada' }],
        composedWith: [],
        isCalledOff: false,
        mergeMethod: 'MERGE_COMMIT',
        landingMode: 'PUSH',
        plannedAt: NOON,
      },
    ]);
    assert.equal(answer.kind === 'event' && answer.event.kind, 'candidate_landed');
    await world.tellAnswer(answer);
    assert.equal((await world.queue()).head?.sha, world.head);
    assert.equal((await world.queue()).landing, undefined);
  });

  it('names its own base and what landed since, where that is another head [L1] [L3]', async () => {
    world = await World.create({ mode: 'PARALLEL' });
    base = world.head;
    await world.submit({ a: 'a' });
    await world.submit({ b: 'b' });
    for (const candidate of [FIRST, SECOND]) await world.build(candidate);
    await world.pass(FIRST);
    await world.tellAnswer(await land(await world.run()));
    const expectedHead = world.head;
    world.now += 60_000;
    await world.pass(SECOND);
    const answer = await landToEnd(await world.run(), { kind: 'land_candidate', candidate: SECOND, expectedHead });
    const { composedWith, plannedAt, ...request } = world.forge.landings[1] as LandRequest;
    assert.deepEqual([request.base, request.expectedHead, composedWith, plannedAt], [base, expectedHead, [A], NOON]);
    assert.equal(answer.kind === 'event' && 'how' in answer.event && answer.event.how, 'COMPOSED');
  });

  it('lands nothing for a landing that is not asked for any more [L1] [I4]', async () => {
    const earlier = await world.run();
    await refuse();
    assert.deepEqual(await land(earlier), DONE);
    assert.deepEqual(await land(await world.run()), DONE);
    assert.equal(world.head, base);
  });

  it('lands nothing for a landing from another head than the one asked for now [L1]', async () => {
    const other = world.repository.getPullRequestHead(A);
    assert.deepEqual(await land(await world.run(), other), DONE);
    assert.deepEqual(world.forge.landings, []);
  });

  it('lands nothing that has not passed [L1]', async () => {
    const { found, ...run } = await world.run();
    const candidate = findCandidate(found.queue, FIRST);
    assert.ok(candidate);
    const candidates = setIn(found.queue.candidates, FIRST, { ...candidate, state: 'testing' as const });
    assert.deepEqual(await land({ ...run, found: { ...found, queue: { ...found.queue, candidates } } }), DONE);
    assert.deepEqual(world.forge.landings, []);
  });

  /** The forge was asked, and its answer got lost. */
  async function begin(): Promise<void> {
    world.forge.isBroken = true;
    await assert.rejects(land(await world.run()));
    world.forge.isBroken = false;
  }

  it('begins no landing in a queue that was paused a moment ago, and lands when it goes on [L5]', async () => {
    const earlier = await world.run();
    await world.setState('PAUSED');
    for (const run of [earlier, await world.run()]) assert.deepEqual(await land(run), DONE);
    assert.deepEqual(world.forge.landings, []);
    await world.setState('RUNNING');
    await land(await world.run());
    assert.notEqual(world.head, base);
  });

  it('waits with a landing that has begun while the queue is paused [L5]', async () => {
    await begin();
    const earlier = await world.run();
    await world.setState('PAUSED');
    for (const run of [earlier, await world.run()]) {
      assert.deepEqual(await land(run), { kind: 'later', delayMs: 1_000 });
    }
    assert.equal(world.head, base);
    await world.setState('RUNNING');
    await land(await world.run());
    assert.notEqual(world.head, base);
  });

  it('gives up a landing that has begun when it is cancelled while the queue is paused [L5] [L24]', async () => {
    await begin();
    await world.setState('PAUSED');
    await world.cancel(A);
    const answer = await land(await world.run());
    assert.deepEqual(answer, {
      kind: 'event',
      event: { kind: 'landing_refused', candidate: FIRST, problem: { kind: 'called_off' } },
    });
    assert.equal(world.head, base);
  });

  it('waits while the queue is parked, also where that happened a moment ago [I2]', async () => {
    const earlier = await world.run();
    const pushed = { pushedSha: base, pushedTree: base };
    await world.tell({
      kind: 'candidate_landed',
      at: NOON,
      candidate: FIRST,
      how: 'SAME_TREE',
      base,
      ...pushed,
      entries: [],
    });
    assert.ok((await world.queue()).parked);
    for (const run of [earlier, await world.run()]) {
      assert.deepEqual(await land(run), { kind: 'later', delayMs: 1_000 });
    }
    assert.equal(world.head, base);
  });

  it('lands nothing in a queue that is gone [Q2]', async () => {
    const earlier = await world.run();
    await world.app.store.queues.delete(world.queueId, earlier.found.version, { at: NOON, by: 'ada' });
    world.app.queues.forget(world.queueId);
    assert.deepEqual(await land(earlier), DONE);
    assert.equal(world.head, base);
  });

  it('lands nothing whose removal was asked for before it began [L24]', async () => {
    const earlier = await world.run();
    await world.cancel(A);
    for (const run of [earlier, await world.run()]) assert.deepEqual(await land(run), DONE);
    assert.deepEqual(world.forge.landings, []);
    assert.equal((await world.app.store.queueRecords.findEntries(world.queueId, [A]))[0]?.state, 'CANCELLED');
  });

  it('says that it landed where the removal was asked for after the target moved [L24]', async () => {
    await land(await world.run());
    const landed = world.head;
    await world.cancel(A);
    const answer = await land(await world.run());
    assert.equal(answer.kind === 'event' && answer.event.kind, 'candidate_landed');
    await world.tellAnswer(answer);
    assert.equal(world.head, landed);
    const row = await world.app.store.queueRecords.findEntries(world.queueId, [A]);
    assert.equal(row[0]?.state, 'MERGED');
  });

  it('tells where the target is instead, and whether the old head is in it [L23] [C6]', async () => {
    const head = world.repository.commit('main', { files: { x: 'x' } });
    const problem = { kind: 'target_moved', head, isDescendant: true };
    assert.deepEqual(await land(await world.run()), {
      kind: 'event',
      event: { kind: 'landing_refused', candidate: FIRST, problem },
    });
  });

  it('names the pull request that was pushed to [L6]', async () => {
    world.repository.push(A, { files: { a: 'b' } });
    const problem = { kind: 'entry_refused', prNumber: A, reason: 'PR_UPDATED_AT_MERGE_TIME' };
    assert.deepEqual(await land(await world.run()), {
      kind: 'event',
      event: { kind: 'landing_refused', candidate: FIRST, problem },
    });
  });
});

describe('landing by a merge API', () => {
  const refusal = { kind: 'refused', reason: 'GITHUB_API_MERGE_PR_FAILED', detail: 'No.' } as const;
  let world: World;
  let base: Sha;

  /** A and B in one batch, which has passed. */
  async function prepare(before?: MergeHooks['before'], settings: Partial<QueueSettings> = {}): Promise<void> {
    const merging = before === undefined ? {} : { before };
    const batch = { batch: true, batchingMinSize: 2, landingMode: 'API' } as const;
    world = await World.create({ ...batch, ...settings }, { merging });
    base = world.head;
    await world.submit({ a: 'a' });
    await world.submit({ b: 'b' });
    await world.build(FIRST);
    await world.pass(FIRST);
  }

  async function land(): Promise<EffectAnswer> {
    const answer = await landToEnd(await world.run(), {
      kind: 'land_candidate',
      candidate: FIRST,
      expectedHead: base,
    });
    await world.tellAnswer(answer);
    return answer;
  }

  const stateOf = async (number: PrNumber) =>
    (await world.app.store.queueRecords.findEntry(world.queueId, number))?.state;
  const stateNow = async (number: PrNumber) => findEntry(await world.queue(), number)?.state;

  it('occupies no worker while the forge merges, and says that all have landed [L9] [G20]', async () => {
    await prepare();
    const effect = { kind: 'land_candidate', candidate: FIRST, expectedHead: base } as const;
    assert.equal((await landCandidate(await world.run(), effect)).kind, 'long_running');
    const answer = await land();
    const event = answer.kind === 'event' && answer.event.kind === 'candidate_landed' ? answer.event : undefined;
    assert.deepEqual([event?.how, event?.entries.map(({ kind }) => kind)], ['SAME_TREE', ['PREFIX', undefined]]);
    assert.deepEqual([await stateOf(A), await stateOf(B)], ['MERGED', 'MERGED']);
  });

  it('fails the one that the forge will not have, and goes on with the other [L29]', async () => {
    await prepare((_request, { prNumber }) => (prNumber === B ? refusal : undefined));
    await land();
    assert.deepEqual([await stateOf(A), await stateOf(B)], ['MERGED', 'FAILED']);
  });

  it('tells of a push in between, and of a merge onto one [L29]', async () => {
    const push = (number: PrNumber): MergeHooks['before'] => {
      return (_request, { prNumber }) => {
        if (prNumber === number) world.repository.commit('main', { files: { x: 'x' } });
        return undefined;
      };
    };
    await prepare(push(B));
    await land();
    assert.deepEqual([await stateOf(A), await stateOf(B)], ['MERGED', 'MERGED']);
    const row = await world.app.store.queueRecords.findEntry(world.queueId, B);
    assert.equal((JSON.parse(row?.body ?? '') as { landed: { kind: string } }).landed.kind, 'UNPROVEN');
    assert.equal((await world.queue()).head?.sha, world.head);
  });

  it('goes on in the way it began in when the setting changes [L30]', async () => {
    await prepare();
    await world.tell({
      kind: 'queue_updated',
      at: NOON,
      actor: 'ada',
      settings: { landingMode: 'PUSH' },
      state: undefined,
    });
    await land();
    assert.equal(world.forge.landings[0]?.landingMode, 'API');
  });

  it('lets the forge ask whether it is still wanted, and knows when somebody took an entry back [L24]', async () => {
    await prepare();
    await land();
    const { isStillWanted } = world.forge.landings[0] as LandRequest;
    assert.equal(await isStillWanted?.(), true);
    await prepare(() => {
      throw new Fault('FORGE_UNAVAILABLE', 'gone');
    });
    await assert.rejects(land());
    await world.cancel(B);
    assert.equal(await world.forge.landings[0]?.isStillWanted?.(), false);
    assert.equal(await stateNow(B), 'TESTS_PASSED');
  });

  it('calls a direct merge that was refused by its own name [G24] [L8]', async () => {
    const direct = { directMergeMode: 'ALWAYS', landingMode: 'API' } as const;
    world = await World.create(direct, { passedChecks: () => ['ci'], merging: { before: () => refusal } });
    base = world.head;
    await world.submit({ a: 'a' });
    await world.build(FIRST);
    const answer = await land();
    const problem = {
      kind: 'entry_refused',
      prNumber: A,
      reason: 'GITHUB_API_DIRECT_MERGE_PR_FAILED',
      detail: 'No.',
    };
    assert.deepEqual(answer, { kind: 'event', event: { kind: 'landing_refused', candidate: FIRST, problem } });
  });
});

describe('a direct merge', () => {
  for (const autoQuarantine of [false, true]) {
    it(`${autoQuarantine ? 'takes the usual way' : 'lands'} where automatic quarantine is ${autoQuarantine ? 'on' : 'off'} [L28]`, async () => {
      const world = await World.create({ directMergeMode: 'ALWAYS' }, { passedChecks: () => ['ci'] });
      const { app, found } = await world.run();
      const { settings, monitors } = currentTestSettings(found.repository, undefined);
      const audit = { at: NOON, actor: 'ada', detail: '{}' };
      const changed = { settings: { ...settings, autoQuarantine }, monitors };
      assert.ok(await app.store.testSettings.save(found.repositoryId, 0, changed, audit));
      await world.submit({ a: 'a' });
      await world.build(FIRST);
      const live = candidatesOf(await world.queue()).map(({ purpose, state }) => `${purpose.kind} ${state}`);
      assert.deepEqual(live, [autoQuarantine ? 'main building' : 'direct passed']);
    });
  }
});

describe('building a candidate', () => {
  let world: World;

  beforeEach(async () => {
    world = await World.create({ mergeMethod: 'MERGE_COMMIT' });
    await world.submit({ a: 'a' }, 'Add a');
    await world.submit({ b: 'b' }, 'Add b');
  });

  async function build(candidate: CandidateNumber): Promise<EffectAnswer> {
    return buildCandidate(await world.run(), { kind: 'build_candidate', candidate });
  }

  it('waits for the one it is built on, the longer the longer that takes [C1]', async () => {
    assert.deepEqual(await build(SECOND), { kind: 'later', delayMs: 25 });
    // Instants are whole milliseconds: PostgreSQL refuses anything else.
    world.now += 8_003;
    assert.deepEqual(await build(SECOND), { kind: 'later', delayMs: 2_000 });
    world.now += 3_600_000;
    assert.deepEqual(await build(SECOND), { kind: 'later', delayMs: 5_000 });
    assert.deepEqual(world.forge.builds, []);
  });

  it('uses the commit of the one ahead, also where that has ended since [C1] [L1]', async () => {
    await world.build(FIRST);
    const parent = findCandidate(await world.queue(), FIRST)?.commit?.sha;
    const base = world.head;
    await world.pass(FIRST);
    await world.tellAnswer(
      await landToEnd(await world.run(), { kind: 'land_candidate', candidate: FIRST, expectedHead: base }),
    );
    assert.equal(findCandidate(await world.queue(), FIRST), undefined);
    await world.build(SECOND);
    const entry = (prNumber: PrNumber, title: string) => ({
      prNumber,
      headSha: world.repository.getPullRequestHead(prNumber),
      title,
      author: 'Ada',
    });
    const { repository } = await world.run();
    assert.deepEqual(world.forge.builds[1], {
      repository,
      targetBranch: 'main',
      candidateId: candidateIdOf(world.queueId, SECOND),
      proofKey: world.app.store.signingKey,
      base,
      parent,
      beneath: [entry(A, 'Add a')],
      members: [entry(B, 'Add b')],
      mergeMethod: 'MERGE_COMMIT',
      plannedAt: NOON,
    });
    assert.equal(findCandidate(await world.queue(), SECOND)?.state, 'testing');
  });

  it('happens once, and not after the candidate has ended [C11]', async () => {
    await world.build(FIRST);
    assert.deepEqual(await build(FIRST), DONE);
    await world.cancel(B);
    assert.deepEqual(await build(SECOND), DONE);
    assert.equal(world.forge.builds.length, 1);
  });

  it('tells who conflicts with whom [C9]', async () => {
    await world.cancel(B);
    const clashing = await world.submit({ a: 'another' }, 'Add another a');
    await world.build(FIRST);
    const candidate = 3 as CandidateNumber;
    assert.deepEqual(await build(candidate), {
      kind: 'event',
      event: { kind: 'candidate_conflicted', candidate, prNumber: clashing, culprit: A, files: ['a'] },
    });
  });

  it('a conflict with a head that the branch has left decides nothing [C9]', async () => {
    const base = world.head;
    await world.observe(world.repository.commit('main', { files: { a: 'theirs' } }));
    world.repository.moveBranch('main', base);
    const { candidates } = await world.queue();
    const [candidate] = [...valuesOf(candidates)].filter(({ members }) => members[0]?.prNumber === A);
    assert.ok(candidate);
    assert.deepEqual(await build(candidate.number), { kind: 'later', delayMs: 0 });
    assert.equal((await world.queue()).head?.sha, base);
    assert.deepEqual(await build(candidate.number), DONE);
    const again = [...valuesOf((await world.queue()).candidates)].find(({ members }) => members[0]?.prNumber === A);
    assert.ok(again);
    await world.build(again.number);
    assert.equal(findEntry(await world.queue(), A)?.state, 'TESTING');
  });
});

describe('showing a candidate to CI', () => {
  const refusal = { kind: 'refused', reason: 'START_TEST_RUN_NO_REQUIRED_STATUSES', detail: 'no' } as const;

  it('publishes its commit under a branch of its own, and removes that when it has ended [C11]', async () => {
    const world = await World.create({ mergeMethod: 'MERGE_COMMIT' });
    await world.submit({ a: 'a' });
    const start = { kind: 'start_checks', candidate: FIRST } as const;
    assert.deepEqual(await startChecks(await world.run(), start), DONE);
    assert.deepEqual(world.testBranches, []);
    await world.build(FIRST);
    assert.deepEqual(await startChecks(await world.run(), start), DONE);
    const id = candidateIdOf(world.queueId, FIRST);
    assert.deepEqual(world.testBranches, [branchRef(`sluice/pr-1/${id}`)]);
    await world.cancel(A);
    await discardCandidate(await world.run(), { kind: 'discard_candidate', candidate: FIRST });
    assert.deepEqual(world.testBranches, []);
    assert.equal(world.repository.git.findRef(`refs/sluice/candidates/${id}`), undefined);
    assert.deepEqual(await startChecks(await world.run(), start), DONE);
    assert.deepEqual(world.testBranches, []);
  });

  it('occupies no worker while hooks of the repository run [L13]', async () => {
    const world = await World.create({ mergeMethod: 'MERGE_COMMIT' });
    await world.submit({ a: 'a' });
    await world.build(FIRST);
    const run = await world.run();
    const hooked = { ...run, repository: { ...run.repository, runHooks: true } };
    const answer = await startChecks(hooked, { kind: 'start_checks', candidate: FIRST });
    assert.equal(answer.kind, 'long_running');
    assert.deepEqual(world.testBranches, []);
    if (answer.kind === 'long_running') assert.deepEqual(await answer.run(new AbortController().signal), DONE);
    assert.equal(world.testBranches.length, 1);
  });

  it('shows nothing of a candidate that is decided [V1]', async () => {
    const world = await World.create({ mergeMethod: 'MERGE_COMMIT' });
    await world.submit({ a: 'a' });
    await world.build(FIRST);
    await world.pass(FIRST);
    assert.deepEqual(await startChecks(await world.run(), { kind: 'start_checks', candidate: FIRST }), DONE);
    assert.deepEqual(world.testBranches, []);
  });

  it('tells that it cannot be shown [C8]', async () => {
    const world = await World.create({}, { refusePublish: () => refusal });
    await world.submit({ a: 'a' });
    await world.build(FIRST);
    const { reason, detail } = refusal;
    assert.deepEqual(await startChecks(await world.run(), { kind: 'start_checks', candidate: FIRST }), {
      kind: 'event',
      event: { kind: 'candidate_unbuildable', candidate: FIRST, reason, detail },
    });
  });

  it('names the branch of a bisection run with the suffix -bisection [B4]', async () => {
    const world = await World.create({ batch: true, batchingMinSize: 2 });
    await world.submit({ a: 'a' });
    await world.submit({ b: 'b' });
    await world.build(FIRST);
    const nothing = { startedAt: undefined, url: undefined, summary: undefined };
    const check = { name: 'ci', status: 'COMPLETED' as const, conclusion: 'FAILURE' as const, ...nothing };
    await world.tell({ kind: 'check_reported', at: NOON, candidate: FIRST, check });
    await world.build(SECOND);
    await startChecks(await world.run(), { kind: 'start_checks', candidate: SECOND });
    const branch = branchRef(`sluice/pr-1/${candidateIdOf(world.queueId, SECOND)}-bisection`);
    assert.deepEqual(world.testBranches, [branch]);
    await world.cancel(A);
    await discardCandidate(await world.run(), { kind: 'discard_candidate', candidate: SECOND });
    assert.deepEqual(world.testBranches, []);
  });
});

describe('start_checks', () => {
  for (const [isOn, isHosted] of [
    [true, true],
    [true, false],
    [false, true],
  ] as const) {
    it(`${isOn && isHosted ? 'opens' : 'needs no'} draft (setting ${isOn}, hosted ${isHosted}) [G6]`, async () => {
      const world = await World.create({ createPrsForTestingBranches: isOn, mode: 'SINGLE' });
      if (isHosted) Object.assign(world.forge, { hosting: {} as Hosting });
      await world.submit({ a: '1' }, 'Add <b>a</b>');
      await world.submit({ b: '1' }, 'Add b');
      for (const candidate of [FIRST, SECOND]) {
        await world.build(candidate);
        await startChecks(await world.run(), { kind: 'start_checks', candidate });
      }
      const bodies = world.forge.published.map(({ draft }) => draft?.body);
      if (!isOn || !isHosted) return assert.deepEqual(bodies, [undefined, undefined]);
      assert.match(bodies[0] ?? '', /Tested:\n\n- #1 Add \\<b\\>a\\<\/b\\>$/);
      assert.match(bodies[1] ?? '', /Tested:\n\n- #2 Add b\n\nOn top of:\n\n- #1 Add/);
    });
  }
});
