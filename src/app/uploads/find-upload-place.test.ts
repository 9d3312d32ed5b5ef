import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aPullRequest } from '../../../test/helpers/a-pull-request.ts';
import { silentLog } from '../../../test/helpers/silent-log.ts';
import { aCommit } from '../../../test/helpers/store-rows.ts';
import { junitOf, type Report } from '../../../test/worlds/shell/ingest-world.ts';
import { FIRST, WorkerWorld } from '../../../test/worlds/shell/worker-world.ts';
import type { Candidate, CandidateNumber, Purpose } from '../../engine/model/candidate.ts';
import { findCandidate } from '../../engine/model/queue.ts';
import type { PlaceQuestion } from '../../flaky/upload-place.ts';
import { createIngestLoop } from '../../ingest/ingest-loop.ts';
import { Fault } from '../../lib/fault.ts';
import type { Sha } from '../../lib/sha.ts';
import { decodeState } from '../../storage/test-codec.ts';
import { candidateIdOf } from '../core/entry-id.ts';
import { encodeCandidate } from '../core/queue-codec.ts';
import { findUploadPlace } from './find-upload-place.ts';

const CHECKS = [{ name: 'unit', command: 'run unit', timeoutMinutes: null }];
const SECOND = 2 as CandidateNumber;
const ELSEWHERE = 'e'.repeat(40) as Sha;

async function begin(): Promise<WorkerWorld> {
  const world = await WorkerWorld.create(CHECKS, ['reports/*.xml']);
  world.worker.start();
  return world;
}

async function candidateOf(world: WorkerWorld, number: CandidateNumber): Promise<Candidate> {
  const found = findCandidate(await world.queue(), number);
  assert.ok(found);
  return found;
}

/** The check of the candidate under test ends with these results. */
async function finish(world: WorkerWorld, report: Report, code: number): Promise<void> {
  const job = world.jobs.find('unit');
  await job?.leave({ 'reports/a.xml': junitOf(report) });
  job?.end({ kind: 'exited', code });
  await world.clock.pass(1_000);
  const findPlace = (question: PlaceQuestion) => findUploadPlace(world.app, question);
  await createIngestLoop(world.store, world.clock, silentLog, { findPlace }).runUntilIdle();
}

async function find({ store, repositoryId }: WorkerWorld, name: string) {
  const [row] = await store.tests.search(repositoryId, name, 1);
  const [found] = (await store.testIngest.load(repositoryId, [row?.id ?? ''])).known;
  assert.ok(found);
  const active = Object.values(decodeState(found.memory.state).monitors).find(({ evidence }) => evidence !== null);
  return { ...found.test, run: active?.evidence?.runs[0] };
}

describe('a test in runs of the queue', () => {
  it('is flaky if it fails in a candidate and passes in another one of the same tree [F1] [F85] [F86] [F88]', async () => {
    const world = await begin();
    const { number, headSha } = world.repository.openPullRequest({ base: 'main', files: { a: '1' } });
    const submit = async () => {
      await world.submitFacts(aPullRequest(number, { headSha, baseBranch: 'main' }));
      await world.clock.pass(10);
    };
    await submit();
    const first = await candidateOf(world, FIRST);
    await finish(world, { adds: 'fail', sums: 'pass', breaks: 'fail' }, 1);
    assert.equal((await find(world, 'adds')).status, 'HEALTHY');
    await submit();
    const second = await candidateOf(world, SECOND);
    assert.equal(second.commit?.tree, first.commit?.tree);
    assert.notEqual(second.commit?.sha, first.commit?.sha);
    await finish(world, { adds: 'pass', sums: 'pass', breaks: 'fail' }, 1);
    const [failedIn, passedIn] = [FIRST, SECOND].map((each) => candidateIdOf(world.queueId, each));
    const tree = first.commit?.tree ?? '';
    const adds = await find(world, 'adds');
    assert.equal(adds.status, 'FLAKY');
    const places = `failed in test run ${failedIn?.slice(0, 8)} and passed in test run ${passedIn?.slice(0, 8)}`;
    assert.equal(adds.statusReason, `Pass on retry: It ${places} of the same tree ${tree.slice(0, 12)} in unit.`);
    assert.equal(adds.run?.tree, tree);
    assert.deepEqual([adds.run?.failed?.sha, adds.run?.failed?.candidateId], [first.commit?.sha, failedIn]);
    assert.deepEqual([adds.run?.passed?.sha, adds.run?.passed?.candidateId], [second.commit?.sha, passedIn]);
    assert.deepEqual(
      [(await find(world, 'sums')).status, (await find(world, 'breaks')).status],
      ['HEALTHY', 'HEALTHY'],
    );
    await world.worker.stop();
  });
});

describe('the place of an upload', () => {
  const aQuestion = ({ repositoryId }: WorkerWorld, of: Partial<PlaceQuestion>): PlaceQuestion => ({
    ...{ repositoryId, sha: ELSEWHERE, branch: 'main', jobName: 'unit', candidateId: null, isOfRunner: false },
    ...of,
  });

  it('has the tree of its candidate of any purpose, and otherwise that of its commit [F86]', async () => {
    const world = await begin();
    await world.submit();
    await world.clock.pass(10);
    const first = await candidateOf(world, FIRST);
    await world.worker.stop();
    const { queueId } = world;
    const treeOf = async (of: Partial<PlaceQuestion>) => (await findUploadPlace(world.app, aQuestion(world, of))).tree;
    const tree = first.commit?.tree as Sha;
    const purposes: readonly Purpose[] = [{ kind: 'main' }, { kind: 'bisection', bisection: 1 }, { kind: 'head' }];
    const { version } = (await world.store.queues.load(queueId))?.queue ?? { version: 0 };
    const built = purposes.map((purpose, index) => {
      const commit = { sha: `${index}`.repeat(40) as Sha, tree };
      const number = (10 + index) as CandidateNumber;
      return encodeCandidate({ ...first, number, purpose, commit }, { queueId, version: version + 1, isLive: true });
    });
    await world.store.queues.commit(aCommit(queueId, version, { candidates: built }));
    for (const { id, sha } of built) {
      assert.equal(await treeOf({ candidateId: id }), tree, 'by its id');
      assert.equal(await treeOf({ sha: sha ?? '', branch: `sluice/main/${id}` }), tree, 'by its branch and commit');
      assert.equal(await treeOf({ sha: sha ?? '', branch: 'HEAD' }), tree, 'by its commit');
      const commands = first.required?.commands ?? '';
      assert.equal(await treeOf({ candidateId: id, isOfRunner: true }), `${tree} ${commands}`);
      assert.notEqual(commands, '');
    }
    assert.equal(await treeOf({ sha: world.head }), world.repository.git.findCommit(world.head)?.tree);
    assert.equal(await treeOf({}), null, 'the repository has no such commit');
    assert.equal(await treeOf({ candidateId: candidateIdOf(queueId, 99 as CandidateNumber) }), null);
  });

  it('has no tree while the forge is away, unless the queue built the commit [F86] [U76]', async () => {
    const world = await begin();
    await world.submit();
    await world.clock.pass(10);
    const { commit } = await candidateOf(world, FIRST);
    await world.worker.stop();
    world.forge.findTree = () => Promise.reject(new Fault('FORGE_UNAVAILABLE', 'It is away.'));
    const place = (sha: string) => findUploadPlace(world.app, aQuestion(world, { sha }));
    const unknown = { hasCommit: null, candidateId: null, check: null };
    assert.deepEqual(await place(world.head), { ...unknown, tree: null });
    assert.deepEqual(await place(commit?.sha ?? ''), { ...unknown, tree: commit?.tree });
  });
});
