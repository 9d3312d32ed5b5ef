import type { Candidate, CandidateNumber } from '../../src/engine/model/candidate.ts';
import type { PrNumber } from '../../src/engine/model/pull-request.ts';
import { DEFAULT_SETTINGS, type QueueSettings } from '../../src/engine/model/settings.ts';
import type { Instant } from '../../src/lib/clock.ts';
import { Prng } from '../../src/lib/prng.ts';
import type { TestEnd } from '../../src/policy/engine-run.ts';
import { ENOUGH_RUNS, type Forecast, forecastQueue } from '../../src/policy/forecast.ts';
import type { Pace, PastRun } from '../../src/policy/pace.ts';
import { beginQueue, beginRun, WorkloadWorld } from '../../src/policy/sluice.ts';
import type { Workload } from '../../src/policy/workload.ts';
import type { Settings } from './policy-trial.ts';

/** A forecast for one entry, and what became of it. */
export interface Observation extends Forecast {
  /** The seed of its queue. Forecasts of one queue come true together. */
  readonly queue: string;
  readonly madeAt: Instant;
  /** It was not submitted yet. */
  readonly isNext: boolean;
  readonly landedAt: Instant | undefined;
  /** When it landed in the samples. */
  readonly samples: readonly Instant[];
}

/** A world that remembers its runs, as a server does. */
class RememberingWorld extends WorkloadWorld {
  readonly runs: PastRun[] = [];
  readonly #members = new Map<CandidateNumber, Candidate['members']>();
  readonly #now: () => Instant;

  constructor(workload: Workload, now: () => Instant) {
    super(workload, undefined);
    this.#now = now;
  }

  override beginRun(candidate: Candidate): TestEnd {
    this.#members.set(candidate.number, candidate.members);
    return super.beginRun(candidate);
  }

  override endRun(candidate: CandidateNumber, tookMs: number, passed: boolean | undefined): void {
    super.endRun(candidate, tookMs, passed);
    const members = this.#members.get(candidate) ?? [];
    if (members.length === 0) return;
    const tested = members.map(({ submission }) => submission);
    this.runs.push({ tested, passed, tookMs, checks: [{ name: 'ci', tookMs }], endedAt: this.#now() });
  }
}

interface Made {
  readonly prNumber: PrNumber;
  readonly madeAt: Instant;
  readonly forecast: Forecast;
  readonly samples: readonly Instant[];
  /** The forecast of one submitted now is compared with the one that came next, so much later. */
  readonly laterMs: number | undefined;
}

interface Calibration {
  readonly settings: Settings;
  readonly seed: string;
  /** How many times forecasts are made. */
  readonly moments: number;
  readonly samples: number;
  /** Forecasts are made after this many pull requests. */
  readonly history: number;
}

/** Plays a workload, stops it at random for forecasts, and compares them with its end. */
export function calibrate(workload: Workload, asked: Calibration): Observation[] {
  const { settings, seed, moments, samples, history } = asked;
  const prng = new Prng(`${seed}/moments`);
  const { changes, chance } = workload;
  const world: RememberingWorld = new RememberingWorld(workload, () => run.clock.now);
  const queue = beginQueue({ ...DEFAULT_SETTINGS, ...settings } as QueueSettings);
  const run = beginRun(workload, queue, world);
  // Forecasts expect that pull requests go on to come, so the workload goes on until all told entries are decided.
  const instantAt = (part: number) =>
    changes[history + Math.floor((changes.length - history) * part)]?.submittedAt ?? 0;
  const [from, until] = [instantAt(0.12), instantAt(0.42)];
  const made: Made[] = [];
  const forecast = () => {
    if (world.runs.filter(({ passed }) => passed !== undefined).length < ENOUGH_RUNS) return;
    const now = run.clock.now;
    const pace: Pace = {
      runs: world.runs.slice(-200),
      buildMs: [chance.gitMs],
      landMs: [chance.gitMs],
      arrivalMs: arrivalMsAt(workload, now),
    };
    const landings: [PrNumber, Instant][] = [];
    const { entries, next } = forecastQueue(run.queue, now, pace, {
      seed: `${seed}/${now}`,
      isEnough: (done) => done >= samples,
      onSample: (landedAt) => landings.push(...landedAt),
    });
    const samplesOf = Map.groupBy(landings, ([prNumber]) => prNumber);
    for (const [prNumber, forecast] of entries) {
      const instants = (samplesOf.get(prNumber) ?? []).map(([, at]) => at);
      made.push({ prNumber, madeAt: now, forecast, samples: instants, laterMs: undefined });
    }
    const following = changes.find(({ submittedAt }) => submittedAt > now);
    if (following === undefined || next === undefined) return;
    const laterMs = following.submittedAt - now;
    made.push({ prNumber: following.number as PrNumber, madeAt: now, forecast: next, samples: [], laterMs });
  };
  for (let index = 0; index < moments; index += 1) run.clock.at(from + prng.next() * (until - from), forecast);
  while (run.advance());
  return made.map(({ prNumber, madeAt, forecast: told, samples: instants, laterMs }) => {
    const landedAt = world.referee.landedAt.get(prNumber);
    const isNext = laterMs !== undefined;
    return {
      ...told,
      queue: seed,
      madeAt,
      isNext,
      landedAt: landedAt === undefined ? undefined : landedAt - (laterMs ?? 0),
      samples: instants,
    };
  });
}

/** From the latest submissions, as a server knows them. */
function arrivalMsAt({ changes }: Workload, now: Instant): number | undefined {
  const past = changes.filter(({ submittedAt }) => submittedAt <= now).slice(-50);
  const first = past[0]?.submittedAt;
  return first === undefined || past.length < 2 ? undefined : (now - first) / past.length;
}
