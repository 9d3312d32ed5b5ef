import type { Candidate } from '../../engine/candidate.ts';
import type { CandidateLanded, QueueEvent } from '../../engine/event.ts';
import type { LineAnswer } from '../../forge/forge.ts';
import type { Sha } from '../../lib/sha.ts';

/**
 * What a queue says about its target, compared with git. The queue's events name every move: those it made, and those it
 * saw somebody else make, each of which raised an alarm of its own. What is left to prove is that its own moves are what
 * it says they are.
 */

/** A landing as the queue recorded it, and the queue's version from then on. */
export interface RecordedLanding {
  readonly version: number;
  readonly event: CandidateLanded;
}

/** Landings one upon the other, from one known head to another: git must show one line from `from` to `to`. */
export interface Stretch {
  readonly from: Sha;
  readonly to: Sha;
  readonly landings: readonly RecordedLanding[];
  /** Somebody else moved the target afterwards: what landed here may have been taken off and thrown away. */
  readonly isPast: boolean;
}

/** What the events say: stretches to be proven, where the target is then, and what does not even fit together. */
export interface Story {
  readonly stretches: readonly Stretch[];
  readonly head: Sha | undefined;
  readonly findings: readonly AuditFinding[];
}

export interface AuditFinding {
  /** Of the landing that cannot be proven. */
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
    const stopped = event.kind === 'candidate_landed' ? seenAfter(event) : undefined;
    if (stopped !== undefined) {
      close(true);
      head = stopped.head;
    }
  }
  close(false);
  return { stretches, head, findings };
}

/** Each landing by itself. */
export function splitStretch({ landings, isPast }: Stretch): readonly Stretch[] {
  return landings.map((landing) => {
    const { base: from, pushedSha: to } = landing.event;
    return { from, to, landings: [landing], isPast };
  });
}

/** Where the queue saw its target after somebody else had moved it. */
function seenHead(event: QueueEvent): { readonly head: Sha | undefined } | undefined {
  if (event.kind === 'target_observed') return event;
  return event.kind === 'landing_refused' && event.problem.kind === 'target_moved' ? event.problem : undefined;
}

/** Where the target was when a landing had stopped half-way, and was not where the landing had left it. */
function seenAfter({ stopped }: CandidateLanded): { readonly head: Sha | undefined } | undefined {
  return stopped === undefined || stopped.kind === 'entry_refused' ? undefined : stopped;
}

/** `candidates` has those of the landings that the store knows. */
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

/** A merge API makes commits of its own for each entry, and each is a head of the target for a while. */
function doubtEntries({ entries }: CandidateLanded, trees: ReadonlyMap<Sha, Sha>): string | undefined {
  const doubted = entries.find(({ sha, tree }) => trees.get(sha) !== tree);
  if (doubted === undefined) return undefined;
  return `has ${doubted.sha} for #${doubted.prNumber}, which is not on the target's line with the recorded tree.`;
}

/** The engine asserts the same before it believes a landing; here it is read from what was stored. */
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
      // Only what landed beside a candidate in parallel mode is ever recorded there.
      return candidate.composedWith.length > 0 ? undefined : 'is composed with something that is not recorded.';
    case 'PREFIX':
      // Part of what was tested. What is not is not called landed here, but strayed, with an alarm of its own.
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
