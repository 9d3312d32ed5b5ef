import type { ImpactedTargets } from './targets.ts';

/** A candidate by its number, or a group that is no candidate yet by a negative one. */
export type NodeId = number;

const LARGE = 1_000;

/** A list of targets never changes, it is replaced. */
const sets = new WeakMap<ImpactedTargets, ReadonlySet<string>>();

function setOf(targets: Extract<ImpactedTargets, { kind: 'list' }>): ReadonlySet<string> {
  const known = sets.get(targets) ?? new Set(targets.targets);
  sets.set(targets, known);
  return known;
}

/** Which nodes impact which targets: finds overlaps at a cost proportional to the targets asked about. */
export class Claims {
  readonly #byTarget = new Map<string, NodeId[]>();
  /** Nodes that impact everything. */
  readonly #everywhere = new Set<NodeId>();
  readonly #nodes = new Set<NodeId>();
  /** Long lists are asked one by one, rather than put into the index again in every step. */
  readonly #large: { readonly id: NodeId; readonly set: ReadonlySet<string> }[] = [];
  readonly #names = new Map<NodeId, NodeId>();

  add(id: NodeId, targets: ImpactedTargets): void {
    this.#nodes.add(id);
    if (targets.kind === 'all') {
      this.#everywhere.add(id);
      return;
    }
    if (targets.targets.length > LARGE) {
      this.#large.push({ id, set: setOf(targets) });
      return;
    }
    for (const target of targets.targets) {
      const nodes = this.#byTarget.get(target);
      if (nodes === undefined) this.#byTarget.set(target, [id]);
      else if (nodes.at(-1) !== id) nodes.push(id);
    }
  }

  overlapping(targets: ImpactedTargets): ReadonlySet<NodeId> {
    if (targets.kind === 'all') return new Set(this.#nodes);
    const found = new Set(this.#everywhere);
    for (const target of targets.targets) {
      for (const id of this.#byTarget.get(target) ?? []) found.add(this.#names.get(id) ?? id);
    }
    for (const { id, set } of this.#large) {
      const name = this.#names.get(id) ?? id;
      if (!found.has(name) && targets.targets.some((target) => set.has(target))) found.add(name);
    }
    return found;
  }

  /** One node became part of another. */
  rename(from: NodeId, to: NodeId): void {
    for (const [id, name] of this.#names) if (name === from) this.#names.set(id, to);
    this.#names.set(from, to);
    this.#nodes.delete(from);
    if (this.#everywhere.delete(from)) this.#everywhere.add(to);
  }
}
