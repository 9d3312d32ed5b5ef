import { Prng } from '../lib/prng.ts';
import { type Change, HOUR_MS, MINUTE_MS, PLAIN_CHANGE } from './workload.ts';

/** How busy each hour of the day is, relative to the average. */
export const SHAPES = {
  flat: Array.from({ length: 24 }, () => 1),
  day: [
    ...[0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.2, 0.5, 1.2, 2.2, 2.6, 2.4],
    ...[1.6, 2.2, 2.6, 2.6, 2.2, 1.4, 0.7, 0.4, 0.3, 0.1, 0.1, 0.1],
  ],
} as const;

export interface Arrivals {
  readonly seed: string;
  readonly perHour: number;
  readonly shape: keyof typeof SHAPES;
}

export interface Recipe extends Arrivals {
  /** The workload ends at the first limit. At least one is set. */
  readonly prs: number | undefined;
  readonly hours: number | undefined;
  readonly medianMinutes: number;
  readonly p95Minutes: number;
  readonly failureRate: number;
  /** How often a change breaks or conflicts only together with a recent earlier one. */
  readonly breakRate: number;
  readonly conflictRate: number;
  /** How often a change fails without a recent earlier one that is not broken. */
  readonly needRate: number;
  readonly targets: number;
  readonly targetsPerPr: number;
}

/** A Monday at midnight. */
const STARTS_AT = Date.UTC(2026, 0, 5);
/** Two changes of a pair, or of which one needs the other, are at most this far apart. */
const PAIR_REACH = 20;
/** The 95th percentile of the normal distribution. */
const Z95 = 1.6448536269514722;

/** Every property has its own random sequence, so another failure rate does not change the arrivals. */
export function generate(recipe: Recipe): Change[] {
  const random = (what: string) => new Prng(`${recipe.seed}/${what}`);
  const durations = random('durations');
  const failures = random('failures');
  const targets = random('targets');
  const needs = random('needs');
  const pairs = new Pairs(random('pairs'), recipe);
  const changes: Change[] = [];
  for (const submittedAt of arrivalsOf(recipe)) {
    if (changes.length >= (recipe.prs ?? Number.POSITIVE_INFINITY)) break;
    if (submittedAt >= STARTS_AT + (recipe.hours ?? Number.POSITIVE_INFINITY) * HOUR_MS) break;
    const change = {
      ...PLAIN_CHANGE,
      number: changes.length + 1,
      submittedAt,
      durationMs: drawDuration(durations, recipe),
      isBroken: failures.chance(recipe.failureRate),
      targets: drawTargets(targets, recipe),
    };
    const needed = needs.chance(recipe.needRate) ? findNeeded(change, changes) : undefined;
    changes.push({ ...change, ...pairs.draw(change, changes), needs: needed });
  }
  return changes;
}

/** An endless Poisson process: the rate of the busiest hour, thinned out. At an infinite rate all arrive at once. */
export function* arrivalsOf({ seed, perHour, shape }: Arrivals): Generator<number> {
  const prng = new Prng(`${seed}/arrivals`);
  const weights = SHAPES[shape];
  const busiest = Math.max(...weights);
  for (let at = STARTS_AT; ; ) {
    at += (-Math.log(1 - prng.next()) / (perHour * busiest)) * HOUR_MS;
    const hour = Math.floor((at - STARTS_AT) / HOUR_MS) % 24;
    if (prng.chance((weights[hour] ?? 1) / busiest)) yield Math.round(at / 1000) * 1000;
  }
}

/** Log-normal like durations of real CI, rounded to seconds. */
function drawDuration(prng: Prng, { medianMinutes, p95Minutes }: Recipe): number {
  const sigma = Math.log(p95Minutes / medianMinutes) / Z95;
  return Math.max(1, Math.round(medianMinutes * 60 * Math.exp(sigma * prng.normal()))) * (MINUTE_MS / 60);
}

function drawTargets(prng: Prng, { targets, targetsPerPr }: Recipe): readonly string[] | undefined {
  if (targets === 0) return undefined;
  const chosen = new Set<number>();
  while (chosen.size < Math.min(targetsPerPr, targets)) chosen.add(prng.integer(targets));
  return [...chosen].map((target) => `target-${target}`);
}

/** The nearest earlier one that is not broken. */
function findNeeded(change: Change, earlier: readonly Change[]): number | undefined {
  return earlier.slice(-PAIR_REACH).findLast((other) => !other.isBroken && sharesTarget(change, other))?.number;
}

class Pairs {
  readonly #prng: Prng;
  readonly #recipe: Recipe;
  readonly #taken = new Set<number>();

  constructor(prng: Prng, recipe: Recipe) {
    this.#prng = prng;
    this.#recipe = recipe;
  }

  /** A change is in one pair at most. Otherwise a policy could choose which of several changes to keep. */
  draw(change: Change, earlier: readonly Change[]): Pick<Change, 'breaksWith' | 'conflictsWith'> {
    const breaks = this.#prng.chance(this.#recipe.breakRate);
    const conflicts = this.#prng.chance(this.#recipe.conflictRate);
    const place = this.#prng.next();
    const none = { breaksWith: undefined, conflictsWith: undefined };
    if (!breaks && !conflicts) return none;
    const near = earlier
      .slice(-PAIR_REACH)
      .filter((other) => !this.#taken.has(other.number) && sharesTarget(change, other));
    const other = near[Math.floor(place * near.length)]?.number;
    if (other === undefined) return none;
    this.#taken.add(other).add(change.number);
    return breaks ? { ...none, breaksWith: other } : { ...none, conflictsWith: other };
  }
}

/** Changes that break together share a target, because the simulated targets are correct. */
function sharesTarget({ targets }: Change, other: Change): boolean {
  return targets === undefined || targets.some((target) => other.targets?.includes(target) === true);
}
