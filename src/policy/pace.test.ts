import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PrNumber } from '../engine/model/pull-request.ts';
import { Prng } from '../lib/prng.ts';
import type { Sha } from '../lib/sha.ts';
import { Durations, type PastRun } from './pace.ts';

interface Words {
  readonly passed?: boolean | undefined;
  /** How many were tested, or which submissions. */
  readonly members?: number;
  readonly tested?: readonly number[];
}

let submissions = 10_000;

/** A run of new submissions, unless they are given. */
function run(tookMs: number, { passed = true, members = 1, tested }: Words = {}): PastRun {
  const fresh = () => Array.from({ length: members }, () => ++submissions);
  return { tested: tested ?? fresh(), passed, tookMs, checks: [], endedAt: 0 };
}

function cutOff(tookMs: number, words: Words = {}): PastRun {
  return { ...run(tookMs, words), passed: undefined };
}

/** The mean of many draws for a new pull request, or for several. */
function meanOf(runs: readonly PastRun[], passes = true, members = 1): number {
  const submissions = Array.from({ length: members }, (_, at) => 1000 + at);
  const count = 600;
  let sum = 0;
  for (let index = 0; index < count; index += 1) sum += drawFor(submissions, runs, { passes, seed: index });
  return sum / count;
}

interface Asked {
  readonly passes?: boolean;
  readonly elapsedMs?: number;
  readonly seed?: number;
}

/** One draw for a run of these submissions. */
function drawFor(submissions: readonly number[], runs: readonly PastRun[], asked: Asked = {}): number {
  const { passes = true, elapsedMs = 0, seed = 0 } = asked;
  const durations = new Durations({ runs, buildMs: [], landMs: [], arrivalMs: undefined }, new Prng(seed));
  const members = submissions.map((submission) => ({ prNumber: 1 as PrNumber, submission, headSha: '' as Sha }));
  return durations.drawRun({ members, required: undefined, checks: [] }, passes, elapsedMs);
}

const times = (count: number, make: (index: number) => PastRun) => Array.from({ length: count }, (_, at) => make(at));
const isNear = (value: number, wanted: number) => assert.ok(Math.abs(value / wanted - 1) < 0.1, `${value} ≈ ${wanted}`);

describe('durations of runs', () => {
  it('of failures are told apart only if they are clearly shorter [Z3]', () => {
    const passes = times(30, (at) => run(900 + at));
    isNear(meanOf([...passes, ...times(12, (at) => run(100 + at, { passed: false }))], false), 105);
    isNear(meanOf([...passes, run(100, { passed: false }), run(2000, { passed: false })], false), 920);
  });

  it('count runs that were cut off as longer ones, and each pull request once [Z3]', () => {
    isNear(meanOf(times(60, (at) => [run(100), run(300), cutOff(150)][at % 3] as PastRun)), 233);
    const [one, two] = [{ tested: [1] }, { tested: [2] }];
    isNear(meanOf([run(100, one), ...times(20, () => run(300, two)), cutOff(50, one)]), 200);
    const again = times(20, () => cutOff(150, { tested: [3, 4] }));
    isNear(meanOf([...again, run(100, { tested: [3, 5] }), run(300, { tested: [4, 6] })], true, 2), 200);
  });

  it('of several are as long as the longest of them, as far as it is known [Z3]', () => {
    const pairs = times(10, (at) => run(100 + at, { members: 2 }));
    const past = [...pairs, run(300, { tested: [1] }), run(20, { tested: [2] }), run(30)];
    assert.equal(drawFor([1, 2], past), 300);
    assert.equal(drawFor([1, 7, 8], past), 300, 'two new ones take less');
    assert.ok(drawFor([2, 7, 8], past) >= 100, 'two new ones take more');
    assert.ok(drawFor([1, 7], past, { elapsedMs: 350 }) > 350, 'one that is under way');
  });

  it('are now and then longer than all observed ones, if there were many [Z3]', () => {
    const draw = (past: readonly PastRun[]) =>
      Array.from({ length: 4_000 }, (_, seed) => drawFor([100_000], past, { seed }));
    const many = draw(times(40, (at) => run(100 + 5 * at)));
    const longer = many.filter((tookMs) => tookMs > 295);
    assert.ok(longer.length > 0 && longer.length < 100, `${longer.length}`);
    assert.ok(Math.max(...longer) < 1_500);
    assert.ok(draw([run(100), run(300)]).every((tookMs) => tookMs <= 300));
  });

  it('come from groups of about the same size [Z3]', () => {
    const runs = [...times(10, () => run(100)), ...times(10, () => run(400, { members: 12 }))];
    isNear(meanOf(runs, true, 9), 400);
    isNear(meanOf(runs, true, 1), 100);
  });
});
