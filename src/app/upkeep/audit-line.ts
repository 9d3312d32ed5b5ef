import type { Candidate } from '../../engine/model/candidate.ts';
import type { CandidateLanded, QueueEvent } from '../../engine/model/event.ts';
import type { LineAnswer } from '../../forge/forge.ts';
import type { Instant } from '../../lib/clock.ts';
import type { Sha } from '../../lib/sha.ts';

/** Proves from git that the queue's own moves of its branch are what the record says. Foreign ones raise alarms. */

interface RecordedLanding {
  readonly version: number;
  readonly event: CandidateLanded;
}

/** Consecutive landings between two known heads: git must show one line from `from` to `to`. */
export interface Stretch {
  readonly from: Sha;
  readonly to: Sha;
  readonly landings: readonly RecordedLanding[];
  /** A foreign push followed: it may have removed these landings from the branch. */
  readonly isPast: boolean;
}

/** Stretches to prove, the head after them, and contradictions in the record itself. */
interface Story {
  readonly stretches: readonly Stretch[];
  readonly head: Sha | undefined;
  readonly findings: readonly AuditFinding[];
}

export interface AuditFinding {
  /** The version of the landing that cannot be proven. */
  readonly version: number;
  readonly text: string;
}

export interface RecordedEvent {
  readonly version: number;
  readonly event: QueueEvent;
}

export function readStory(start: Sha | undefined, events: readonly RecordedEvent[]): Story {
  const stretches: Stretch[] = [];
  const findings: AuditFinding[] = [];
  let head = start;
  let open: Stretch | undefined;
  const close = (isPast: boolean) => {
    if (open !== undefined) stretches.push({ ...open, isPast });
    open = undefined;
  };
  for (const { version, event } of events) {
    const seen = seenHead(event);
    if (seen !== undefined) {
      close(true);
      head = seen.head;
    } else if (event.kind === 'candidate_landed' && event.pushedSha !== head) {
      if (event.base !== head) {
        close(false);
        findings.push({
          version,
          text: `${sayLanding(event)} began at ${event.base}, but the target was ${sayHead(head)}.`,
        });
      }
      const landings: RecordedLanding[] = [...(open?.landings ?? []), { version, event }];
      open = { from: open?.from ?? event.base, to: event.pushedSha, landings, isPast: false };
      head = event.pushedSha;
    }
    const stopped = event.kind === 'candidate_landed' ? event.stopped : undefined;
    // A landing that stopped half-way may leave the head where others moved it.
    if (stopped !== undefined && stopped.kind !== 'entry_refused') {
      close(true);
      head = stopped.head;
    }
  }
  close(false);
  return { stretches, head, findings };
}

export function splitStretch({ landings, isPast }: Stretch): readonly Stretch[] {
  return landings.map((landing) => {
    const { base: from, pushedSha: to } = landing.event;
    return { from, to, landings: [landing], isPast };
  });
}

function seenHead(event: QueueEvent): { readonly head: Sha | undefined } | undefined {
  if (event.kind === 'target_observed') return event;
  return event.kind === 'landing_refused' && event.problem.kind === 'target_moved' ? event.problem : undefined;
}

export interface ForeignMove {
  readonly at: Instant;
  readonly isDescendant: boolean;
}

export function listForeignMoves(events: readonly RecordedEvent[]): readonly ForeignMove[] {
  return events.flatMap(({ event }) => {
    const { at } = event;
    if (event.kind === 'target_observed') return [{ at, isDescendant: event.isDescendant }];
    const stop = event.kind === 'landing_refused' ? event.problem : event.kind === 'candidate_landed' && event.stopped;
    return stop && 'isDescendant' in stop ? [{ at, isDescendant: stop.isDescendant }] : [];
  });
}

/** `candidates` has those of the landings that the store knows. */
// SPEC N4
export function auditStretch(
  stretch: Stretch,
  line: LineAnswer,
  candidates: ReadonlyMap<number, Candidate>,
): readonly AuditFinding[] {
  if (line.kind === 'lost' && stretch.isPast) return [];
  if (line.kind !== 'line') {
    return stretch.landings.slice(0, 1).map(({ version }) => ({ version, text: sayNoLine(stretch, line) }));
  }
  const trees = new Map(line.commits.map(({ sha, tree }) => [sha, tree]));
  return stretch.landings.flatMap(({ version, event }) => {
    const doubt =
      doubtCommit(event, trees.get(event.pushedSha)) ??
      doubtEntries(event, trees) ??
      doubtTest(event, candidates.get(event.candidate));
    return doubt === undefined ? [] : [{ version, text: `${sayLanding(event)} ${doubt}` }];
  });
}

function doubtCommit({ pushedTree }: CandidateLanded, tree: Sha | undefined): string | undefined {
  if (tree === undefined) return "is not on the target's line.";
  return tree === pushedTree ? undefined : `was recorded with the tree ${pushedTree}, but its tree is ${tree}.`;
}

/** A merge API makes a commit for each entry, and each of them is the head for a while. */
function doubtEntries({ entries }: CandidateLanded, trees: ReadonlyMap<Sha, Sha>): string | undefined {
  const doubted = entries.find(({ sha, tree }) => trees.get(sha) !== tree);
  if (doubted === undefined) return undefined;
  return `has ${doubted.sha} for #${doubted.prNumber}, which is not on the target's line with the recorded tree.`;
}

/** The engine asserts the same before it accepts a landing; here it is read from the store. */
function doubtTest(event: CandidateLanded, candidate: Candidate | undefined): string | undefined {
  const { how, pushedSha, pushedTree } = event;
  if (candidate?.commit === undefined || candidate.pass === undefined)
    return 'is of a candidate without a recorded pass.';
  const { sha, tree } = candidate.commit;
  switch (how) {
    case 'IDENTICAL':
      return pushedSha === sha && pushedTree === tree ? undefined : `is not ${sha}, the commit that passed.`;
    case 'SAME_TREE':
      return pushedTree === tree ? undefined : `has the tree ${pushedTree}, and ${tree} passed.`;
    case 'COMPOSED':
      // In parallel mode a candidate records the entries that landed beside it.
      return (candidate.composedWith ?? []).length > 0 ? undefined : 'is composed with something that is not recorded.';
    case 'PREFIX':
      // A part of the tested entries. An untested commit is recorded as strayed, with an alarm of its own.
      return undefined;
    case 'UNPROVEN':
      return 'was not tested.';
  }
}

function sayLanding({ pushedSha }: CandidateLanded): string {
  return `The landing of ${pushedSha}`;
}

function sayHead(head: Sha | undefined): string {
  return head === undefined ? 'gone' : `at ${head}`;
}

function sayNoLine({ from, to }: Stretch, { kind }: LineAnswer): string {
  if (kind === 'too_long') return `The way from ${from} to ${to} was not followed to its end: it has too many commits.`;
  if (kind === 'lost') return `Landings led from ${from} to ${to}, and the repository does not have both any more.`;
  return `The line of ${to} does not lead to ${from}, where the landings on it are said to begin.`;
}
