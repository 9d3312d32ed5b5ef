import type { ImpactedTargets } from './targets.ts';

/** A candidate by its number, or a group that is no candidate yet by a negative one. */
export type NodeId = number;

/** Which nodes impact which targets: finds overlaps at a cost proportional to the targets asked about. */
export class Claims {
  readonly #byTarget = new Map<string, NodeId[]>();
  /** Nodes that impact everything. */
  readonly #everywhere = new Set<NodeId>();
  readonly #nodes = new Set<NodeId>();
  readonly #names = new Map<NodeId, NodeId>();

  add(id: NodeId, targets: ImpactedTargets): void {
    this.#nodes.add(id);
    if (targets.kind === 'all') {
      this.#everywhere.add(id);
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
