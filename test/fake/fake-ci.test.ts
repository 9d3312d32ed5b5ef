import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Prng } from '../../src/lib/prng.ts';
import type { Sha } from '../../src/lib/sha.ts';
import { SimWorld } from '../simulation/sim-world.ts';
import { ChangeMaker } from './change-maker.ts';
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
  it('the fake CI passes a green commit, and remembers it', async () => {
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

  it('the fake CI fails a commit that is red by itself, and one that is green only alone', async () => {
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
