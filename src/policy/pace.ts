import { type Candidate, openChecks } from '../engine/model/candidate.ts';
import type { Instant } from '../lib/clock.ts';
import type { Prng } from '../lib/prng.ts';

/** How fast a queue was lately: what its runs, builds and landings took. Oldest first. */
export interface Pace {
  readonly runs: readonly PastRun[];
  readonly buildMs: readonly number[];
  readonly landMs: readonly number[];
  /** The mean time between two submissions; undefined if there were none lately. */
  readonly arrivalMs: number | undefined;
}

export interface PastRun {
  /** The submissions of the entries that it tested. */
  readonly tested: readonly number[];
  /** Undefined: it was cut off, so it would have taken longer. */
  readonly passed: boolean | undefined;
  /** From the start of the tests until the result was known. */
  readonly tookMs: number;
  readonly checks: readonly PastCheck[];
  readonly endedAt: Instant;
}

export interface PastCheck {
  readonly name: string;
  readonly tookMs: number;
}

/** Runs of this many back are drawn 1/e times as often as the latest. */
const MEMORY = 80;
/** So many draws find a run that took longer than the one under way, or it is one of the longest. */
const DRAWS = 16;
/** With fewer runs of about its size, runs of the next sizes count too. */
const ENOUGH_OF_SIZE = 8;
const ENOUGH_OF_FAILURES = 4;
/** A run that takes longer than all that were seen counts as this part of a run. */
const UNSEEN = 0.2;
/** The longest runs tell how much longer that one takes: this share of all. */
const LONGEST = 0.1;
const ENOUGH_FOR_TAIL = 20;
const MAX_SPREAD = 0.5;
/** In standard deviations. */
const CLEARLY_FEWER = -4;

/** Values with the sums of their weights up to each of them. */
interface Pool<T> {
  readonly values: readonly T[];
  readonly sums: readonly number[];
}

interface RunPool extends Pool<PastRun> {
  readonly longestMs: number;
  /** How likely a run takes longer than that. */
  readonly beyond: number;
  /** The mean logarithm of how many times longer it takes (Hill). */
  readonly spread: number;
}

/**
 * Draws durations from the past. Recent runs are likelier. Few runs say little about how long runs take in general, so
 * each instance gives them other weights (the Bayesian bootstrap): its past is one that could have been as well.
 */
export class Durations {
  readonly #prng: Prng;
  readonly #runs: readonly PastRun[];
  readonly #isFailingFast: boolean;
  readonly #builds: Pool<number>;
  readonly #landings: Pool<number>;
  readonly #pools = new Map<string, RunPool>();
  /** By the entries tested: the time until a result, or the longest time without one. */
  readonly #known = new Map<string, Pick<PastRun, 'passed' | 'tookMs'>>();

  constructor(pace: Pace, prng: Prng) {
    this.#prng = prng;
    for (const run of pace.runs) {
      const known = this.#known.get(keyOf(run.tested));
      const isLonger = known?.passed === undefined && run.tookMs > (known?.tookMs ?? 0);
      if (run.passed !== undefined || isLonger) this.#known.set(keyOf(run.tested), run);
    }
    this.#runs = pace.runs.filter(isOnlyEvidenceIn(pace.runs));
    this.#isFailingFast = isFailingFast(this.#runs);
    this.#builds = this.#weigh(pace.buildMs);
    this.#landings = this.#weigh(pace.landMs);
  }

  drawBuild(): number {
    return this.#pick(this.#builds) ?? 0;
  }

  drawLanding(): number {
    return this.#pick(this.#landings) ?? 0;
  }

  /** How long a run takes in all that has been under way for `elapsedMs`. */
  drawRun(candidate: Pick<Candidate, 'members' | 'required' | 'checks'>, passes: boolean, elapsedMs: number): number {
    const tested = candidate.members.map(({ submission }) => submission);
    // The same entries take about as long again, and several take as long as the longest.
    const again = this.#known.get(keyOf(tested));
    if (again?.passed !== undefined && again.tookMs > elapsedMs) return again.tookMs;
    const alone = tested.flatMap((submission) => this.#known.get(keyOf([submission])) ?? []);
    const known = alone.filter(({ passed }) => passed !== undefined);
    const knownMs = longestOf(known);
    const others = tested.length - known.length;
    if (others === 0 && knownMs > elapsedMs) return knownMs;
    const cutOffMs = longestOf([again ?? [], alone].flat().filter(({ passed }) => passed === undefined));
    const leastMs = knownMs > elapsedMs ? cutOffMs : Math.max(elapsedMs, cutOffMs);
    const open = openChecks(candidate);
    const tookMsOf = (run: PastRun) => (passes ? openMsOf(run, open) : run.tookMs);
    const pool = this.#poolOf(others === 0 ? tested.length : others, passes);
    const tookMs = Math.max(knownMs, this.#drawLonger(pool, leastMs, tookMsOf));
    this.#known.set(keyOf(tested), { passed: passes, tookMs });
    return tookMs;
  }

  /** A run that was cut off counts like the runs that took longer. Without it, long runs would be too rare. */
  #drawLonger(pool: RunPool, thanMs: number, tookMsOf: (run: PastRun) => number): number {
    let leastMs = thanMs;
    for (let draw = 0; draw < DRAWS; draw += 1) {
      if (this.#prng.chance(pool.beyond)) {
        return Math.max(pool.longestMs, leastMs) * (1 - this.#prng.next()) ** -pool.spread;
      }
      const run = this.#pick(pool);
      if (run === undefined) return leastMs;
      const tookMs = tookMsOf(run);
      if (tookMs <= leastMs) continue;
      if (run.passed !== undefined) return tookMs;
      leastMs = tookMs;
    }
    const longer = pool.values.filter((run) => run.passed !== undefined && run.tookMs > leastMs);
    return longer[this.#prng.integer(longer.length)]?.tookMs ?? leastMs * (1.05 + 0.4 * this.#prng.next());
  }

  #weigh<T>(values: readonly T[]): Pool<T> {
    let sum = 0;
    const sums = values.map((_, index) => {
      const recency = Math.exp((index + 1 - values.length) / MEMORY);
      sum -= recency * Math.log(1 - this.#prng.next());
      return sum;
    });
    return { values, sums };
  }

  #pick<T>({ values, sums }: Pool<T>): T | undefined {
    const place = this.#prng.next() * (sums.at(-1) ?? 0);
    let [low, high] = [0, values.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sums[middle] ?? 0) > place) high = middle;
      else low = middle + 1;
    }
    return values[low];
  }

  /** Batches may take longer than single entries. */
  #poolOf(members: number, passed: boolean): RunPool {
    const size = sizeOf(members);
    const key = `${size}/${this.#isFailingFast && passed}`;
    const known = this.#pools.get(key);
    if (known !== undefined) return known;
    const alike = this.#isFailingFast ? this.#runs.filter((run) => run.passed !== !passed) : this.#runs;
    let ofSize: readonly PastRun[] = [];
    for (let apart = 0; ofSize.length < Math.min(ENOUGH_OF_SIZE, alike.length); apart += 1)
      ofSize = alike.filter((run) => Math.abs(sizeOf(run.tested.length) - size) <= apart);
    const beyond = (UNSEEN * -Math.log(1 - this.#prng.next())) / Math.max(1, ofSize.length);
    const pool = { ...this.#weigh(ofSize), beyond, ...tailOf(ofSize) };
    this.#pools.set(key, pool);
    return pool;
  }
}

/** Few runs hold none of the rare long ones, on which queues wait most. */
function tailOf(runs: readonly PastRun[]): Pick<RunPool, 'longestMs' | 'spread'> {
  const decided = runs.filter(({ passed }) => passed !== undefined).map(({ tookMs }) => tookMs);
  const sorted = decided.sort((a, b) => b - a);
  const longest = sorted.slice(0, Math.ceil(LONGEST * sorted.length));
  const next = sorted[longest.length] ?? sorted.at(-1) ?? 0;
  const spread = longest.reduce((sum, tookMs) => sum + Math.log(tookMs / next), 0) / Math.max(1, longest.length);
  // Two or three runs say nothing about rare ones.
  const isKnown = sorted.length >= ENOUGH_FOR_TAIL && next > 0;
  return { longestMs: sorted[0] ?? 0, spread: isKnown ? Math.min(spread, MAX_SPREAD) : 0 };
}

/**
 * Failures are clearly known sooner than passes (Mann and Whitney). A small difference says nothing: of the runs on top
 * of a broken entry, the short ones fail and the long ones are cut off.
 */
function isFailingFast(runs: readonly PastRun[]): boolean {
  const decided = runs.filter(({ passed }) => passed !== undefined).sort((a, b) => a.tookMs - b.tookMs);
  const failed = decided.filter(({ passed }) => passed === false).length;
  const passed = decided.length - failed;
  if (failed < ENOUGH_OF_FAILURES || passed < ENOUGH_OF_FAILURES) return false;
  const ranks = decided.reduce((sum, run, index) => (run.passed === false ? sum + index + 1 : sum), 0);
  const expected = (failed * (decided.length + 1)) / 2;
  return (ranks - expected) / Math.sqrt((expected * passed) / 6) < CLEARLY_FEWER;
}

/**
 * Runs of the same entries are evidence of one duration. One that was cut off counts until its entries are tested
 * again for longer: long runs are cut off more often, so they would count more often.
 */
function isOnlyEvidenceIn(runs: readonly PastRun[]): (run: PastRun) => boolean {
  const decided = new Map<string, PastRun>();
  const best = new Map<number, PastRun>();
  for (const run of runs) {
    if (run.passed !== undefined) decided.set(keyOf(run.tested), run);
    for (const submission of run.tested) {
      const known = best.get(submission);
      const isShorter = known?.passed === undefined && run.tookMs < (known?.tookMs ?? 0);
      if (run.passed !== undefined || !isShorter) best.set(submission, run);
    }
  }
  return (run) => {
    const known = decided.get(keyOf(run.tested));
    if (known !== undefined || run.passed !== undefined) return known === run;
    return run.tested.every((submission) => best.get(submission) === run);
  };
}

function keyOf(tested: readonly number[]): string {
  return tested.join();
}

function longestOf(runs: readonly Pick<PastRun, 'tookMs'>[]): number {
  return Math.max(0, ...runs.map(({ tookMs }) => tookMs));
}

/** Runs of about as many entries are alike. */
function sizeOf(members: number): number {
  return Math.floor(Math.log2(Math.max(1, members)));
}

/** The time until the last of the open checks ended. A check that the past does not know takes as long as the run. */
function openMsOf({ checks, tookMs }: PastRun, open: readonly string[]): number {
  const known = checks.filter(({ name }) => open.includes(name));
  return known.length < open.length || open.length === 0 ? tookMs : Math.max(...known.map((check) => check.tookMs));
}
