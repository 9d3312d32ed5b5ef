import { Prng } from '../lib/prng.ts';
import { type Change, HOUR_MS, MINUTE_MS, PLAIN_CHANGE } from './workload.ts';

/** How much busier than the average each hour of the day is. */
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
  /** Whichever ends it first; at least one is there. */
  readonly prs: number | undefined;
  readonly hours: number | undefined;
  readonly medianMinutes: number;
  readonly p95Minutes: number;
  readonly failureRate: number;
  /** How often a change breaks, or conflicts, only together with one of the latest before it. */
  readonly breakRate: number;
  readonly conflictRate: number;
  readonly targets: number;
  readonly targetsPerPr: number;
}

/** A Monday, at midnight. */
const STARTS_AT = Date.UTC(2026, 0, 5);
/** A pair that breaks together is made of changes that are at most this far from each other. */
const PAIR_REACH = 20;
/** Of the normal distribution: one in twenty is further out. */
const Z95 = 1.6448536269514722;

/** Every property has a sequence of its own: another failure rate changes nothing about arrivals. */
export function generate(recipe: Recipe): Change[] {
  const random = (what: string) => new Prng(`${recipe.seed}/${what}`);
  const durations = random('durations');
  const failures = random('failures');
  const targets = random('targets');
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
    changes.push({ ...change, ...pairs.draw(change, changes) });
  }
  return changes;
}

/** A Poisson process, forever: the gaps of the busiest hour, of which quieter hours drop some. */
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

/** Log-normal, which is how durations of CI are spread; to the second. */
function drawDuration(prng: Prng, { medianMinutes, p95Minutes }: Recipe): number {
  const sigma = Math.log(p95Minutes / medianMinutes) / Z95;
  const normal = Math.sqrt(-2 * Math.log(1 - prng.next())) * Math.cos(2 * Math.PI * prng.next());
  return Math.max(1, Math.round(medianMinutes * 60 * Math.exp(sigma * normal))) * (MINUTE_MS / 60);
}

function drawTargets(prng: Prng, { targets, targetsPerPr }: Recipe): readonly string[] | undefined {
  if (targets === 0) return undefined;
  const chosen = new Set<number>();
  while (chosen.size < Math.min(targetsPerPr, targets)) chosen.add(prng.integer(targets));
  return [...chosen].map((target) => `target-${target}`);
}

class Pairs {
  readonly #prng: Prng;
  readonly #recipe: Recipe;
  readonly #taken = new Set<number>();

  constructor(prng: Prng, recipe: Recipe) {
    this.#prng = prng;
    this.#recipe = recipe;
  }

  /** A change is in one pair at most, so that there is never a choice of whom to keep. */
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

/** Targets that were named rightly: those who break together share one. */
function sharesTarget({ targets }: Change, other: Change): boolean {
  return targets === undefined || targets.some((target) => other.targets?.includes(target) === true);
}
