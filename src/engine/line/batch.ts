import type { Instant } from '../../lib/clock.ts';
import { walk } from '../../lib/sorted-list.ts';
import type { Candidate } from '../model/candidate.ts';
import { Footprint, targetsOf } from '../model/footprint.ts';
import { candidateNumberOf } from '../model/place.ts';
import { policyOf } from '../model/policy.ts';
import { orderKey } from '../model/priority.ts';
import { type Entry, findEntry, type Queue } from '../model/queue.ts';
import { isOnlyUrgentLanding, lineOf, unlanded } from '../model/roster.ts';
import type { BatchingRule } from '../model/settings.ts';
import { entriesBelow, isCarriedBy, isHeldBelow, needsOf } from '../model/stack.ts';
import type { Group } from '../model/strategy.ts';
import { Claims, type ImpactedTargets, type NodeId } from '../model/targets.ts';

/** A group under construction. */
interface Draft {
  readonly id: NodeId;
  readonly entries: Entry[];
  readonly ahead: Set<NodeId>;
  isClosed: boolean;
}

/** How many groups the caller wants. Groups that cannot start do not count. */
export interface Demand {
  readonly limit: number;
  readonly canStart: (ahead: ReadonlySet<NodeId>) => boolean;
}

/** How large groups become. */
export interface Sizing {
  readonly most: number;
  isFull(entries: readonly Entry[]): boolean;
  mayJoin(entries: readonly Entry[], entry: Entry): boolean;
}

function sizeOfSettings(queue: Queue): Sizing {
  const { batch, batchingMinSize } = policyOf(queue);
  const most = batch ? batchingMinSize : 1;
  return { most, isFull: ({ length }) => length >= most, mayJoin: () => true };
}

export const ALL_GROUPS: Demand = { limit: Number.POSITIVE_INFINITY, canStart: () => true };

/** Forms groups, front first, until there are enough. Groups have negative ids; candidates keep their numbers. */
// SPEC B1
export function formGroups(
  queue: Queue,
  at: Instant,
  demand: Demand = ALL_GROUPS,
  sizing: Sizing = sizeOfSettings(queue),
): Group[] {
  const former = new GroupFormer(queue, sizing, demand);
  for (const prNumber of walk(queue.index.pending)) {
    const entry = findEntry(queue, prNumber);
    if (entry === undefined || isHeldBelow(queue, entry)) continue;
    if (former.joinStack(entry)) continue;
    if (former.startable >= demand.limit || former.isBlocked) break;
    if (former.hasBelow(entry)) former.place(entry);
  }
  return former.drafts.map((draft) => toGroup(queue, draft, at));
}

class GroupFormer {
  readonly drafts: Draft[] = [];
  startable = 0;
  /** A group that cannot start impacts everything, so nothing behind it can start either. */
  isBlocked = false;
  readonly #queue: Queue;
  readonly #sizing: Sizing;
  readonly #demand: Demand;
  readonly #claims = new Claims();
  readonly #candidates = new Map<NodeId, Candidate>();
  /** The targets of groups that cannot start. */
  readonly #blocked = new Footprint();
  #opened = 0;
  readonly #ahead = new Map<NodeId, ReadonlySet<NodeId>>();

  constructor(queue: Queue, sizing: Sizing, demand: Demand) {
    this.#queue = queue;
    this.#sizing = sizing;
    this.#demand = demand;
    for (const candidate of lineOf(queue)) {
      this.#candidates.set(candidate.number, candidate);
      for (const entry of unlanded(queue, candidate.members))
        this.#claims.add(candidate.number, targetsOf(queue, entry));
    }
  }

  place(entry: Entry): void {
    const targets = targetsOf(this.#queue, entry);
    if (this.#sizing.most === 1 && this.#blocked.overlaps(targets)) {
      // It is behind a group that cannot start, and so is everything behind it. No group has to be formed.
      this.#block(targets);
      return;
    }
    const overlapping = this.#claims.overlapping(targets);
    const draft = this.#findDraftFor(entry, overlapping) ?? this.#open();
    draft.entries.push(entry);
    // #findDraftFor may have joined groups, which changes the overlaps.
    for (const id of this.#sizing.most === 1 ? overlapping : this.#claims.overlapping(targets)) {
      if (id === draft.id) continue;
      draft.ahead.add(id);
      // An entry that impacts everything is behind all of them already.
      if (targets.kind === 'list') for (const further of this.#aheadOf(id)) draft.ahead.add(further);
    }
    this.#claims.add(draft.id, targets);
    if (this.#sizing.isFull(draft.entries) || !isBatchable(this.#queue, entry)) this.#close(draft);
  }

  hasBelow(entry: Entry): boolean {
    const isIn = (other: Entry) => this.drafts.some(({ entries }) => entries.includes(other));
    return entriesBelow(this.#queue, entry).every((other) => other.place.kind === 'line' || isIn(other));
  }

  /** The last group takes in what is built on it, whatever its size. */
  // SPEC O37
  joinStack(entry: Entry): boolean {
    const draft = this.drafts.at(-1);
    if (draft === undefined || needsOf(entry).length === 0) return false;
    const cleared = draft.entries[0]?.clearedBySearch;
    if (cleared !== undefined && cleared !== entry.clearedBySearch) return false;
    const isOnIt = entriesBelow(this.#queue, entry).some((other) => draft.entries.includes(other));
    if (!isOnIt || !isCarriedBy(this.#queue, draft.entries, entry, 'with line')) return false;
    if (isOnlyUrgentLanding(this.#queue) && isUrgent(draft)) return false;
    const targets = targetsOf(this.#queue, entry);
    const isBeside = [...this.#claims.overlapping(targets)].some((id) => id !== draft.id && !draft.ahead.has(id));
    if (isBeside || !fits(draft, entry)) return false;
    draft.entries.push(entry);
    this.#claims.add(draft.id, targets);
    if (this.#sizing.isFull(draft.entries) || !isBatchable(this.#queue, entry)) this.#close(draft);
    return true;
  }

  #block(targets: ImpactedTargets): void {
    this.#blocked.add(targets);
    this.isBlocked = this.#blocked.isAll;
  }

  /** The open group that the entry can join. It must be the last of all groups that the entry overlaps with. */
  // SPEC B11
  #findDraftFor(entry: Entry, overlapping: ReadonlySet<NodeId>): Draft | undefined {
    if (entry.clearedBySearch !== undefined) return this.#findClearedWith(entry, overlapping);
    const drafts = this.drafts.filter(({ id }) => overlapping.has(id));
    if (this.#sizing.most === 1 || drafts.length === 0) return undefined;
    if (!isBatchable(this.#queue, entry)) {
      // No entry can come before this one any more, so the groups ahead of it need not wait for others.
      for (const draft of drafts) this.#close(draft);
      return undefined;
    }
    const [last, ...others] = drafts.filter(({ id }) => !drafts.some(({ ahead }) => ahead.has(id)));
    if (last === undefined || [last, ...others].some((draft) => isFinished(draft) || !this.#fits(draft, entry)))
      return undefined;
    // An urgent entry joins no group that would make it wait for something else.
    if (drafts.some(isUrgent) && [...overlapping].some((id) => id !== last.id && !last.ahead.has(id))) return undefined;
    return others.length === 0 ? last : this.#join(last, others);
  }

  /**
   * Entries that one bisection cleared stay together if nothing came between them: the last run had exactly that tree.
   */
  #findClearedWith(entry: Entry, overlapping: ReadonlySet<NodeId>): Draft | undefined {
    const draft = this.drafts.find(({ entries }) => entries[0]?.clearedBySearch === entry.clearedBySearch);
    if (draft === undefined || draft.isClosed || !this.#fits(draft, entry)) return undefined;
    const isBehindAnother = this.drafts.some(({ id, ahead }) => overlapping.has(id) && ahead.has(draft.id));
    return isBehindAnother ? undefined : draft;
  }

  /** An entry that overlaps with several open groups joins them into one if they fit together. */
  #join(first: Draft, others: readonly Draft[]): Draft | undefined {
    const size = others.reduce((sum, { entries }) => sum + entries.length, first.entries.length);
    const joining = others.flatMap(({ entries }) => entries);
    if (size >= this.#sizing.most || joining.some((other) => !this.#fits(first, other))) return undefined;
    if (this.#sizing.isFull([...first.entries, ...joining])) return undefined;
    const joined = new Set(others.map(({ id }) => id));
    const isBehindOne = this.drafts.some(({ ahead }) => ahead.has(first.id) || others.some(({ id }) => ahead.has(id)));
    if (isBehindOne) return undefined;
    for (const { id, entries, ahead } of others) {
      first.entries.push(...entries);
      for (const further of ahead) first.ahead.add(further);
      this.#claims.rename(id, first.id);
    }
    first.entries.sort((a, b) => orderKey(a) - orderKey(b));
    this.drafts.splice(0, this.drafts.length, ...this.drafts.filter(({ id }) => !joined.has(id)));
    return first;
  }

  #fits(draft: Draft, entry: Entry): boolean {
    if (isOnlyUrgentLanding(this.#queue) && isUrgent(draft) !== (entry.priority.value === 0)) return false;
    return fits(draft, entry) && this.#sizing.mayJoin(draft.entries, entry);
  }

  /** Computed on demand, because most candidates are never asked for. */
  #aheadOf(id: NodeId): ReadonlySet<NodeId> {
    const known = this.#ahead.get(id);
    if (known !== undefined) return known;
    const candidate = this.#candidates.get(id);
    const ahead = candidate === undefined ? new Set<NodeId>() : aheadOf(this.#queue, candidate);
    this.#ahead.set(id, ahead);
    return ahead;
  }

  #open(): Draft {
    this.#opened += 1;
    const draft: Draft = { id: -this.#opened, entries: [], ahead: new Set(), isClosed: false };
    this.drafts.push(draft);
    this.#ahead.set(draft.id, draft.ahead);
    return draft;
  }

  #close(draft: Draft): void {
    if (draft.isClosed) return;
    draft.isClosed = true;
    // An entry that joined a group ahead of this one would have to go in front of it.
    for (const other of this.drafts) if (draft.ahead.has(other.id)) this.#close(other);
    if (this.#demand.canStart(draft.ahead)) {
      this.startable += 1;
      return;
    }
    for (const entry of draft.entries) this.#block(targetsOf(this.#queue, entry));
  }
}

/** No entry of the group failed together with this entry in a bisection before. */
// SPEC B15
function fits({ entries }: Draft, { clearedByPart }: Entry): boolean {
  return (
    clearedByPart === undefined ||
    entries.every((other) => other.clearedByPart === undefined || other.clearedByPart === clearedByPart)
  );
}

function isUrgent({ entries }: Draft): boolean {
  return entries.some(({ priority }) => priority.value === 0);
}

/** No other entry may join it. */
function isFinished({ isClosed, entries }: Draft): boolean {
  return isClosed || entries[0]?.clearedBySearch !== undefined;
}

function toGroup(queue: Queue, { id, entries, ahead, isClosed }: Draft, at: number): Group {
  // A queue that admits no entries has none to wait for.
  const waitsUntil = isClosed || queue.state !== 'RUNNING' ? undefined : patienceOf(queue, entries, at);
  return { id, entries, ahead, fires: waitsUntil === undefined || at >= waitsUntil, waitsUntil };
}

/** A group waits from the admission of its oldest entry, unless one of its entries must not wait. */
// SPEC B3, B10
function patienceOf(queue: Queue, entries: readonly Entry[], at: number): number | undefined {
  const waitMs = policyOf(queue).batchingMaxWaitTimeMinutes * 60_000;
  if (waitMs === 0 || entries.some(({ wasTested, priority }) => wasTested || priority.value === 0)) return undefined;
  const oldest = Math.min(...entries.map(({ admission }) => admission?.at ?? 0));
  // If the clock went back by more than the wait, the group does not wait for the clock to catch up.
  return at < oldest - waitMs ? undefined : oldest + waitMs;
}

// SPEC B2
export function isBatchable(queue: Queue, entry: Entry): boolean {
  if (entry.noBatch) return false;
  const { mode, batchingRules } = queue.settings;
  return mode === 'SINGLE' || !batchingRules.some((rule) => isIsolatedBy(rule, entry.targets));
}

function isIsolatedBy({ targetPattern }: BatchingRule, targets: ImpactedTargets | undefined): boolean {
  if (targets?.kind !== 'list') return false;
  if (!targetPattern.endsWith('*')) return targets.targets.includes(targetPattern);
  const prefix = targetPattern.slice(0, -1);
  return targets.targets.some((target) => target.startsWith(prefix));
}

/** The unlanded candidates that a candidate is built on, directly or not. */
export function aheadOf(queue: Queue, candidate: Candidate): ReadonlySet<NodeId> {
  return new Set(unlanded(queue, candidate.beneath).flatMap((entry) => candidateNumberOf(entry) ?? []));
}

export interface Successor {
  /** Undefined for a group that is not a candidate yet. */
  readonly candidate: Candidate | undefined;
  readonly id: NodeId;
  readonly hops: number;
}

/**
 * Everything behind a candidate with its distance in hops. A hop leads to the next node and not past the ones in
 * between (the transitive reduction of the dependencies).
 */
// SPEC V28
export function hopsBehind(queue: Queue, candidate: Candidate, groups: readonly Group[]): Successor[] {
  const ahead = new Map<NodeId, ReadonlySet<NodeId>>([[candidate.number, new Set<NodeId>()]]);
  const hops = new Map<NodeId, number>([[candidate.number, 0]]);
  const successors: Successor[] = [];
  const line = lineOf(queue).map((other) => ({ id: other.number as NodeId, ahead: aheadOf(queue, other), other }));
  for (const node of [...line, ...groups.map((group) => ({ id: group.id, ahead: group.ahead, other: undefined }))]) {
    if (!node.ahead.has(candidate.number)) continue;
    ahead.set(node.id, node.ahead);
    const nearest = Math.min(...directlyAhead(node.ahead, ahead).map((id) => hops.get(id) ?? Number.POSITIVE_INFINITY));
    hops.set(node.id, nearest + 1);
    successors.push({ candidate: node.other, id: node.id, hops: nearest + 1 });
  }
  return successors;
}

/**
 * The nodes directly ahead, without those that are already ahead of another one. `behind` is in the order of the line.
 */
function directlyAhead(ids: ReadonlySet<NodeId>, behind: ReadonlyMap<NodeId, ReadonlySet<NodeId>>): readonly NodeId[] {
  const covered = new Set<NodeId>();
  const direct: NodeId[] = [];
  for (const [id, ahead] of [...behind].reverse()) {
    if (!ids.has(id) || covered.has(id)) continue;
    direct.push(id);
    for (const further of ahead) covered.add(further);
  }
  return direct;
}
