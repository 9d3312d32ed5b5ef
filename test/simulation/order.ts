import { targetsOf } from '../../src/engine/model/footprint.ts';
import { type Entry, findCandidate, type Queue } from '../../src/engine/model/queue.ts';
import { composedWithOf } from '../../src/engine/model/roster.ts';
import { isHeldBelow } from '../../src/engine/model/stack.ts';
import type { ImpactedTargets } from '../../src/engine/model/targets.ts';
import { changedKeys, getIn, valuesOf } from '../../src/lib/int-map.ts';
import type { Chapter } from './chronicle.ts';

/** The known facts of one stay for deciding whether it was overtaken. */
interface Place {
  readonly admission: number;
  readonly priority: number;
  readonly targets: ImpactedTargets | undefined;
  /** A conflict, a bisection, another priority or other targets took it out of the order of admission. */
  isMoved: boolean;
}

/**
 * Overlapping entries with the same priority land in the order of admission. Derived from admissions alone.
 */
export class Turns {
  /** By submission. */
  readonly #places = new Map<number, Place>();

  /** Finds an entry that lands before another one whose turn it was. */
  findOvertaken({ before, step: { queue, ended, transitions } }: Chapter): string | undefined {
    for (const prNumber of changedKeys(before.entries, queue.entries)) this.#follow(getIn(queue.entries, prNumber));
    // Others may have started while it was out of the line, and may be tested in the step that returns it.
    for (const { prNumber, because } of transitions) {
      const place = this.#places.get(getIn(queue.entries, prNumber)?.submission ?? 0);
      if (because.reason === 'TARGET_BRANCH_AT_FAULT' && place !== undefined) place.isMoved = true;
    }
    // One below it is out of the line, and both wait.
    for (const entry of valuesOf(queue.entries)) {
      const place = isHeldBelow(queue, entry) ? this.#places.get(entry.submission) : undefined;
      if (place !== undefined) place.isMoved = true;
    }
    const landed = ended.filter((entry) => entry.landed !== undefined && entry.admission !== undefined);
    for (const [index, entry] of landed.entries()) {
      const others = [...valuesOf(queue.entries), ...landed.slice(index + 1)];
      const first = others.find((other) => this.#isOvertaken(before, other, entry));
      if (first !== undefined) return `#${entry.prNumber} lands before #${first.prNumber}, which was admitted earlier`;
    }
    return undefined;
  }

  #follow(entry: Entry | undefined): void {
    const known = this.#places.get(entry?.submission ?? 0);
    // It left the line for what is below it. The others go on, also when it is back in its place.
    if (known !== undefined && entry?.admission === undefined) known.isMoved = true;
    if (entry?.admission === undefined) return;
    const { submission, admission, priority, targets } = entry;
    if (known === undefined || known.admission !== admission.ordinal) {
      const place = { admission: admission.ordinal, priority: priority.value, targets, isMoved: isOutOfLine(entry) };
      this.#places.set(submission, place);
      return;
    }
    const isChanged = known.priority !== priority.value || known.targets !== targets;
    known.isMoved ||= isChanged || isOutOfLine(entry);
  }

  #isOvertaken(queue: Queue, other: Entry, entry: Entry): boolean {
    const [theirs, own] = [this.#places.get(other.submission), this.#places.get(entry.submission)];
    if (theirs === undefined || own === undefined || theirs.isMoved || own.isMoved) return false;
    if (theirs.priority !== own.priority || theirs.admission >= own.admission) return false;
    return overlap(targetsOf(queue, other), targetsOf(queue, entry));
  }
}

function isOutOfLine({ place, clearedBySearch, clearedByPart, repairTriedOn, overlapsAll, because }: Entry): boolean {
  if (because.reason === 'CONFLICTS_WITH_PREREQUISITE' || overlapsAll) return true;
  if (place.kind === 'search' || place.kind === 'aside') return true;
  return [clearedBySearch, clearedByPart, repairTriedOn].some((mark) => mark !== undefined);
}

/** The last move of the target branch, with the entries it landed. */
interface Arrival {
  readonly ordinal: number;
  readonly epoch: number;
  readonly submission: number;
  readonly prNumber: number;
}

/** A candidate on an older head names everything that landed since and is not in it. */
export class Neighbours {
  readonly #arrivals: Arrival[] = [];

  findForgotten({ step: { queue, ended } }: Chapter): string | undefined {
    const { head } = queue;
    if (head === undefined) return undefined;
    for (const { landed, submission, prNumber } of ended) {
      if (landed !== undefined && landed.kind !== 'UNPROVEN') this.#arrivals.push({ ...head, submission, prNumber });
    }
    for (const candidate of valuesOf(queue.candidates)) {
      const { number, purpose, base } = candidate;
      if (purpose.kind !== 'main' || base.epoch !== head.epoch) continue;
      const inside = new Set([...candidate.beneath, ...candidate.members].map((member) => member.submission));
      const isForgotten = ({ ordinal, epoch, submission, prNumber }: Arrival) =>
        epoch === base.epoch &&
        ordinal > base.ordinal &&
        !inside.has(submission) &&
        !isNamed(composedWithOf(queue, candidate), prNumber);
      const forgotten = this.#arrivals.find(isForgotten);
      if (forgotten !== undefined)
        return `candidate ${number} does not know that #${forgotten.prNumber} landed beside it`;
    }
    return undefined;
  }
}

function isNamed(composedWith: readonly number[], prNumber: number): boolean {
  return composedWith.includes(prNumber);
}

/** An empty list overlaps only with ALL. */
export function overlap(one: ImpactedTargets | undefined, other: ImpactedTargets | undefined): boolean {
  if (one === undefined || other === undefined || one.kind === 'all' || other.kind === 'all') return true;
  return one.targets.some((target) => other.targets.includes(target));
}

/** A landing that begins in a paused or parked queue. A landing that had begun before may finish. */
export function findPausedBeginning({ before, step: { queue } }: Chapter): string | undefined {
  const isNew = queue.landing?.isBegun === true && before.landing?.isBegun !== true;
  const isStill = before.state === 'PAUSED' || before.parked !== undefined;
  if (!isNew || !isStill) return undefined;
  const members = findCandidate(queue, queue.landing.candidate)?.members ?? [];
  return `the landing of ${members.map(({ prNumber }) => `#${prNumber}`).join(' ')} begins while the queue is ${before.state}`;
}
