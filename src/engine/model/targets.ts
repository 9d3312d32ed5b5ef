import { memo } from '../../lib/memo.ts';

/** A pull request with more targets than this counts as impacting everything. */
export const MAX_TARGETS = 100_000;

export type ImpactedTargets = {
  /** `fork`: uploaded by the CI of a fork, which has no token. `sluice`: computed. Absent: uploaded with a token. */
  readonly from?: keyof typeof RANKS;
} & TargetsSaid;

type TargetsSaid =
  | {
      readonly kind: 'all';
      readonly cause: 'declared' | 'too_many' | 'computed';
      /** Why computed targets are everything. */
      readonly by?: AllCause;
    }
  /** Equal sets of targets have the same `digest`. The targets are sorted and unique. */
  | {
      readonly kind: 'list';
      readonly digest: string;
      readonly count: number;
      /** Empty for an entry that ended, because targets are needed only in the queue. */
      readonly targets: readonly string[];
    };

export const ALL_TARGETS: ImpactedTargets = { kind: 'all', cause: 'declared' };
export const TOO_MANY_TARGETS: ImpactedTargets = { kind: 'all', cause: 'too_many' };

/** MANIFEST: the target branch does not know its edges. `name` is the pattern, the path or the sentence of the problem. */
export interface AllCause {
  readonly code: 'BARRIER' | 'MANIFEST' | 'OTHERWISE' | 'PROBLEM';
  readonly name: string;
}

export function computedAll(by: AllCause): ImpactedTargets {
  return { from: 'sluice', kind: 'all', cause: 'computed', by };
}

/** Asked for again and again with the same lists. */
export const unionOf = memo((own: ImpactedTargets, ...others: readonly ImpactedTargets[]): ImpactedTargets => {
  if (own.kind === 'all') return own;
  const targets = new Set(own.targets);
  for (const other of others) {
    if (other.kind === 'all') return other;
    // With nothing in common, it could be tested beside what it is built on.
    if (other.targets.length === 0) return ALL_TARGETS;
    for (const target of other.targets) targets.add(target);
  }
  const digest = [own, ...others].map((each) => (each.kind === 'list' ? each.digest : '')).join('+');
  return { ...own, digest, count: targets.size, targets: [...targets].sort() };
});

const RANKS = { sluice: 1, fork: 2 };
const RANK_OF_TOKEN = 3;

/** For the same head, a fork cannot replace targets uploaded with a token, and nothing computed replaces an upload. */
// SPEC G80, T17
export function isOutranked(targets: ImpactedTargets, known: ImpactedTargets | undefined): boolean {
  return known !== undefined && rankOf(targets) < rankOf(known);
}

function rankOf({ from }: ImpactedTargets): number {
  return from === undefined ? RANK_OF_TOKEN : RANKS[from];
}

/** The number of a candidate. A group that is not a candidate yet has a negative number. */
export type NodeId = number;

const LARGE = 1_000;

/** Lists of targets are immutable, so their sets can be cached by identity. */
const sets = new WeakMap<ImpactedTargets, ReadonlySet<string>>();

function setOf(targets: Extract<ImpactedTargets, { kind: 'list' }>): ReadonlySet<string> {
  const known = sets.get(targets) ?? new Set(targets.targets);
  sets.set(targets, known);
  return known;
}

/** Maps targets to the nodes that impact them. Finding overlaps costs as much as the number of targets queried. */
export class Claims {
  readonly #byTarget = new Map<string, NodeId[]>();
  readonly #everywhere = new Set<NodeId>();
  readonly #nodes = new Set<NodeId>();
  /** Indexing a long list in every step is too slow, so these are searched one by one. */
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

  /** The group `from` was joined into `to`. */
  rename(from: NodeId, to: NodeId): void {
    for (const [id, name] of this.#names) if (name === from) this.#names.set(id, to);
    this.#names.set(from, to);
    this.#nodes.delete(from);
    if (this.#everywhere.delete(from)) this.#everywhere.add(to);
  }
}
