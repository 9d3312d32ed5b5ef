import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Prng } from '../../src/lib/prng.ts';
import type { Sha } from '../../src/lib/sha.ts';
import { SimWorld } from '../simulation/sim-world.ts';
import { ChangeMaker } from './change-maker.ts';
import { Courier } from './courier.ts';
import { type CiRates, type CiReport, FakeCi } from './fake-ci.ts';
import { FakeRepository } from './fake-repository.ts';
import { isGreen, pairPath, redLine } from './is-green.ts';

const NO_RATES: CiRates = { flaky: 0, blind: 0, cancelled: 0, lost: 0, rerun: 0, timeless: 0, ahead: 0 };
const HOUR_MS = 3_600_000;

function createBench(rates: Partial<CiRates> = {}, seed = 1) {
  const world = new SimWorld({ seed });
  const repository = new FakeRepository(() => world.now);
  const reports: CiReport[] = [];
  const ci = new FakeCi({
    repository,
    timers: world.timers,
    random: world.random.fork(),
    weather: world,
    rates: { ...NO_RATES, ...rates },
    checks: ['unit', 'lint'],
    durationMs: [60_000, 600_000],
    report: (report) => reports.push(report),
  });
  let candidates = 0;
  const publish = (files: Readonly<Record<string, string>>) => {
    candidates += 1;
    const candidateId = `c${candidates}`;
    const sha = repository.commit(`test-${candidateId}`, { files, message: candidateId });
    repository.tell({ kind: 'candidate_published', candidateId, branch: 'x', sha });
    return { candidateId, sha };
  };
  const conclusionsOf = (sha: Sha) =>
    reports.filter((report) => report.sha === sha).flatMap(({ check }) => check.conclusion ?? []);
  return { world, repository, reports, ci, publish, conclusionsOf };
}

describe('fake ci', () => {
  it('passes what is green, and remembers it', async () => {
    const { world, ci, publish, reports } = createBench();
    const { sha, candidateId } = publish({ a: 'a' });
    assert.deepEqual(ci.record.names('passed', sha), []);
    await world.runFor(HOUR_MS);
    assert.deepEqual(ci.record.names('passed', sha).toSorted(), ['lint', 'unit']);
    for (const name of ['unit', 'lint']) {
      const checks = reports.filter((report) => report.check.name === name).map(({ check }) => check);
      assert.equal(checks.at(-1)?.status, 'COMPLETED');
      assert.ok((checks.at(-1)?.startedAt ?? 0) > 0);
    }
    assert.ok(reports.every((report) => report.sha === sha && report.candidateId === candidateId));
  });

  it('fails what is red by itself, and what is green only alone', async () => {
    const { world, ci, publish, conclusionsOf } = createBench();
    const red = publish({ a: `x\n${redLine('unit')}` });
    const left = publish({ [pairPath('p', 'left')]: 'x' });
    const right = publish({ [pairPath('p', 'right')]: 'x' });
    const both = publish({ [pairPath('p', 'left')]: 'x', [pairPath('p', 'right')]: 'x' });
    await world.runFor(HOUR_MS);
    assert.deepEqual(ci.record.names('passed', red.sha), ['lint']);
    for (const { sha } of [left, right]) assert.equal(ci.record.names('passed', sha).length, 2);
    assert.deepEqual(ci.record.names('passed', both.sha), []);
    assert.equal(conclusionsOf(both.sha).length, 2);
  });

  it('does what the rates say, in bad weather only', async () => {
    const flaky = createBench({ flaky: 1, rerun: 0.5 });
    const { sha } = flaky.publish({ a: 'a' });
    await flaky.world.runFor(6 * HOUR_MS);
    assert.deepEqual(flaky.ci.record.names('passed', sha), []);
    assert.ok((flaky.world.faultCounts()['ci.flaky'] ?? 0) >= 2);
    flaky.world.calm();
    const next = flaky.publish({ a: 'a' });
    await flaky.world.runFor(HOUR_MS);
    assert.equal(flaky.ci.record.names('passed', next.sha).length, 2);

    const lost = createBench({ lost: 1 });
    const { sha: unheard } = lost.publish({ a: 'a' });
    await lost.world.runFor(HOUR_MS);
    assert.deepEqual(lost.conclusionsOf(unheard), []);

    const cancelled = createBench({ cancelled: 1, timeless: 1 });
    const { sha: stopped } = cancelled.publish({ a: 'a' });
    await cancelled.world.runFor(HOUR_MS);
    assert.ok(cancelled.conclusionsOf(stopped).every((conclusion) => ['CANCELLED', 'STALE'].includes(conclusion)));
    assert.ok(cancelled.reports.every(({ check }) => check.startedAt === undefined));
  });

  it('stops some runs of discarded candidates and goes on with others', async () => {
    const { world, repository, publish, conclusionsOf } = createBench();
    const published = Array.from({ length: 20 }, () => publish({ a: 'a' }));
    await world.runFor(30_000);
    for (const { candidateId } of published) repository.tell({ kind: 'candidate_discarded', candidateId });
    await world.runFor(HOUR_MS);
    const isStopped = published.map(({ sha }) => conclusionsOf(sha).includes('CANCELLED'));
    assert.deepEqual([...new Set(isStopped)].toSorted(), [false, true]);
    assert.ok(published.every(({ sha }) => conclusionsOf(sha).length === 2));
  });

  it('says the last of everything again when asked', async () => {
    const { world, ci, publish, reports } = createBench();
    publish({ a: 'a' });
    await world.runFor(HOUR_MS);
    const { length } = reports;
    ci.redeliver();
    assert.deepEqual(
      reports.slice(length).map(({ check }) => check.status),
      ['COMPLETED', 'COMPLETED'],
    );
  });
});

describe('courier', () => {
  it('loses, doubles, delays and reorders, and in fair weather brings everything once', async () => {
    const world = new SimWorld({ seed: 4 });
    const arrived: number[] = [];
    const courier = new Courier<number>({
      name: 'webhook',
      clock: world.timers,
      random: world.random.fork(),
      weather: world,
      rates: { lost: 0.2, doubled: 0.2, late: 0.1 },
      delayMs: [0, 5_000],
      deliver: (message) => arrived.push(message),
    });
    for (let message = 0; message < 200; message += 1) courier.send(message);
    await world.runFor(10_000);
    const early = arrived.length;
    await world.runFor(10 * HOUR_MS);
    const faults = world.faultCounts();
    assert.equal(arrived.length, 200 - (faults['webhook.lost'] ?? 0) + (faults['webhook.doubled'] ?? 0));
    assert.ok(early < arrived.length);
    assert.notDeepEqual(
      arrived,
      arrived.toSorted((a, b) => a - b),
    );
    arrived.length = 0;
    world.calm();
    for (let message = 0; message < 50; message += 1) courier.send(message);
    await world.runFor(10_000);
    assert.equal(new Set(arrived).size, 50);
    assert.equal(arrived.length, 50);
  });
});

describe('change maker', () => {
  it('makes changes that are what their trait says', () => {
    const random = new Prng(5);
    const maker = new ChangeMaker({ random, areas: ['x'], checks: ['unit'], weights: { red: 2 } });
    const repository = new FakeRepository();
    repository.commit('main', { files: maker.initialFiles });
    const { git } = repository;
    const open = (trait: Parameters<ChangeMaker['make']>[1]) => {
      const change = maker.make(git.getFiles(repository.getHead('main')), trait);
      return repository.openPullRequest({ base: 'main', ...change }).headSha;
    };
    const merged = (a: Sha, b: Sha) => {
      const merge = git.merge(a, b);
      return merge.kind === 'clean' ? isGreen(git.getTree(merge.tree).files, 'unit') : merge.kind;
    };
    assert.equal(merged(open('own'), open('own')), true);
    assert.equal(merged(open('shared'), open('shared')), true);
    assert.equal(merged(open('clash'), open('clash')), 'conflict');
    assert.equal(merged(open('clash'), open('shared')), true);
    assert.equal(merged(open('twin'), open('twin')), true);
    const [left, right] = [open('left'), open('right')];
    assert.equal(merged(left, right), false);
    assert.deepEqual([merged(left, left), merged(right, right)], [true, true]);
    assert.equal(merged(open('red'), left), false);
  });
});
