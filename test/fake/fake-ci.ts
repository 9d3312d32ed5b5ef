import type { Check, CheckConclusion, CheckStatus } from '../../src/engine/model/check.ts';
import type { Instant, Timing } from '../../src/lib/clock.ts';
import type { Prng } from '../../src/lib/prng.ts';
import type { Sha } from '../../src/lib/sha.ts';
import { CheckRecord } from './check-record.ts';
import type { FakeRepository, Hint } from './fake-repository.ts';
import { isGreen } from './is-green.ts';
import type { Weather } from './weather.ts';

/** The result of one check on one commit. */
export interface CiReport {
  readonly sha: Sha;
  /** Undefined for a run on the head of a pull request. */
  readonly candidateId: string | undefined;
  readonly check: Omit<Check, 'reportedAt'>;
}

/** Probabilities per attempt of one check. */
export interface CiRates {
  /** A green check fails. */
  readonly flaky: number;
  /** A red check passes. */
  readonly blind: number;
  readonly cancelled: number;
  /** The CI runner dies, so the check never completes. */
  readonly lost: number;
  /** A person runs a failed check again. */
  readonly rerun: number;
  /** Reports have no start times. */
  readonly timeless: number;
  /** Start times come from a clock that is an hour ahead. */
  readonly ahead: number;
}

export interface FakeCiOptions {
  readonly repository: FakeRepository;
  readonly timers: Timing;
  readonly random: Prng;
  readonly weather: Weather;
  readonly rates: CiRates;
  /** Checks that run on every commit. */
  readonly checks: readonly string[];
  /** Duration of a run. The wait for a runner and the wait before a rerun are of the same order. */
  readonly durationMs: readonly [min: number, max: number];
  readonly report: (report: CiReport) => void;
}

interface Run {
  readonly sha: Sha;
  readonly candidateId: string | undefined;
  readonly name: string;
  readonly attempt: number;
  readonly skewMs: number;
  readonly isTimeless: boolean;
  startedAt: Instant | undefined;
  isOver: boolean;
}

const FAILURES = ['FAILURE', 'FAILURE', 'ERROR', 'TIMED_OUT', 'ACTION_REQUIRED'] as const;
const PASSES = ['SUCCESS', 'SUCCESS', 'SUCCESS', 'SUCCESS', 'NEUTRAL', 'SKIPPED'] as const;
const STOPS = ['CANCELLED', 'STALE'] as const;
const HOUR_MS = 3_600_000;
/** Share of runs of discarded candidates that are cancelled. The others run to their end. */
const STOP_RATE = 0.5;

/**
 * CI that tests every candidate. The tree alone decides whether a check passes, except for the rates. The record
 * is the truth about what may land.
 */
export class FakeCi {
  /** Checks that start from now on. */
  checks: readonly string[];
  /** During an outage, checks that end fail, or never report. */
  outage: 'failing' | 'silent' | undefined;
  readonly record = new CheckRecord();
  readonly #options: FakeCiOptions;
  readonly #runs = new Map<string, Run[]>();
  readonly #reports = new Map<string, CiReport>();

  constructor(options: FakeCiOptions) {
    this.#options = options;
    this.checks = options.checks;
    options.repository.watch((hint) => this.#hear(hint));
  }

  /** Tests a commit that is no candidate, such as the head of a pull request. */
  test(sha: Sha): void {
    this.#start(sha, undefined);
  }

  isGreen(tree: Sha, name: string): boolean {
    return isGreen(this.#options.repository.git.getTree(tree).files, name);
  }

  /** Sends the latest report of every check of these commits again, for reports that were lost. */
  redeliver(isWanted: (sha: Sha) => boolean = () => true): void {
    for (const report of this.#reports.values()) if (isWanted(report.sha)) this.#options.report(report);
  }

  #hear(hint: Hint): void {
    if (hint.kind === 'candidate_published') this.#start(hint.sha, hint.candidateId);
    if (hint.kind === 'candidate_discarded') this.#stop(hint.candidateId);
  }

  #start(sha: Sha, candidateId: string | undefined): void {
    const { tree } = this.#options.repository.git.getCommit(sha);
    for (const name of this.checks) this.#begin({ sha, candidateId, name, attempt: 1 }, tree);
  }

  #begin(of: Pick<Run, 'sha' | 'candidateId' | 'name' | 'attempt'>, tree: Sha): void {
    const { timers, random, durationMs } = this.#options;
    const [shortestMs] = durationMs;
    const isTimeless = this.#happens('timeless');
    const skewMs = this.#happens('ahead') ? HOUR_MS : 0;
    const run: Run = { ...of, isTimeless, skewMs, startedAt: undefined, isOver: false };
    const runs = this.#runs.get(run.candidateId ?? run.sha) ?? [];
    this.#runs.set(run.candidateId ?? run.sha, [...runs, run]);
    if (random.chance(0.5)) this.#report(run, 'QUEUED', undefined);
    timers.after(random.between(0, shortestMs), () => {
      if (run.isOver) return;
      run.startedAt = timers.now() + skewMs;
      this.#report(run, 'IN_PROGRESS', undefined);
      timers.after(random.between(...durationMs), () => this.#finish(run, tree));
    });
  }

  #finish(run: Run, tree: Sha): void {
    if (run.isOver) return;
    run.isOver = true;
    if (this.outage !== undefined) return this.#breakDown(run, this.outage);
    if (this.#happens('lost')) return;
    const { random } = this.#options;
    if (this.#happens('cancelled')) {
      this.record.note('failed', run);
      this.record.note('cutOff', run);
      return this.#report(run, 'COMPLETED', random.pick(STOPS));
    }
    const isGood = this.isGreen(tree, run.name);
    const isPass = isGood ? !this.#happens('flaky') : this.#happens('blind');
    this.record.note(isPass ? 'passed' : 'failed', run);
    if (isGood && !isPass) this.record.note('flaked', run);
    this.#report(run, 'COMPLETED', isPass ? random.pick(PASSES) : random.pick(FAILURES));
    if (!isPass && this.#happens('rerun')) this.#runAgain(run, tree);
  }

  #breakDown(run: Run, outage: 'failing' | 'silent'): void {
    this.record.note('brokeDown', run);
    this.#options.weather.count(`ci.outage ${outage}`);
    if (outage === 'silent') return;
    this.record.note('failed', run);
    this.#report(run, 'COMPLETED', this.#options.random.pick(FAILURES));
  }

  #runAgain({ sha, candidateId, name, attempt }: Run, tree: Sha): void {
    const { timers, random, durationMs } = this.#options;
    timers.after(random.between(...durationMs), () => {
      this.#begin({ sha, candidateId, name, attempt: attempt + 1 }, tree);
    });
  }

  #stop(candidateId: string): void {
    if (!this.#options.random.chance(STOP_RATE)) return;
    for (const run of this.#runs.get(candidateId) ?? []) {
      if (run.isOver) continue;
      run.isOver = true;
      this.#report(run, 'COMPLETED', 'CANCELLED');
    }
  }

  #report(run: Run, status: CheckStatus, conclusion: CheckConclusion | undefined): void {
    const { sha, candidateId, name, attempt, isTimeless } = run;
    const startedAt = isTimeless ? undefined : run.startedAt;
    const url = `https://ci.test/${sha}/${encodeURIComponent(name)}/${attempt}`;
    const report = { sha, candidateId, check: { name, status, conclusion, startedAt, url, summary: undefined } };
    this.#reports.set(`${sha} ${name}`, report);
    this.#options.report(report);
  }

  #happens(fault: keyof CiRates): boolean {
    const { weather, random, rates } = this.#options;
    const isDrawn = random.chance(rates[fault]);
    if (!isDrawn || weather.isCalm) return false;
    weather.count(`ci.${fault}`);
    return true;
  }
}
