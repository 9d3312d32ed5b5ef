import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { maker } from '../../../test/helpers/made.ts';
import { FIRST, WorkerWorld } from '../../../test/worlds/shell/worker-world.ts';
import type { Candidate, CandidateNumber } from '../../engine/model/candidate.ts';
import type { QueueEvent } from '../../engine/model/event.ts';
import type { PrNumber } from '../../engine/model/pull-request.ts';
import { findCandidate } from '../../engine/model/queue.ts';
import { Fault } from '../../lib/fault.ts';
import { candidateIdOf } from '../core/entry-id.ts';
import { QueueHost } from '../core/queue-host.ts';
import { createEffectWorker } from './effect-worker.ts';

const CHECKS = ['unit', 'lint'].map((name) => ({ name, command: `run ${name}`, timeoutMinutes: null }));

const createWorld = maker(() => WorkerWorld.create(CHECKS));

/** One candidate, whose two checks have begun. */
async function begin(): Promise<WorkerWorld> {
  const world = await createWorld();
  world.worker.start();
  await world.submit();
  await world.clock.pass(10);
  assert.deepEqual(namesOf(world), ['unit', 'lint']);
  return world;
}

const createNext = maker(async ({ app }: WorkerWorld) => createEffectWorker(app, 'the next one'));

/** Another server goes on. */
async function startNext(world: WorkerWorld): Promise<void> {
  (await createNext(world)).start();
  await world.clock.pass(10);
}

function namesOf({ jobs }: WorkerWorld): readonly (string | undefined)[] {
  return jobs.asked.map(({ job }) => job.variables['SLUICE_CHECK']);
}

async function candidateOf(world: WorkerWorld): Promise<Candidate | undefined> {
  const found = await world.app.queues.find(world.queueId);
  return found && findCandidate(found.queue, FIRST);
}

async function logOf(world: WorkerWorld, check: string): Promise<string> {
  const key = { candidateId: candidateIdOf(world.queueId, FIRST), check };
  const part = await world.store.logs.read(key, 0, 1_000_000);
  return Buffer.from(part?.bytes ?? []).toString();
}

const A = 1 as PrNumber;
const SECOND = 2 as CandidateNumber;
const OPEN = { status: 'IN_PROGRESS', conclusion: undefined, url: undefined, summary: undefined } as const;
const SUCCESS = { kind: 'exited', code: 0 } as const;

describe('checks of the built-in runner', () => {
  it('[R31] are reported as they begin and end; all that pass make the candidate pass', async () => {
    const world = await begin();
    assert.deepEqual(
      (await candidateOf(world))?.checks.map(({ name, status }) => `${name} ${status}`),
      ['unit IN_PROGRESS', 'lint IN_PROGRESS'],
    );
    await world.jobs.find('unit')?.print('hello\n');
    world.jobs.find('unit')?.end(SUCCESS);
    await world.clock.pass(10);
    assert.equal(await world.stateOf(FIRST), 'testing');
    world.jobs.find('lint')?.end(SUCCESS);
    await world.clock.pass(10_000);
    assert.equal(await world.stateOf(FIRST), undefined, 'it landed');
    assert.deepEqual(await world.effects(), []);
    assert.match(await logOf(world, 'unit'), /\$ run unit\nhello\n\n\[Sluice\] Passed after 0.0 s.\n$/);
  });

  it('[R1] [R31] [R100] say how they ended', async () => {
    const ends = [
      [{ kind: 'exited', code: 3 }, 'FAILURE', /Failed with exit code 3/],
      [{ kind: 'exited', code: 127 }, 'FAILURE', /Failed with exit code 127 \(a command was not found\)/],
      [{ kind: 'timed_out' }, 'TIMED_OUT', /Did not end within 60 minutes/],
      [{ kind: 'out_of_memory', memory: '4G' }, 'ERROR', /needed more than 4G of memory \(SLUICE_RUNNER_MEMORY\)/],
      [{ kind: 'killed', signal: 'SIGKILL' }, 'CANCELLED', /Ended by SIGKILL from outside/],
    ] as const;
    for (const [end, conclusion, words] of ends) {
      const world = await begin();
      world.jobs.find('unit')?.end(end);
      await world.clock.pass(1_000);
      const row = await world.store.queueRecords.findCandidate(world.queueId, FIRST);
      assert.match(row?.body ?? '', new RegExp(`"${conclusion}"`));
      assert.match(row?.body ?? '', words);
    }
  });

  it('[R50] name the sandbox where a failed one wanted the network', async () => {
    for (const [isClosed, code, isNamed] of [
      [true, 1, true],
      [true, 0, false],
      [false, 1, false],
    ] as const) {
      const world = await createWorld();
      Object.assign(world.jobs.safety, { closesNetwork: isClosed });
      world.worker.start();
      await world.submit();
      await world.clock.pass(10);
      await world.jobs.find('unit')?.print('npm error getaddrinfo ENOT');
      await world.jobs.find('unit')?.print('FOUND registry.test\n');
      world.jobs.find('unit')?.end({ kind: 'exited', code });
      await world.clock.pass(1_000);
      assert.equal(/sandbox without network/.test(await logOf(world, 'unit')), isNamed);
    }
  });

  it('[R65] name the folders that were searched, and those that can be written', async () => {
    const failures = [
      [127, 'sh: 1: vitest: not found\n', /Its output says that vitest was not found\. vitest is in no folder\.\n?$/],
      [127, '', /\(a command was not found\) after 0\.0 s\. It is in no folder\.\n?$/],
      [
        2,
        'make: bazelisk: No such file or directory\n',
        /exit code 2 .* says that bazelisk was not found\. bazelisk is/,
      ],
      [
        1,
        "EACCES: permission denied, mkdir '/srv/out'\n",
        /wrote to \/srv\/out, where a check cannot: its work tree, \$HOME and \$TMPDIR are its own/,
      ],
      [1, 'Error: expected 4, got 5\n', /exit code 1 after 0\.0 s\.\n?$/],
    ] as const;
    for (const [code, output, words] of failures) {
      const world = await createWorld();
      world.worker.start();
      await world.submit();
      await world.clock.pass(10);
      await world.jobs.find('unit')?.print(output);
      world.jobs.find('unit')?.end({ kind: 'exited', code });
      await world.clock.pass(1_000);
      assert.match(await logOf(world, 'unit'), words);
    }
  });

  it('[R33] are stopped when another has decided the candidate', async () => {
    const world = await begin();
    world.jobs.find('unit')?.end({ kind: 'exited', code: 1 });
    await world.clock.pass(10);
    assert.equal(world.jobs.find('lint')?.isStopped, true);
    assert.match(await logOf(world, 'lint'), /\[Sluice\] Stopped after/);
  });

  it('[R33] are stopped when another server cancels their candidate', async () => {
    const world = await begin();
    const store = { ...world.store, isShared: true };
    Object.defineProperty(world.app, 'queues', { value: new QueueHost(store, world.clock) });
    const other = new QueueHost(store, world.clock);
    const cancel: QueueEvent = { kind: 'pull_request_cancelled', at: world.clock.now(), actor: 'ada', prNumber: A };
    await other.run(world.queueId, () => cancel);
    assert.equal(world.jobs.find('unit')?.isStopped, false);
    await world.clock.pass(2_100);
    assert.equal(world.jobs.find('unit')?.isStopped, true);
  });

  it('[R7] that were interrupted run again, and only those', async () => {
    const world = await begin();
    world.jobs.find('unit')?.end(SUCCESS);
    await world.clock.pass(10);
    await world.worker.stop();
    assert.equal(world.jobs.find('lint')?.isStopped, true);
    assert.equal((await candidateOf(world))?.state, 'testing');
    await startNext(world);
    assert.deepEqual(namesOf(world), ['unit', 'lint', 'lint']);
    world.jobs.find('lint')?.end(SUCCESS);
    await world.clock.pass(10_000);
    assert.equal(await world.stateOf(FIRST), undefined, 'it landed');
  });

  it('[R7] that are killed together with the server run again', async () => {
    const world = await begin();
    world.jobs.find('unit')?.end({ kind: 'killed', signal: 'SIGTERM' });
    await world.clock.pass(100);
    const stopped = world.worker.stop();
    await world.clock.pass(1_000);
    await stopped;
    assert.deepEqual((await candidateOf(world))?.tries, 0);
    await startNext(world);
    assert.deepEqual(namesOf(world), ['unit', 'lint', 'unit', 'lint']);
  });

  it('[R7] count when they are run again by a server whose clock is behind', async () => {
    const world = await begin();
    world.jobs.find('unit')?.end(SUCCESS);
    await world.clock.pass(10);
    await world.worker.stop();
    const at = world.clock.now();
    const check = { ...OPEN, name: 'lint', startedAt: at + 60_000 };
    await world.app.queues.run(world.queueId, () => ({ kind: 'check_reported', at, candidate: FIRST, check }));
    await startNext(world);
    world.jobs.find('lint')?.end(SUCCESS);
    await world.clock.pass(10_000);
    assert.equal(await world.stateOf(FIRST), undefined, 'it landed');
    assert.match(await logOf(world, 'lint'), /Passed after 0.0 s/);
  });

  it('[R32] are those that the candidate was built for: where they were changed since, it is built again', async () => {
    const world = await begin();
    await world.worker.stop();
    const [repository] = await world.store.repositories.listAll();
    assert.ok(repository !== undefined);
    const checks = [{ name: 'all', command: 'run all', timeoutMinutes: null }];
    await world.store.repositories.save({ ...repository, checks });
    world.app.directory.forget();
    await startNext(world);
    assert.deepEqual(namesOf(world), ['unit', 'lint', 'all']);
    world.jobs.find('all')?.end(SUCCESS);
    await world.clock.pass(10_000);
    assert.deepEqual(await world.effects(), []);
    const row = await world.store.queueRecords.findCandidate(world.queueId, SECOND);
    assert.match(row?.body ?? '', /"tries":0/);
    assert.match(row?.body ?? '', /"SUCCESS"/);
  });

  it('[R7] keep their lease for as long as they run, and hold up no other candidate', async () => {
    const world = await begin();
    const other = createEffectWorker({ ...world.app, store: { ...world.store, isShared: true } }, 'another one');
    other.start();
    await world.clock.pass(5 * 60_000);
    assert.deepEqual(namesOf(world), ['unit', 'lint']);
    const submitted = Promise.all(Array.from({ length: 20 }, () => world.submit()));
    await world.clock.pass(1_000);
    await submitted;
    assert.equal(namesOf(world).length, 10, 'as many candidates as the queue may have, of two checks each');
    await Promise.all([world.worker.stop(), other.stop()]);
  });

  it('[R36] are left to other servers while too many wait here', async () => {
    for (const isShared of [false, true]) {
      const world = await createWorld();
      world.jobs.isCrowded = true;
      const worker = createEffectWorker({ ...world.app, store: { ...world.store, isShared } }, 'this one');
      worker.start();
      await world.submit();
      await world.clock.pass(2_000);
      assert.equal(namesOf(world).length, isShared ? 0 : 2);
      world.jobs.isCrowded = false;
      await world.clock.pass(600);
      assert.deepEqual(namesOf(world), ['unit', 'lint']);
      assert.equal((await world.effects())[0]?.attempts, 0);
      await worker.stop();
    }
  });

  it('[R7] are given up when another server has them', async () => {
    const world = await begin();
    await world.store.effects.endLeases();
    const now = world.clock.now();
    const claim = { holder: 'another one', now, leaseUntil: now + 60_000, limit: 1 };
    assert.equal((await world.store.effects.claim(claim)).length, 1);
    await world.clock.pass(5_000);
    assert.equal(world.jobs.find('lint')?.isStopped, true);
    assert.equal((await candidateOf(world))?.state, 'testing');
  });

  it('[R1] that cannot be started are tried again, and the others count', async () => {
    const world = await begin();
    world.jobs.find('unit')?.fail(new Fault('RUNNER_UNAVAILABLE', 'The disk is full.'));
    world.jobs.find('lint')?.end(SUCCESS);
    await world.clock.pass(10);
    assert.match((await world.effects())[0]?.lastError ?? '', /The disk is full/);
    await world.clock.pass(1_000);
    assert.deepEqual(namesOf(world), ['unit', 'lint', 'unit']);
    world.jobs.find('unit')?.end(SUCCESS);
    await world.clock.pass(10_000);
    assert.equal(await world.stateOf(FIRST), undefined, 'it landed');
  });

  it('[R1] report again when the store was away', async () => {
    const world = await begin();
    const { run } = world.app.queues;
    let failures = 3;
    world.app.queues.run = function (...given) {
      failures -= 1;
      if (failures >= 0) return Promise.reject(new Fault('STORE_UNAVAILABLE', 'The store is away.'));
      return run.apply(this, given);
    };
    world.jobs.find('unit')?.end(SUCCESS);
    await world.clock.pass(30_000);
    assert.equal((await candidateOf(world))?.checks[0]?.conclusion, 'SUCCESS');
  });
});

describe('a cache of a check', () => {
  const cache = { key: ['lock'], paths: ['~/store'], verified: true };
  const create = maker(() => WorkerWorld.create([{ name: 'unit', command: 'run', timeoutMinutes: null, cache }]));

  async function untilSettled({ clock }: WorkerWorld): Promise<void> {
    await clock.pass(10);
  }

  it('is filled on the head, after all other work, once for each head that a pull request missed it on [R82]', async () => {
    const world = await create();
    world.worker.start();
    await world.submit();
    await untilSettled(world);
    const [first] = world.jobs.asked;
    assert.deepEqual([first?.job.cache?.use, first?.job.cache?.branch], ['read', 'main']);
    first?.job.cache?.onHit?.('exact');
    await untilSettled(world);
    assert.equal(world.jobs.asked.length, 1);
    first?.job.cache?.onHit?.('fallback');
    first?.job.cache?.onHit?.('none');
    await untilSettled(world);
    const [, fill, ...others] = world.jobs.asked;
    assert.deepEqual([fill?.job.cache?.use, fill?.job.share, others.length], ['fill', first?.job.share, 0]);
    assert.ok((fill?.job.rank ?? 0) > (first?.job.rank ?? 0));
    assert.equal(fill?.job.variables['SLUICE_COMMIT'], world.repository.getHead('main'));
  });

  it('is not tried on each new head, where the one before left nothing, for an hour [R82]', async () => {
    const world = await create();
    world.worker.start();
    await world.submit();
    await untilSettled(world);
    const [first] = world.jobs.asked;
    const miss = async () => {
      first?.job.cache?.onHit?.('none');
      await untilSettled(world);
      return world.jobs.asked.length;
    };
    assert.equal(await miss(), 2);
    world.jobs.asked[1]?.end({ kind: 'exited', code: 1 });
    await untilSettled(world);
    world.repository.commit('main', { files: { 'next.txt': '' } });
    assert.equal(await miss(), 2);
    await world.clock.pass(60 * 60_000);
    assert.equal(await miss(), 3);
    world.jobs.asked[2]?.job.cache?.onKept?.();
    world.jobs.asked[2]?.end(SUCCESS);
    await untilSettled(world);
    world.repository.commit('main', { files: { 'later.txt': '' } });
    assert.equal(await miss(), 4);
  });
});
