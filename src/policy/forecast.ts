import { type Candidate, compositionOf } from '../engine/model/candidate.ts';
import type { PrNumber } from '../engine/model/pull-request.ts';
import { type Entry, findEntry, type Queue } from '../engine/model/queue.ts';
import { admittedInOrder, candidatesOf } from '../engine/model/roster.ts';
import { ALL_TARGETS } from '../engine/model/targets.ts';
import type { Transition } from '../engine/model/work.ts';
import type { Instant } from '../lib/clock.ts';
import { Prng } from '../lib/prng.ts';
import { type Belief, Beliefs, USUAL_PRIOR } from './beliefs.ts';
import { EngineRun, submissionOf, type TestEnd, type World } from './engine-run.ts';
import { Durations, type Pace, type PastRun } from './pace.ts';

export interface Forecast {
  /** Half of the simulated landings were before this instant. Undefined if it lands in none. */
  readonly landsAtP50: Instant | undefined;
  readonly landsAtP95: Instant | undefined;
  readonly chanceToLand: number;
}

export interface Forecasts {
  readonly entries: ReadonlyMap<PrNumber, Forecast>;
  /** Of a pull request that would be submitted now; undefined if none would be admitted. */
  readonly next: Forecast | undefined;
  readonly samples: number;
}

export interface ForecastOptions {
  readonly seed: string;
  /** Asked before each sample, with the number of samples so far. */
  readonly isEnough: (samples: number) => boolean;
  /** Told when entries landed in each sample. */
  readonly onSample?: (landedAt: ReadonlyMap<PrNumber, Instant>) => void;
}

/** With fewer runs than this, the past says too little. */
export const ENOUGH_RUNS = 20;

/** A draw of what is broken costs far less than a run of the engine, so chances are more precise than times. */
const DRAWS = 400;

/** The share of sound entries that are removed counts as if it had been seen this often for each entry. */
const POOL_WEIGHT = 20;

/** Runs the real engine forward from the present queue, again and again, with all that is unknown drawn at random. */
export function forecastQueue(queue: Queue, now: Instant, past: Pace, options: ForecastOptions): Forecasts {
  const pace = { ...past, runs: [...past.runs, ...runsUnderWay(queue, now)] };
  const beliefs = new Beliefs(queue);
  const tally = new Tally(admittedInOrder(queue));
  let samples = 0;
  while (!options.isEnough(samples)) {
    const prng = new Prng(`${options.seed}/${samples}`);
    // One more pull request may fill a batch, so half of the samples are without it.
    const hasNext = samples % 2 === 1;
    const belief = beliefs.draw(prng);
    const drawing = { belief, durations: new Durations(pace, prng), pace, prng, hasNext };
    const played = new Sample(queue, now, drawing).play();
    tally.add(played);
    options.onSample?.(played.landedAt);
    samples += 1;
  }
  const usual = new Beliefs(queue, USUAL_PRIOR);
  return { ...tally.conclude(usual, new Prng(`${options.seed}/chances`)), samples };
}

/** They count as cut off now. Without them, long runs would be too rare in a queue that began lately. */
function runsUnderWay(queue: Queue, now: Instant): PastRun[] {
  return candidatesOf(queue).flatMap(({ state, testingSince, members }) => {
    if (state !== 'testing' || testingSince === undefined || members.length === 0) return [];
    const tested = members.map(({ submission }) => submission);
    return { tested, passed: undefined, tookMs: Math.max(0, now - testingSince), checks: [], endedAt: now };
  });
}

interface Drawing {
  readonly belief: Belief;
  readonly durations: Durations;
  readonly pace: Pace;
  readonly prng: Prng;
  readonly hasNext: boolean;
}

interface Played {
  /** By submission. */
  readonly broken: ReadonlySet<number>;
  readonly landedAt: ReadonlyMap<PrNumber, Instant>;
  readonly removed: ReadonlySet<PrNumber>;
}

/** A queue that can work is decided in fewer steps. */
const MOST_STEPS = 400;
const STEPS_EACH = 60;

/** More than any strategy looks at. */
const MOST_PENDING = 80;

/** The number of the pull request that is submitted at the beginning. Later ones count down. */
const NEXT = (2 ** 31 - 1) as PrNumber;

class Sample implements World {
  readonly #run: EngineRun;
  readonly #draw: Drawing;
  readonly #broken: Set<number>;
  readonly #live: readonly Entry[];
  /** Those to be decided. A broken entry never lands, so its end is of no interest. */
  readonly #open: Set<PrNumber>;
  readonly #landedAt = new Map<PrNumber, Instant>();
  readonly #removed = new Set<PrNumber>();
  #submitted = 0;
  #heldBack = 0;
  #outcome: 0 | 1 | undefined;

  constructor(queue: Queue, now: Instant, draw: Drawing) {
    this.#draw = draw;
    this.#live = admittedInOrder(queue);
    this.#broken = new Set(draw.belief.broken);
    this.#outcome = this.#live.length === 0 ? undefined : 0;
    const sound = this.#live.filter(({ submission }) => !this.#broken.has(submission));
    this.#open = new Set(sound.map(({ prNumber }) => prNumber));
    this.#run = new EngineRun(asSimulated(queue), now, this);
    this.#resume(queue);
    if (draw.hasNext) this.#submit();
    if (findEntry(this.#run.queue, NEXT)?.admission !== undefined) this.#open.add(NEXT);
    this.#awaitNext();
  }

  play(): Played {
    let steps = MOST_STEPS + STEPS_EACH * this.#open.size;
    while (this.#open.size > 0 && steps > 0 && this.#run.advance()) steps -= 1;
    return { broken: this.#broken, landedAt: this.#landedAt, removed: this.#removed };
  }

  /** Everything that was under way goes on. */
  #resume(queue: Queue): void {
    for (const { admission, wasTested } of this.#live) {
      if (!wasTested && admission !== undefined) this.#run.wakeBatch(admission.at);
    }
    for (const { number, state } of candidatesOf(queue)) {
      if (state === 'building') this.#run.carryOut({ kind: 'build_candidate', candidate: number });
      if (state === 'testing') this.#run.carryOut({ kind: 'start_checks', candidate: number });
    }
    if (queue.landing !== undefined)
      this.#run.carryOut({
        kind: 'land_candidate',
        candidate: queue.landing.candidate,
        expectedHead: queue.landing.expectedHead,
      });
  }

  /** Pull requests go on to come as often as they did. */
  #awaitNext(): void {
    const { prng, pace } = this.#draw;
    if (pace.arrivalMs === undefined) return;
    this.#run.clock.after(-Math.log(1 - prng.next()) * pace.arrivalMs, () => {
      this.#heldBack += 1;
      this.#submitHeldBack();
      this.#awaitNext();
    });
  }

  /** A pull request behind so many others changes nothing yet. It is submitted when its turn is nearer. */
  #submitHeldBack(): void {
    for (; this.#heldBack > 0 && this.#run.queue.index.pending.size < MOST_PENDING; this.#heldBack -= 1) this.#submit();
  }

  /** It impacts what one of those impacts that are there. */
  #submit(): void {
    const { prng, belief, hasNext } = this.#draw;
    const { clock, queue } = this.#run;
    this.#outcome = prng.chance(belief.chanceOf(this.#outcome)) ? 1 : 0;
    if (this.#outcome === 1) this.#broken.add(queue.submissions + 1);
    const number = (NEXT - this.#submitted - (hasNext ? 0 : 1)) as PrNumber;
    this.#submitted += 1;
    const targets = this.#live[prng.integer(this.#live.length)]?.targets ?? ALL_TARGETS;
    this.#run.tell(submissionOf(number, clock.now, { baseBranch: queue.branch, targets }));
  }

  buildMs(): number {
    return this.#draw.durations.drawBuild();
  }

  landMs(): number {
    return this.#draw.durations.drawLanding();
  }

  findConflict(): undefined {
    return undefined;
  }

  beginRun(candidate: Candidate, now: Instant): TestEnd {
    const { durations, prng, belief } = this.#draw;
    const isSound = compositionOf(candidate).every(({ submission }) => !this.#broken.has(submission));
    const passes = isSound && !prng.chance(belief.flake);
    const elapsedMs = Math.max(0, now - (candidate.testingSince ?? now));
    return { passes, afterMs: durations.drawRun(candidate, passes, elapsedMs) - elapsedMs };
  }

  note({ prNumber, to }: Transition, at: Instant): void {
    if (!this.#open.has(prNumber)) return;
    if (to === 'MERGED') this.#landedAt.set(prNumber, at);
    else if (to === 'FAILED' || to === 'CANCELLED') this.#removed.add(prNumber);
    else return;
    this.#open.delete(prNumber);
  }

  endRun(): void {}
  landed(): void {}
  raiseAlarm(): void {}
}

/** The simulated commits name no required checks, and direct merges depend on the checks of heads. */
function asSimulated(queue: Queue): Queue {
  const requiredStatuses = queue.settings.requiredStatuses?.length === 0 ? [] : null;
  const honorQuarantine = queue.settings.honorQuarantine === 'SHADOW' ? 'OFF' : queue.settings.honorQuarantine;
  const settings = { ...queue.settings, requiredStatuses, honorQuarantine, directMergeMode: 'OFF' as const };
  return { ...queue, hasPages: false, settings };
}

class Tally {
  readonly #live: readonly Entry[];
  readonly #landedAt = new Map<PrNumber, Instant[]>();
  /** How often each entry was sound, and how often it was removed all the same. */
  readonly #sound = new Map<PrNumber, number>();
  readonly #wronged = new Map<PrNumber, number>();
  #nextOutcomes = { landed: 0, removed: 0 };

  constructor(live: readonly Entry[]) {
    this.#live = live;
  }

  add({ broken, landedAt, removed }: Played): void {
    for (const [prNumber, at] of landedAt) {
      const known = this.#landedAt.get(prNumber);
      if (known === undefined) this.#landedAt.set(prNumber, [at]);
      else known.push(at);
    }
    if (landedAt.has(NEXT)) this.#nextOutcomes.landed += 1;
    if (removed.has(NEXT)) this.#nextOutcomes.removed += 1;
    for (const { prNumber, submission } of this.#live) {
      if (broken.has(submission)) continue;
      count(this.#sound, prNumber);
      if (removed.has(prNumber)) count(this.#wronged, prNumber);
    }
  }

  conclude(beliefs: Beliefs, prng: Prng): Omit<Forecasts, 'samples'> {
    const { soundness, nextChance } = this.#drawSoundness(beliefs, prng);
    const pooled = sumOf(this.#wronged) / Math.max(1, sumOf(this.#sound));
    const entries = new Map<PrNumber, Forecast>();
    for (const { prNumber, submission } of this.#live) {
      const wronged = (this.#wronged.get(prNumber) ?? 0) + POOL_WEIGHT * pooled;
      const removal = wronged / ((this.#sound.get(prNumber) ?? 0) + POOL_WEIGHT);
      const chanceToLand = (soundness.get(submission) ?? 0) * (1 - removal);
      entries.set(prNumber, { ...this.#timesOf(prNumber), chanceToLand });
    }
    const { landed, removed } = this.#nextOutcomes;
    const isTold = landed + removed > 0;
    const chanceToLand = (1 - nextChance) * (1 - pooled);
    return { entries, next: isTold ? { ...this.#timesOf(NEXT), chanceToLand } : undefined };
  }

  #timesOf(prNumber: PrNumber): Omit<Forecast, 'chanceToLand'> {
    const instants = (this.#landedAt.get(prNumber) ?? []).sort((a, b) => a - b);
    return { landsAtP50: quantile(instants, 0.5), landsAtP95: quantile(instants, 0.95) };
  }

  #drawSoundness(beliefs: Beliefs, prng: Prng): { soundness: ReadonlyMap<number, number>; nextChance: number } {
    const soundness = new Map<number, number>();
    let nextChance = 0;
    for (let index = 0; index < DRAWS; index += 1) {
      const { broken, chanceOf } = beliefs.draw(prng);
      for (const { submission } of this.#live) if (!broken.has(submission)) count(soundness, submission, 1 / DRAWS);
      nextChance += chanceOf(undefined) / DRAWS;
    }
    return { soundness, nextChance };
  }
}

function count<K>(counts: Map<K, number>, key: K, by = 1): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}

function sumOf(counts: ReadonlyMap<unknown, number>): number {
  return [...counts.values()].reduce((sum, each) => sum + each, 0);
}

/** One more draw would be below it with this probability. */
function quantile(sorted: readonly Instant[], share: number): Instant | undefined {
  const rank = share * (sorted.length + 1) - 1;
  const low = sorted[Math.min(sorted.length - 1, Math.max(0, Math.floor(rank)))];
  const high = sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(rank)))];
  if (low === undefined || high === undefined) return undefined;
  return low + (high - low) * (rank - Math.floor(rank));
}
