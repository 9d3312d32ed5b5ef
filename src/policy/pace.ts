import { type Candidate, openChecks } from '../engine/candidate.ts';
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

/** A run of CI. */
export interface PastRun {
  /** How many entries it tested. */
  readonly members: number;
  /** The one entry that it tested alone, by its submission. */
  readonly alone: number | undefined;
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
const MEMORY = 40;
/** So many draws find a run that took longer than the one under way, or it is one of the longest. */
const DRAWS = 16;
/** With fewer runs of about its size, runs of the next sizes count too. */
const ENOUGH_OF_SIZE = 8;
const ENOUGH_OF_FAILURES = 4;

/** Draws durations from the past. Recent runs are likelier. */
export class Durations {
  readonly #pace: Pace;
  readonly #prng: Prng;
  readonly #pools = new Map<string, readonly PastRun[]>();
  /** Runs of one entry alone, by its submission: its result, or the longest time without one. */
  readonly #alone = new Map<number, Pick<PastRun, 'passed' | 'tookMs'>>();

  constructor(pace: Pace, prng: Prng) {
    this.#pace = pace;
    this.#prng = prng;
    for (const run of pace.runs) {
      if (run.alone === undefined) continue;
      const known = this.#alone.get(run.alone);
      const isBetter = known?.passed === undefined && (run.passed !== undefined || run.tookMs > (known?.tookMs ?? 0));
      if (isBetter) this.#alone.set(run.alone, run);
    }
  }

  drawBuild(): number {
    return this.#recent(this.#pace.buildMs) ?? 0;
  }

  drawLanding(): number {
    return this.#recent(this.#pace.landMs) ?? 0;
  }

  /** How long a run takes in all that has been under way for `elapsedMs`. */
  drawRun(candidate: Candidate, passes: boolean, elapsedMs: number): number {
    const { members } = candidate;
    const before = members.flatMap(({ submission }) => this.#alone.get(submission) ?? []);
    const [only] = before;
    const [alone] = members;
    // The same entry takes about as long again.
    if (members.length === 1 && only?.passed !== undefined && only.tookMs > elapsedMs) return only.tookMs;
    const leastMs = Math.max(elapsedMs, ...before.map(({ tookMs }) => tookMs));
    const open = openChecks(candidate);
    const tookMsOf = (run: PastRun) => (passes ? openMsOf(run, open) : run.tookMs);
    const tookMs = this.#drawLonger(this.#poolOf(members.length, passes), leastMs, tookMsOf);
    if (members.length === 1 && alone !== undefined) this.#alone.set(alone.submission, { passed: passes, tookMs });
    return tookMs;
  }

  /** A run that was cut off counts like the runs that took longer. Without it, long runs would be too rare. */
  #drawLonger(pool: readonly PastRun[], thanMs: number, tookMsOf: (run: PastRun) => number): number {
    let leastMs = thanMs;
    for (let draw = 0; draw < DRAWS; draw += 1) {
      const run = this.#recent(pool);
      if (run === undefined) return leastMs;
      const tookMs = tookMsOf(run);
      if (tookMs <= leastMs) continue;
      if (run.passed !== undefined) return tookMs;
      leastMs = tookMs;
    }
    const longer = pool.filter((run) => run.passed !== undefined && run.tookMs > leastMs);
    return longer[this.#prng.integer(longer.length)]?.tookMs ?? leastMs * (1.05 + 0.4 * this.#prng.next());
  }

  #recent<T>(values: readonly T[]): T | undefined {
    for (;;) {
      const back = Math.floor(-Math.log(1 - this.#prng.next()) * MEMORY);
      if (back < values.length) return values[values.length - 1 - back];
      if (values.length < MEMORY / 2) return values[this.#prng.integer(values.length)];
    }
  }

  /** Batches may take longer than single entries, and failures may be known sooner than passes. */
  #poolOf(members: number, passed: boolean): readonly PastRun[] {
    const size = sizeOf(members);
    const key = `${size}/${passed}`;
    const known = this.#pools.get(key);
    if (known !== undefined) return known;
    const { runs } = this.#pace;
    const alike = runs.filter((run) => run.passed === passed);
    const cutOff = (run: PastRun) => run.passed === passed || run.passed === undefined;
    const ofResult = alike.length >= (passed ? 1 : ENOUGH_OF_FAILURES) ? runs.filter(cutOff) : runs;
    let pool: readonly PastRun[] = [];
    for (let apart = 0; pool.length < Math.min(ENOUGH_OF_SIZE, ofResult.length); apart += 1)
      pool = ofResult.filter((run) => Math.abs(sizeOf(run.members) - size) <= apart);
    this.#pools.set(key, pool);
    return pool;
  }
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
