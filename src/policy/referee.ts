import type { Candidate } from '../engine/model/candidate.ts';
import type { Instant } from '../lib/clock.ts';
import { Prng } from '../lib/prng.ts';
import { runTests, type SimulatedRun } from './simulated-tests.ts';
import type { Change, Workload } from './workload.ts';

export interface Outcome {
  readonly landedAt: ReadonlyMap<number, Instant>;
  readonly removedAt: ReadonlyMap<number, Instant>;
  readonly runs: number;
  /** Runs of single tests, which `runs` leaves out. */
  readonly probes: number;
  /** Time that CI was busy. A cancelled run counts until its end. */
  readonly ciMs: number;
  /** How often a change that was tested or under test had to be tested again. */
  readonly restarts: number;
  /** How often a queue held because the target branch looked broken. In this simulation it never is. */
  readonly holds: number;
}

/** The contents of a run: members on top of the changes beneath, on top of those in the base. */
export interface Tested {
  readonly members: readonly number[];
  readonly beneath: readonly number[];
  readonly isInBase: (number: number) => boolean;
}

/** All policies meet the same flakes: whether the third run led by a change is flaky depends on nothing else. */
export class Referee implements Outcome {
  /** In the order of landing. */
  readonly landedAt = new Map<number, Instant>();
  readonly removedAt = new Map<number, Instant>();
  runs = 0;
  probes = 0;
  ciMs = 0;
  restarts = 0;
  holds = 0;
  readonly #workload: Workload;
  readonly #breakers: ReadonlyMap<number, readonly number[]>;
  readonly #rivals: ReadonlyMap<number, readonly number[]>;
  readonly #attempts = new Map<number, number>();
  readonly #onDecided: () => void;

  constructor(workload: Workload, onDecided: () => void = () => {}) {
    this.#workload = workload;
    this.#breakers = pairUp(workload.changes, ({ breaksWith }) => breaksWith);
    this.#rivals = pairUp(workload.changes, ({ conflictsWith }) => conflictsWith);
    this.#onDecided = onDecided;
  }

  land(number: number, at: Instant): void {
    this.landedAt.set(number, at);
    this.#onDecided();
  }

  remove(number: number, at: Instant): void {
    this.removedAt.set(number, at);
    this.#onDecided();
  }

  change(number: number): Change {
    const change = this.#workload.changes[number - 1];
    if (change === undefined) throw new RangeError(`there is no change ${number}`);
    return change;
  }

  durationOf(members: readonly number[]): number {
    return Math.max(0, ...members.map((number) => this.change(number).durationMs));
  }

  /** Counts the run and returns whether it will pass. */
  beginRun(tested: Tested): boolean {
    this.runs += 1;
    return !this.#isFlake(tested.members.at(-1) ?? 0) && this.isSound(tested);
  }

  /** The same with the reports of the run. */
  beginReported(tested: Tested, of: Pick<Candidate, 'question'>): SimulatedRun {
    if (of.question === undefined) this.runs += 1;
    else this.probes += 1;
    const { chance } = this.#workload;
    const lead = tested.members.at(-1) ?? 0;
    return runTests(of, {
      broken: this.brokenIn(tested),
      chance,
      draw: `${chance.seed}/run/${lead}/${this.#count(lead)}`,
    });
  }

  isSound(tested: Tested): boolean {
    return this.brokenIn(tested).length === 0;
  }

  /** The tests that fail on this tree. */
  brokenIn({ members, beneath, isInBase }: Tested): readonly string[] {
    const contents = new Set([...beneath, ...members]);
    return [...contents].flatMap((number) => {
      const { isBroken, needs } = this.change(number);
      const breakers = this.#breakers.get(number) ?? [];
      const pair = breakers.find((other) => contents.has(other) || isInBase(other));
      return [
        ...(isBroken ? [`broken-${number}`] : []),
        ...(needs !== undefined && !contents.has(needs) && !isInBase(needs) ? [`needs-${number}`] : []),
        ...(pair === undefined ? [] : [`pair-${Math.min(number, pair)}-${Math.max(number, pair)}`]),
      ];
    });
  }

  /** The conflict of a change: with the target branch, or with one of the changes beneath. */
  findConflict(number: number, { beneath, isInBase }: Omit<Tested, 'members'>): 'target' | number | undefined {
    const rivals = this.#rivals.get(number) ?? [];
    if (this.change(number).isUnmergeable || rivals.some(isInBase)) return 'target';
    return rivals.find((rival) => beneath.includes(rival));
  }

  #isFlake(lead: number): boolean {
    const { seed, flakeRate } = this.#workload.chance;
    const attempt = this.#count(lead);
    return flakeRate > 0 && new Prng(`${seed}/flake/${lead}/${attempt}`).chance(flakeRate);
  }

  #count(lead: number): number {
    const attempt = (this.#attempts.get(lead) ?? 0) + 1;
    this.#attempts.set(lead, attempt);
    return attempt;
  }
}

/** Both directions, because the conflict shows at whichever change comes second. */
function pairUp(
  changes: readonly Change[],
  otherOf: (change: Change) => number | undefined,
): ReadonlyMap<number, readonly number[]> {
  const pairs = new Map<number, number[]>();
  const add = (a: number, b: number) => {
    const known = pairs.get(a);
    if (known === undefined) pairs.set(a, [b]);
    else known.push(b);
  };
  for (const change of changes) {
    const other = otherOf(change);
    if (other === undefined) continue;
    add(change.number, other);
    add(other, change.number);
  }
  return pairs;
}
