import type { Candidate } from '../../engine/model/candidate.ts';
import type { Queue } from '../../engine/model/queue.ts';
import { backoffMs } from '../../lib/backoff.ts';
import type { Instant } from '../../lib/clock.ts';
import { ENOUGH_RUNS } from '../../policy/forecast.ts';
import type { Pace, PastRun } from '../../policy/pace.ts';
import type { QueueId } from '../../storage/queues.ts';
import type { App } from '../core/app.ts';
import type { LoadedQueue } from '../core/commit-draft.ts';
import type { Forecasting, QueueForecast } from '../core/forecasting.ts';
import { decodeCandidate } from '../core/queue-codec.ts';

interface Known extends QueueForecast {
  readonly version: number;
}

/** A queue that changes all the time gets a new forecast this often. */
const LEAST_AGE_MS = 60_000;
/** All forecasts of a server take a quarter of one core at most: each is followed by a rest of five times its time. */
const REST = 5;
/** Forecasts of queues that are not asked for are forgotten. */
const MOST_KNOWN = 500;

/** A queue whose forecast fails is tried again after a minute, then after two, and so on. */
const BACKOFF = { firstMs: 60_000, capMs: 60 * 60_000, spread: 1 };

interface Failed {
  readonly attempts: number;
  readonly retriesAt: Instant;
}

type Parts = Pick<App, 'store' | 'simulator' | 'clock' | 'log'>;

// SPEC Z5
export class Forecaster implements Forecasting {
  readonly #app: Parts;
  readonly #known = new Map<QueueId, Known>();
  /** The queues that wait for a forecast, each in its latest state. */
  readonly #wanted = new Map<QueueId, LoadedQueue>();
  readonly #failed = new Map<QueueId, Failed>();
  #isBusy = false;

  constructor(app: Parts) {
    this.#app = app;
  }

  find(found: LoadedQueue): QueueForecast | undefined {
    const known = this.#known.get(found.id);
    const now = this.#app.clock.now();
    const dueAt = Math.max((known?.madeAt ?? 0) + LEAST_AGE_MS, this.retriesAt(found.id) ?? 0);
    if (known?.version !== found.version && now >= dueAt) this.#want(found);
    return known;
  }

  findMade(id: QueueId): QueueForecast | undefined {
    return this.#known.get(id);
  }

  retriesAt(id: QueueId): Instant | undefined {
    return this.#failed.get(id)?.retriesAt;
  }

  #want(found: LoadedQueue): void {
    this.#wanted.set(found.id, found);
    if (!this.#isBusy) void this.#work();
  }

  async #work(): Promise<void> {
    this.#isBusy = true;
    const startedAt = performance.now();
    const [found] = this.#wanted.values();
    if (found !== undefined) {
      this.#wanted.delete(found.id);
      await this.#make(found).then(
        () => this.#failed.delete(found.id),
        (error: unknown) => this.#fail(found.id, error),
      );
    }
    if (this.#wanted.size === 0 && found === undefined) {
      this.#isBusy = false;
      return;
    }
    this.#app.clock.after(REST * (performance.now() - startedAt), () => void this.#work());
  }

  // SPEC Z9
  #fail(id: QueueId, error: unknown): void {
    const attempts = (this.#failed.get(id)?.attempts ?? 0) + 1;
    const { clock, log } = this.#app;
    const retriesAt = clock.now() + backoffMs(attempts - 1, BACKOFF);
    remember(this.#failed, id, { attempts, retriesAt });
    log.warn({ err: error, queue: id, attempts, retriesAt }, 'forecast failed');
  }

  async #make({ id, version, queue }: LoadedQueue): Promise<void> {
    const { store, clock, simulator } = this.#app;
    const rows = await store.queueRecords.listEndedCandidates(id, MOST_RUNS);
    const now = clock.now();
    const pace = paceOf(queue, rows.map(decodeCandidate), now);
    const decided = pace.runs.filter(({ passed }) => passed !== undefined);
    const basis = { samples: 0, runs: decided.length, since: decided[0]?.endedAt };
    let known: Known = { version, madeAt: now, entries: new Map(), next: undefined, basis };
    if (decided.length >= ENOUGH_RUNS) {
      const { samples, ...told } = await simulator.forecast({ queue, now, pace, seed: `${version}` });
      known = { ...known, ...told, basis: { ...basis, samples } };
    }
    remember(this.#known, id, known);
  }
}

/** The newest is the last one, and the first is dropped. */
function remember<T>(map: Map<QueueId, T>, id: QueueId, value: T): void {
  map.delete(id);
  map.set(id, value);
  for (const [oldest] of map) if (map.size > MOST_KNOWN) map.delete(oldest);
}

/** Only recent runs tell how long the next one takes. */
const MOST_RUNS = 200;

/** A longer build waited for something else. */
const LONGEST_BUILD_MS = 5 * 60_000;

/** The pace of a queue, from its latest candidates that ended, oldest first. */
// SPEC Z3
function paceOf(queue: Queue, ended: readonly Candidate[], now: Instant): Pace {
  return {
    runs: ended.flatMap(runOf),
    buildMs: ended.flatMap(buildMsOf),
    landMs: landMsOf(ended),
    arrivalMs: arrivalMsOf(queue, ended, now),
  };
}

/** Passes taken over from others, and timeouts, say nothing about durations. */
function runOf(candidate: Candidate): PastRun[] {
  const { members, testingSince, pass, failure, checks, purpose, question } = candidate;
  if (testingSince === undefined || purpose.kind === 'head' || question !== undefined) return [];
  const isFailure = failure?.reason === 'TEST_RUN_REQUIRED_STATUS_FAILED';
  const endedAt = pass?.by === 'own_run' ? pass.at : isFailure ? failure.at : cutOffAt(candidate);
  if (endedAt === undefined) return [];
  const took = (at: Instant) => Math.max(0, at - testingSince);
  return [
    {
      tested: members.map(({ submission }) => submission),
      passed: pass === undefined && failure === undefined ? undefined : pass !== undefined,
      tookMs: took(endedAt),
      checks: checks.map(({ name, reportedAt }) => ({ name, tookMs: took(reportedAt) })),
      endedAt,
    },
  ];
}

/** It was ended while CI was testing it. */
function cutOffAt({ pass, failure, sameTreeAs, endedAt }: Candidate): Instant | undefined {
  return pass === undefined && failure === undefined && sameTreeAs === undefined ? endedAt : undefined;
}

function buildMsOf({ plannedAt, testingSince }: Candidate): number[] {
  const tookMs = testingSince === undefined ? Number.POSITIVE_INFINITY : testingSince - plannedAt;
  return tookMs >= 0 && tookMs < LONGEST_BUILD_MS ? [tookMs] : [];
}

/** Most candidates wait for others between pass and landing. The shortest times did not. */
function landMsOf(ended: readonly Candidate[]): number[] {
  const waits = ended.flatMap(({ pass, endedAt, ending }) =>
    pass === undefined || endedAt === undefined || ending?.reason !== 'MERGE_GRAPH_MERGE' ? [] : endedAt - pass.at,
  );
  return waits
    .filter((ms) => ms >= 0)
    .sort((a, b) => a - b)
    .slice(0, Math.max(1, Math.floor(waits.length / 4)));
}

/** Submissions are counted, so the oldest of these candidates tells how many have come since. */
function arrivalMsOf({ submissions }: Queue, ended: readonly Candidate[], now: Instant): number | undefined {
  const oldest = ended.find(({ members }) => members.length > 0);
  const submission = oldest?.members[0]?.submission;
  if (oldest === undefined || submission === undefined) return undefined;
  const since = submissions - submission;
  return since > 0 && now > oldest.plannedAt ? (now - oldest.plannedAt) / since : undefined;
}
