import { findSearch } from '../engine/line/marks.ts';
import { type Candidate, compositionOf, isRunAgain, type Member } from '../engine/model/candidate.ts';
import { clearedChance, confirmationsNeeded, flakeChance, type Learned, outcomeAt } from '../engine/model/learned.ts';
import { policyOf } from '../engine/model/policy.ts';
import type { PrNumber } from '../engine/model/pull-request.ts';
import { type Entry, findEntry, type Queue } from '../engine/model/queue.ts';
import { candidatesOf, unlanded } from '../engine/model/roster.ts';
import { valuesOf } from '../lib/int-map.ts';
import type { Prng } from '../lib/prng.ts';

/** One draw of all that is not known about a queue. */
export interface Belief {
  /** By submission. */
  readonly broken: ReadonlySet<number>;
  /** How often a run fails without a reason. */
  readonly flake: number;
  /** How likely an entry is broken that comes later; `context` is the outcome of the one before it. */
  chanceOf(context: 0 | 1 | undefined): number;
}

interface FailedSet {
  readonly entries: readonly Entry[];
  /** How many runs of it failed. */
  readonly failures: number;
}

/** An entry, in the order of admission. */
interface Suspect {
  readonly submission: number;
  readonly ordinal: number;
  /** It passed in a run, so the rate of failures does not say how likely it is broken. */
  readonly chance: number | undefined;
  readonly sets: readonly number[];
  isBroken: boolean;
}

/** Decisions that count before there are any. */
interface Prior {
  readonly hits: number;
  readonly misses: number;
}

/** Times: nothing is known of a new queue, and what is unknown makes the late instants later. */
const OPEN_PRIOR: Prior = { hits: 0.5, misses: 2 };
/** Chances: a queue in which half of the first ten fail is seldom one in which half of all fail. */
export const USUAL_PRIOR: Prior = { hits: 2.6, misses: 17.4 };
/** Without a failure among many decisions, the rate is still not zero. */
const LEAST_HITS = 0.5;
/** Older decisions count less. */
const DECAY = 0.995;
/** The context counts as if it had shown this many failures more, as often as all contexts do. */
const CONTEXT_DOUBT = 3;
/** Rounds before the first draw, and between draws: draws are then nearly independent. */
const FIRST_ROUNDS = 20;
const ROUNDS = 2;

/**
 * Draws which entries of a queue are broken, and how often entries and runs fail, given all that is known. Failures are
 * decided later than passes, because they are searched for. So the rate of failures counts the entries under suspicion
 * too. Each round draws one unknown after the other, given all others (Gibbs sampling).
 */
// SPEC Z6
export class Beliefs {
  readonly #learned: Learned;
  readonly #suspects: readonly Suspect[];
  readonly #failed: readonly (Pick<FailedSet, 'failures'> & { readonly members: readonly Suspect[] })[];
  /** How many members of each failed set are broken. */
  readonly #guilty: number[];
  /** In failed sets, and not decided yet. */
  readonly #suspected: readonly Suspect[];
  /** Passed in a run, and not decided yet. */
  readonly #passed: number;
  readonly #decided: Prior;
  readonly #contexts: readonly [number, number];
  readonly #removesFlakes: boolean;
  #rate: number;
  #flake: number;
  #roundsLeft = FIRST_ROUNDS;

  constructor(queue: Queue, prior = OPEN_PRIOR) {
    const { learned } = queue;
    this.#learned = learned;
    this.#removesFlakes = policyOf(queue).kind === 'fixed' && !queue.settings.batch;
    this.#contexts = contextsOf(learned);
    this.#decided = decidedOf(learned, prior);
    this.#rate = this.#decided.hits / (this.#decided.hits + this.#decided.misses);
    this.#flake = flakeChance(learned);
    const passed = [...candidatesOf(queue), ...valuesOf(queue.passes)].filter(({ pass }) => pass !== undefined);
    const sound = new Set(passed.flatMap((candidate) => compositionOf(candidate).map(({ submission }) => submission)));
    const sets = failedSetsOf(queue);
    this.#suspects = [...valuesOf(queue.entries)]
      .filter(({ admission }) => admission !== undefined)
      .map(({ submission, admission, isCleared }) => ({
        submission,
        ordinal: admission?.ordinal ?? 0,
        chance: sound.has(submission) ? 0 : isCleared ? clearedChance(learned) : undefined,
        sets: sets.flatMap(({ entries }, index) => (entries.some((one) => one.submission === submission) ? index : [])),
        isBroken: false,
      }))
      .sort((a, b) => a.ordinal - b.ordinal);
    const suspects = new Map(this.#suspects.map((suspect) => [suspect.submission, suspect]));
    this.#failed = sets.map(({ entries, failures }) => ({
      failures,
      members: entries.flatMap(({ submission }) => suspects.get(submission) ?? []),
    }));
    this.#guilty = sets.map(() => 0);
    // An accused entry is decided, although it waits for those ahead of it.
    const open = this.#suspects.filter(({ ordinal }) => outcomeAt(learned, ordinal) === undefined);
    this.#passed = open.filter(({ chance }) => chance !== undefined).length;
    this.#suspected = open.filter(({ chance, sets }) => chance === undefined && sets.length > 0);
  }

  draw(prng: Prng): Belief {
    for (; this.#roundsLeft > 0; this.#roundsLeft -= 1) this.#round(prng);
    this.#roundsLeft = ROUNDS;
    const broken = this.#suspects.filter(({ isBroken }) => isBroken).map(({ submission }) => submission);
    const rate = this.#rate;
    const flake = this.#flake;
    return { broken: new Set(broken), flake, chanceOf: (context) => this.#chanceOf(context, { rate, flake }) };
  }

  #round(prng: Prng): void {
    for (const index of this.#suspects.keys()) this.#turn(index, prng);
    for (const set of this.#failed.keys()) for (let turn = 0; turn < ROUNDS; turn += 1) this.#swap(set, prng);
    const { hits, misses } = this.#decided;
    const guilty = this.#suspected.filter(({ isBroken }) => isBroken).length;
    const innocent = this.#suspected.length - guilty + this.#passed;
    this.#rate = drawBeta(prng, hits + guilty, misses + innocent);
    let flukes = 0;
    for (const [set, { failures }] of this.#failed.entries()) if (this.#guilty[set] === 0) flukes += failures;
    const { flakes } = this.#learned;
    this.#flake = drawBeta(prng, Math.max(LEAST_HITS, flakes.hits) + flukes, flakes.seen - flakes.hits);
  }

  #chanceOf(context: 0 | 1 | undefined, { rate, flake }: { readonly rate: number; readonly flake: number }): number {
    const failure = Math.min(0.95, rate * (context === undefined ? 1 : this.#contexts[context]));
    // Without a second run a flake removes an entry, so some of those that failed were sound.
    return this.#removesFlakes ? Math.max(0, 1 - (1 - failure) / (1 - flake)) : failure;
  }

  #outcomeAt(index: number, ordinal: number): 0 | 1 | undefined {
    const suspect = this.#suspects[index];
    if (suspect?.ordinal === ordinal) return suspect.isBroken ? 1 : 0;
    return outcomeAt(this.#learned, ordinal);
  }

  /** How much likelier one is broken than sound, given everything else. */
  #oddsOf(index: number): number {
    const suspect = this.#suspects[index];
    if (suspect === undefined) return 0;
    const now = { rate: this.#rate, flake: this.#flake };
    const { ordinal, sets, isBroken } = suspect;
    const chance = suspect.chance ?? this.#chanceOf(this.#outcomeAt(index - 1, ordinal - 1), now);
    let odds = chance / (1 - chance);
    const next = this.#outcomeAt(index + 1, ordinal + 1);
    if (next !== undefined) {
      const [after0, after1] = [this.#chanceOf(0, now), this.#chanceOf(1, now)];
      odds *= next === 1 ? after1 / (after0 || 1) : (1 - after1) / (1 - after0);
    }
    for (const set of sets) {
      const others = (this.#guilty[set] ?? 0) - (isBroken ? 1 : 0);
      if (others === 0) odds /= Math.max(1e-9, this.#flake ** (this.#failed[set]?.failures ?? 1));
    }
    return odds;
  }

  #turn(index: number, prng: Prng): void {
    const suspect = this.#suspects[index];
    const odds = this.#oddsOf(index);
    if (suspect !== undefined) this.#mark(suspect, prng.chance(odds / (1 + odds)));
  }

  /** Blames another member of a failed set. Changing one at a time, that would take many rounds. */
  #swap(set: number, prng: Prng): void {
    const members = this.#failed[set]?.members ?? [];
    const from = prng.pick(members.filter(({ isBroken }) => isBroken));
    const to = prng.pick(members.filter(({ isBroken, chance }) => !isBroken && chance !== 0));
    if (from === undefined || to === undefined) return;
    const before = this.#oddsOf(this.#suspects.indexOf(from));
    this.#mark(from, false);
    const after = this.#oddsOf(this.#suspects.indexOf(to));
    this.#mark(prng.chance(after / before) ? to : from, true);
  }

  #mark(suspect: Suspect, isBroken: boolean): void {
    if (suspect.isBroken === isBroken) return;
    suspect.isBroken = isBroken;
    for (const set of suspect.sets) this.#guilty[set] = (this.#guilty[set] ?? 0) + (isBroken ? 1 : -1);
  }
}

/** The decisions of the past: how many failed, and how many did not. */
function decidedOf({ outcomes }: Learned, prior: Prior): Prior {
  let { hits, misses } = prior;
  for (const digit of outcomes.digits) {
    if (digit === '.') continue;
    hits = DECAY * hits + (digit === '1' ? 1 : 0);
    misses = DECAY * misses + (digit === '0' ? 1 : 0);
  }
  return { hits: Math.max(LEAST_HITS, hits), misses };
}

/** How much likelier than others an entry fails after one that landed, and after one that failed. */
function contextsOf({ after }: Learned): readonly [number, number] {
  const [good, bad] = after;
  const seen = good.seen + bad.seen;
  const rate = seen === 0 ? 0 : (good.hits + bad.hits) / seen;
  const timesAsLikely = (share: Learned['all']) => (share.hits + CONTEXT_DOUBT) / (share.seen * rate + CONTEXT_DOUBT);
  return [timesAsLikely(good), timesAsLikely(bad)];
}

/** A share, of which this many hits and misses are known. */
function drawBeta(prng: Prng, hits: number, misses: number): number {
  const [a, b] = [drawGamma(prng, hits), drawGamma(prng, misses)];
  return a / (a + b || 1);
}

/** Marsaglia and Tsang. */
function drawGamma(prng: Prng, shape: number): number {
  if (shape < 1) return drawGamma(prng, shape + 1) * (1 - prng.next()) ** (1 / Math.max(0.01, shape));
  const d = shape - 1 / 3;
  for (;;) {
    const x = prng.normal();
    const v = (1 + x / Math.sqrt(9 * d)) ** 3;
    if (v > 0 && Math.log(1 - prng.next()) < x ** 2 / 2 + d - d * v + d * Math.log(v)) return d * v;
  }
}

function failedSetsOf(queue: Queue): readonly FailedSet[] {
  const sets = new Map<string, FailedSet>();
  const add = (entries: readonly Entry[], failures: number) => {
    const key = keyOf(entries);
    if (entries.length > 0) sets.set(key, { entries, failures: (sets.get(key)?.failures ?? 0) + failures });
  };
  for (const candidate of candidatesOf(queue)) {
    if (candidate.state === 'failed' && !isRunAgain(candidate)) add(unlanded(queue, suspectsOf(queue, candidate)), 1);
  }
  const landed = new Set(queue.landings.map(({ prNumber }) => prNumber));
  for (const search of queue.bisections) {
    // The runs that accused it are ended when it is tested for the last time.
    if (search.accused?.isLast) add(unlanded(queue, search.members), 1 + confirmationsNeeded(queue.learned));
    // A search in halves ends the run of the batch that it began with.
    if (search.how !== 'halves') continue;
    const siblings = queue.bisections.filter(({ batch }) => batch === search.batch);
    const cleared = new Set(siblings.flatMap(({ survivors }) => survivors.map(({ prNumber }) => prNumber)));
    for (const set of search.failedSets) {
      const numbers = set.split(',').map((number) => Number(number) as PrNumber);
      // One that was removed since explains the failure.
      if (numbers.some((number) => findEntry(queue, number) === undefined && !landed.has(number))) continue;
      const entries = numbers.flatMap((number) => (cleared.has(number) ? [] : (findEntry(queue, number) ?? [])));
      if (!sets.has(keyOf(entries))) add(entries, 1);
    }
  }
  return [...sets.values()].sort((a, b) => a.entries.length - b.entries.length);
}

function keyOf(entries: readonly Entry[]): string {
  return entries.map(({ submission }) => submission).join();
}

/** Those that a search has cleared did not make its runs fail. */
function suspectsOf(queue: Queue, candidate: Candidate): Member[] {
  const { purpose } = candidate;
  const search = purpose.kind === 'bisection' ? findSearch(queue, purpose.bisection) : undefined;
  const cleared = new Set(search?.survivors.map(({ submission }) => submission));
  return compositionOf(candidate).filter(({ submission }) => !cleared.has(submission));
}
