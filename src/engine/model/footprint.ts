import type { Member } from './candidate.ts';
import { type Entry, findLiveMember, type Queue } from './queue.ts';
import { entriesBelow } from './stack.ts';
import { ALL_TARGETS, type ImpactedTargets, unionOf } from './targets.ts';

/**
 * The targets that an entry impacts now. It impacts everything in single mode, without uploaded targets, and after a
 * failed composition. An entry on others impacts what those impact too.
 */
// SPEC C22, O34
export function targetsOf(queue: Queue, entry: Entry): ImpactedTargets {
  if (queue.settings.mode === 'SINGLE' || entry.overlapsAll) return ALL_TARGETS;
  const own = entry.targets ?? ALL_TARGETS;
  if (entry.pr.below === undefined || own.kind === 'all') return own;
  return unionOf(own, ...entriesBelow(queue, entry).map((other) => targetsOf(queue, other)));
}

/** The union of the targets of several entries. An entry that impacts everything overlaps with every other entry. */
// SPEC C2
export class Footprint {
  readonly #targets = new Set<string>();
  #isAll = false;
  #isEmpty = true;

  get isAll(): boolean {
    return this.#isAll;
  }

  add(targets: ImpactedTargets): this {
    this.#isEmpty = false;
    if (targets.kind === 'all') this.#isAll = true;
    else for (const target of targets.targets) this.#targets.add(target);
    return this;
  }

  overlaps(targets: ImpactedTargets): boolean {
    if (this.#isEmpty) return false;
    if (this.#isAll || targets.kind === 'all') return true;
    return targets.targets.some((target) => this.#targets.has(target));
  }
}

/** Members that have landed or left do not count. */
export function footprintOf(queue: Queue, members: readonly Member[]): Footprint {
  const footprint = new Footprint();
  for (const member of members) {
    const entry = findLiveMember(queue, member);
    if (entry !== undefined) footprint.add(targetsOf(queue, entry));
  }
  return footprint;
}
