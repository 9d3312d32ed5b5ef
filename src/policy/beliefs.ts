import { type Candidate, compositionOf, isRunAgain } from '../engine/candidate.ts';
import { clearedChance, failureChance, flakeChance, type Learned, outcomeAt } from '../engine/learned.ts';
import type { PrNumber } from '../engine/pull-request.ts';
import { type Entry, findEntry, type Queue } from '../engine/queue.ts';
import { candidatesOf, unlanded } from '../engine/roster.ts';
import { valuesOf } from '../lib/int-map.ts';
import type { Prng } from '../lib/prng.ts';

/** By submission. */
export type Broken = ReadonlySet<number>;

interface FailedSet {
  readonly entries: readonly Entry[];
  /** How many runs of it failed. */
  readonly failures: number;
}

/**
 * Which entries of a queue may be broken, given all that its runs have shown: an entry in a run that passed is sound,
 * and a run that failed contains a broken one, or failed without a reason.
 */
// SPEC Z6
export class Beliefs {
  readonly #learned: Learned;
  /** In the order of admission. */
  readonly #entries: readonly Entry[];
  readonly #sound: ReadonlySet<number>;
  readonly #failed: readonly FailedSet[];
  readonly #isSure: boolean;
  readonly flake: number;

  constructor(queue: Queue) {
    this.#learned = queue.learned;
    this.#isSure = queue.settings.optimizationMode === 'ADAPTIVE';
    this.flake = flakeChance(queue.learned);
    this.#entries = [...valuesOf(queue.entries)]
      .filter(({ admission }) => admission !== undefined)
      .sort((a, b) => (a.admission?.ordinal ?? 0) - (b.admission?.ordinal ?? 0));
    const passed = [...candidatesOf(queue), ...valuesOf(queue.passes)].filter(({ pass }) => pass !== undefined);
    this.#sound = new Set(passed.flatMap((candidate) => compositionOf(candidate).map(({ submission }) => submission)));
    this.#failed = failedSetsOf(queue);
  }

  /** How likely an entry is broken that was not tested yet; `context` is the outcome of the one before it. */
  chanceOf(context: 0 | 1 | undefined): number {
    const failure = failureChance(this.#learned, context);
    // Without confirmations a flake removes an entry, so some of those that failed were sound.
    return this.#isSure ? failure : Math.max(0, 1 - (1 - failure) / (1 - this.flake));
  }

  draw(prng: Prng): Set<number> {
    return this.drawWith(prng, 1);
  }

  /** The rate of failures is known from few pull requests. What it may be in truth, as a factor. */
  drawFactor(prng: Prng): number {
    const normal = Math.sqrt(-2 * Math.log(1 - prng.next())) * Math.cos(2 * Math.PI * prng.next());
    return Math.exp(normal / Math.sqrt(this.#learned.all.hits + 0.5));
  }

  drawWith(prng: Prng, factor: number): Set<number> {
    const broken = new Set<number>();
    const chances = new Map<number, number>();
    let before: { readonly ordinal: number; readonly outcome: 0 | 1 } | undefined;
    for (const { submission, isCleared, admission } of this.#entries) {
      const ordinal = admission?.ordinal ?? 0;
      const context = before?.ordinal === ordinal - 1 ? before.outcome : outcomeAt(this.#learned, ordinal - 1);
      const chance = isCleared ? clearedChance(this.#learned) : Math.min(0.95, factor * this.chanceOf(context));
      chances.set(submission, this.#sound.has(submission) ? 0 : chance);
      const isBroken = prng.chance(chances.get(submission) ?? 0);
      if (isBroken) broken.add(submission);
      before = { ordinal, outcome: isBroken ? 1 : 0 };
    }
    for (const set of this.#failed) this.#explain(set, chances, broken, prng);
    return broken;
  }

  /** Makes the draw agree with a set that failed. Smaller sets come first, so what explains them is known. */
  #explain(
    { entries, failures }: FailedSet,
    chances: ReadonlyMap<number, number>,
    broken: Set<number>,
    prng: Prng,
  ): void {
    const weights = entries.map(({ submission }) => chances.get(submission) ?? 0);
    const sound = weights.reduce((product, chance) => product * (1 - chance), 1);
    const flukes = sound * this.flake ** failures;
    const isFluke = prng.chance(flukes / (flukes + 1 - sound || 1));
    if (isFluke) {
      for (const { submission } of entries) broken.delete(submission);
      return;
    }
    if (entries.some(({ submission }) => broken.has(submission))) return;
    let left = prng.next() * weights.reduce((sum, weight) => sum + weight, 0);
    for (const [index, entry] of entries.entries()) {
      left -= weights[index] ?? 0;
      if (left < 0) {
        broken.add(entry.submission);
        return;
      }
    }
  }
}

function failedSetsOf(queue: Queue): readonly FailedSet[] {
  const sets = new Map<string, FailedSet>();
  for (const candidate of candidatesOf(queue)) {
    if (candidate.state !== 'failed' || isRunAgain(candidate)) continue;
    const entries = unlanded(queue, suspectsOf(candidate));
    if (entries.length === 0) continue;
    const key = keyOf(entries);
    sets.set(key, { entries, failures: (sets.get(key)?.failures ?? 0) + 1 });
  }
  // A search in halves ends the run of the batch that it began with.
  for (const { how, failedSets, chains } of queue.bisections) {
    if (how !== 'halves') continue;
    const cleared = new Set(chains.flatMap(({ survivors }) => survivors.map(({ prNumber }) => prNumber)));
    for (const set of failedSets) {
      const numbers = set.split(',').map((number) => Number(number) as PrNumber);
      const entries = numbers.flatMap((number) => (cleared.has(number) ? [] : (findEntry(queue, number) ?? [])));
      const key = keyOf(entries);
      if (entries.length > 0 && !sets.has(key)) sets.set(key, { entries, failures: 1 });
    }
  }
  return [...sets.values()].sort((a, b) => a.entries.length - b.entries.length);
}

function keyOf(entries: readonly Entry[]): string {
  return entries.map(({ submission }) => submission).join();
}

/** Those beneath a run of a search were cleared by it. */
function suspectsOf(candidate: Candidate) {
  return candidate.purpose.kind === 'bisection' ? candidate.members : compositionOf(candidate);
}
