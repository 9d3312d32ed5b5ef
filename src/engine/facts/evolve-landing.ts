import { assert } from '../../lib/assert.ts';
import { deleteIn, listOf } from '../../lib/int-map.ts';
import { present } from '../../lib/present.ts';
import type { Sha } from '../../lib/sha.ts';
import { endHold } from '../evidence/hold.ts';
import { carryRemovals, giveUpSearches, leaveHead, mayBlame } from '../evidence/suspicion.ts';
import { giveUpDirectMerge } from '../line/direct-merge.ts';
import { retargetLanded } from '../line/impact.ts';
import { learnDecision } from '../line/learn.ts';
import { abandon } from '../line/line.ts';
import { leaveLine, removeEntry } from '../line/remove-entry.ts';
import { noteTargetMoved } from '../line/search-runs.ts';
import { replaceCandidate } from '../line/test-run.ts';
import { type Candidate, compositionOf, type Landed, type Landing, type LastPass } from '../model/candidate.ts';
import type {
  CandidateLanded,
  EntryRefused,
  LandedEntry,
  LandingEvent,
  LandingRefused,
  LandingStop,
  ReviewLost,
} from '../model/event.ts';
import { Footprint, targetsOf } from '../model/footprint.ts';
import { WAITING } from '../model/place.ts';
import { type Entry, findCandidate, findEntry, mustBeExact, type Queue } from '../model/queue.ts';
import { noteReportDelays } from '../model/report-delays.ts';
import { isFailFast } from '../model/required.ts';
import { candidatesFor, composedWithOf, isFrozen, lineOf, unlanded } from '../model/roster.ts';
import {
  APPLIED,
  amend,
  endCandidate,
  ignored,
  keep,
  move,
  type Outcome,
  stillLive,
  type Work,
} from '../model/work.ts';
import { advanceTarget, moveTarget, moveTargetByStray } from './evolve-target.ts';

/** Applies an answer about the landing of a candidate. */
export function evolveLanding(work: Work, event: LandingEvent): Outcome {
  const candidate = findCandidate(work.queue, event.candidate);
  if (candidate === undefined) return ignored(`Candidate ${event.candidate} has ended, or never was.`);
  switch (event.kind) {
    case 'landing_begun':
      return beginLanding(work, candidate);
    case 'candidate_landed':
      return concludeLanding(work, candidate, event);
    case 'landing_refused':
      return concludeRefusedLanding(work, candidate, event);
  }
}

/** A landing can be cancelled until it has begun. From then on only its answer ends it. A freeze takes it back before. */
// SPEC Q21
function beginLanding(work: Work, candidate: Candidate): Outcome {
  const { landing } = work.queue;
  if (landing?.candidate !== candidate.number) return ignored(`Candidate ${candidate.number} is not landing.`);
  if (landing.isBegun) return ignored(`The landing of candidate ${candidate.number} has begun already.`);
  amend(work, { landing: isFrozen(work.queue, candidate) ? undefined : { ...landing, isBegun: true } });
  return APPLIED;
}

/** The target branch moved to what passed, or part of the way. Entries that landed leave the queue. */
// SPEC L29
function concludeLanding(work: Work, candidate: Candidate, event: CandidateLanded): Outcome {
  const { queue } = work;
  const { landing } = queue;
  if (landing?.candidate !== candidate.number) return ignored(`Candidate ${candidate.number} was not landing.`);
  assert(event.base === landing.expectedHead, 'a landing starts from the head it was asked to start from');
  assert(isProven(queue, candidate, event), 'what lands is what was tested');
  const asked = landingEntries(queue, candidate);
  const landed = event.entries.flatMap((entry) => asked.filter(({ prNumber }) => prNumber === entry.prNumber));
  assert(landed.length === asked.length || event.how === 'PREFIX', 'a push lands all that it was asked to land');
  assert(isStopPossible(asked, event), 'a merge API lands in order, and stops at what is next');
  amend(work, { landing: undefined });
  if (landed.length > 0) {
    const suspects = findSuspects(queue);
    leaveHead(work, { reason: 'MERGE_GRAPH_MERGE' }, 'landing');
    advanceTarget(work, event.pushedSha, { isDescendant: true, isProven: isWholeProof(candidate, event) });
    carryRemovals(work, queue.head, landed, candidate.pass?.waived?.map(({ check }) => check) ?? []);
    noteTargetMoved(work, landed);
    for (const entry of listMoves(event, landing)) mergeEntry(work, candidate, entry);
    notePasses(work, candidate);
    amend(work, { reportDelays: noteReportDelays(work.queue.reportDelays, candidate) });
    endHold(work, { reason: 'MERGE_GRAPH_MERGE' });
    retestSuspects(work, suspects);
  }
  const { stopped } = event;
  if (stopped?.kind === 'entry_refused') refuseEntry(work, candidate, stopped);
  const strayed = stopped?.kind === 'strayed' ? mergeStray(work, candidate, { asked, stopped, event }) : [];
  endLanded(work, candidate, [...landed, ...strayed]);
  compose(work, landed);
  if (stopped?.kind === 'target_moved') moveTarget(work, stopped);
  if (stopped?.kind === 'strayed') moveTargetByStray(work, { ...stopped, from: event.pushedSha });
  removeAsAsked(work, asked);
  abandonPutOff(work);
  return APPLIED;
}

function isStopPossible(asked: readonly Entry[], { entries, stopped, how }: CandidateLanded): boolean {
  if (stopped === undefined) return entries.length > 0;
  if (how !== 'PREFIX' || entries.some(({ prNumber }, index) => asked[index]?.prNumber !== prNumber)) return false;
  // Without any landed entry it is a refusal, unless the forge landed something unexpected.
  if (stopped.kind !== 'strayed' && entries.length === 0) return false;
  const rest = asked.slice(entries.length);
  if (stopped.kind === 'target_moved') return rest.length > 0;
  return stopped.kind === 'strayed'
    ? rest[0]?.prNumber === stopped.prNumber
    : rest.some(({ prNumber }) => prNumber === stopped.prNumber);
}

/** The pushed tree is the tree that passed, or that tree composed with what landed beside it. */
// SPEC L22
function isProven(queue: Queue, candidate: Candidate, event: CandidateLanded): boolean {
  const { settings, landing } = queue;
  if (candidate.state !== 'passed' || candidate.commit === undefined) return false;
  switch (event.how) {
    case 'IDENTICAL':
      return event.pushedSha === candidate.commit.sha && event.pushedTree === candidate.commit.tree;
    case 'SAME_TREE':
      return event.pushedTree === candidate.commit.tree;
    case 'COMPOSED':
      return settings.mode === 'PARALLEL' && composedWithOf(queue, candidate).length > 0;
    case 'PREFIX':
      return landing?.landingMode === 'API';
    case 'UNPROVEN':
      return false;
  }
}

/** Failures that may have been the fault of the head. */
function findSuspects(queue: Queue): readonly Candidate[] {
  // A search in prefixes tests an accused entry on the new head anyway.
  const halves = new Set(queue.bisections.filter(({ how }) => how === 'halves').map(({ number }) => number));
  const isOfHalves = ({ purpose }: Candidate) => purpose.kind === 'bisection' && halves.has(purpose.bisection);
  const runs = [...lineOf(queue), ...candidatesFor(queue, 'bisection').filter(isOfHalves)];
  return runs.filter((run) => run.state === 'failed' && !mayBlame(queue, run));
}

/** The suspected or red commit is no longer the head. No entry is removed for a failure on it. */
// SPEC V36
function retestSuspects(work: Work, suspects: readonly Candidate[]): void {
  const because = { reason: 'TARGET_BRANCH_LEFT' as const };
  for (const { number, base, purpose } of suspects) {
    const run = findCandidate(work.queue, number);
    if (run === undefined) continue;
    if (purpose.kind === 'bisection') giveUpSearches(work, base, because);
    // Replacing it in its place leaves the candidates built on it as they are.
    else if (unlanded(work.queue, run.members).length > 0) replaceCandidate(work, run, because, 0);
  }
}

/** The new head is exactly what passed, without a waiver. */
function isWholeProof({ pass }: Candidate, { how }: CandidateLanded): boolean {
  return (how === 'IDENTICAL' || how === 'SAME_TREE') && pass?.waived === undefined;
}

/** The entries that a landing lands: the members and, before them, the entries beneath that it vouches for. */
export function landingEntries(queue: Queue, candidate: Candidate): Entry[] {
  return unlanded(queue, compositionOf(candidate));
}

/** The set of tests of a check is taken from its last pass. A waiver or a skipped check is not a pass. */
function notePasses(work: Work, { pass, required, checks }: Candidate): void {
  if (pass === undefined || required === undefined) return;
  const known = work.queue.lastPasses;
  const hasPassed = (name: string) =>
    (pass.by === 'reused_run' && required.names.includes(name)) ||
    (pass.by === 'own_run' && checks.some((check) => check.name === name && check.conclusion === 'SUCCESS'));
  const passOf = (name: string): LastPass => {
    const own = checks.find((check) => check.name === name)?.reporter;
    const reporter = own ?? known.find(({ check }) => check === name)?.reporter;
    const mark = isFailFast(required, name) && ({ isFailFast: true } as const);
    return { check: name, candidate: pass.provenBy, ...present({ reporter }), ...mark };
  };
  const seen = [...checks.map(({ name }) => name), ...known.map(({ check }) => check)];
  const failFast = [...new Set(seen)].filter((name) => isFailFast(required, name)).slice(0, MAX_FAIL_FAST);
  const lastPasses = [...required.names, ...failFast].flatMap((check) =>
    hasPassed(check) ? passOf(check) : (known.find((other) => other.check === check) ?? []),
  );
  amend(work, { lastPasses });
}

/** So many last passes are remembered of fail-fast checks. */
const MAX_FAIL_FAST = 300;

/** How one entry reached the target branch. */
interface Move extends Required<LandedEntry> {
  /** The head of the target branch before and after. */
  readonly base: Sha;
  readonly pushedSha: Sha;
  readonly pushedTree: Sha;
}

/** A push moves the target branch once for all entries, a merge API once for each. */
function listMoves(event: CandidateLanded, { landingMode }: Landing): readonly Move[] {
  const { base, pushedSha, pushedTree, how, entries } = event;
  return entries.map((entry, index) => {
    const landed = { ...entry, kind: entry.kind ?? how };
    if (landingMode === 'PUSH') return { ...landed, base, pushedSha, pushedTree };
    return { ...landed, base: entries[index - 1]?.sha ?? base, pushedSha: entry.sha, pushedTree: entry.tree };
  });
}

// SPEC L3
function mergeEntry(
  work: Work,
  candidate: Candidate,
  { prNumber, sha, tree, kind, base, pushedSha, pushedTree }: Move,
): void {
  const entry = findEntry(work.queue, prNumber);
  if (entry === undefined || candidate.commit === undefined || candidate.pass === undefined) return;
  const isDirect = candidate.purpose.kind === 'direct';
  const { provenBy, provenSha } = candidate.pass;
  const testedSha = isDirect ? entry.pr.headSha : provenSha;
  const landed: Landed = {
    // If another commit proved the tree, the pushed commit is not the tested one.
    kind: kind === 'IDENTICAL' && testedSha !== pushedSha ? 'SAME_TREE' : kind,
    sha,
    tree,
    pushedSha,
    pushedTree,
    testedSha,
    testedTree: candidate.commit.tree,
    candidate: provenBy,
    base,
    composedWith: composedWithOf(work.queue, candidate),
    ...present({ waived: candidate.pass.waived, excused: candidate.pass.excused }),
    at: work.at,
  };
  const reason = isDirect ? 'MERGE_GRAPH_DIRECT_MERGE' : 'MERGE_GRAPH_MERGE';
  const merged = { ...entry, place: WAITING, removalAskedBy: undefined, landed };
  if (!isDirect) learnDecision(work, entry, 0);
  const { removalAskedBy: tooLateFor } = entry;
  move(work, merged, { to: 'MERGED', reason, candidate: candidate.number, ...present({ tooLateFor }) });
}

interface Strayed {
  readonly asked: readonly Entry[];
  readonly stopped: Extract<LandingStop, { kind: 'strayed' }>;
  readonly event: CandidateLanded;
}

/** The entry landed in a state that was not tested, and its record says so. */
// SPEC L26
function mergeStray(work: Work, candidate: Candidate, { asked, stopped, event }: Strayed): readonly Entry[] {
  const { prNumber, sha, tree } = stopped;
  const base = event.pushedSha;
  mergeEntry(work, candidate, { prNumber, sha, tree, kind: 'UNPROVEN', base, pushedSha: sha, pushedTree: tree });
  return asked.filter((entry) => entry.prNumber === prNumber);
}

/** Ends the landed candidate and the runs of the entries it vouched for. Members that did not land are tested again. */
function endLanded(work: Work, candidate: Candidate, landed: readonly Entry[]): void {
  const submissions = new Set(landed.map(({ submission }) => submission));
  for (const other of stillLive(work, lineOf(work.queue))) {
    if (other.number === candidate.number) continue;
    const left = other.members.filter(({ submission }) => !submissions.has(submission));
    if (left.length === other.members.length) continue;
    if (left.length > 0) abandon(work, other, { reason: 'LANDING_INTERRUPTED' });
    else endCandidate(work, other, { reason: 'MERGE_GRAPH_MERGE' });
  }
  if (findCandidate(work.queue, candidate.number) === undefined) return;
  if (candidate.members.every(({ submission }) => submissions.has(submission))) {
    endCandidate(work, candidate, { reason: 'MERGE_GRAPH_MERGE' });
  } else abandon(work, candidate, { reason: 'LANDING_INTERRUPTED' });
}

/** A candidate that does not contain everything that landed stays valid only if it shares no target with the rest. */
// SPEC C4
function compose(work: Work, landed: readonly Entry[]): void {
  const traces = landed.map((entry) => ({ entry, footprint: new Footprint().add(targetsOf(work.queue, entry)) }));
  for (const candidate of stillLive(work, [...candidatesFor(work.queue, 'repair'), ...lineOf(work.queue)])) {
    const inside = new Set(compositionOf(candidate).map(({ submission }) => submission));
    const beside = traces.filter(({ entry }) => !inside.has(entry.submission));
    const [first] = beside;
    if (first === undefined) continue;
    // Entries beneath are members of candidates further ahead. Abandoning those abandons this one too.
    const isDisjoint = !unlanded(work.queue, candidate.members).some((entry) =>
      beside.some(({ footprint }) => footprint.overlaps(targetsOf(work.queue, entry))),
    );
    if (!isDisjoint || mustBeExact(work.queue)) {
      abandon(work, candidate, { reason: 'TARGET_BRANCH_MOVED', prNumber: first.entry.prNumber });
    }
  }
  rememberLandings(work, landed);
}

function rememberLandings(work: Work, landed: readonly Entry[]): void {
  const { queue } = work;
  const ordinal = queue.head?.ordinal ?? queue.heads;
  const bases = [...candidatesFor(queue, 'repair'), ...lineOf(queue)].map(({ base }) => base.ordinal);
  const oldest = Math.min(ordinal, ...bases);
  const recent = landed.map(({ prNumber, submission }) => ({ prNumber, submission, ordinal }));
  amend(work, { landings: [...queue.landings, ...recent].filter((landing) => landing.ordinal > oldest) });
}

// SPEC L23
function concludeRefusedLanding(work: Work, candidate: Candidate, { problem }: LandingRefused): Outcome {
  if (work.queue.landing?.candidate !== candidate.number) {
    return ignored(`Candidate ${candidate.number} was not landing.`);
  }
  const asked = landingEntries(work.queue, candidate);
  amend(work, { landing: undefined });
  if (problem.kind === 'target_moved') moveTarget(work, problem);
  else if (problem.kind === 'not_composable') refuseTree(work, candidate);
  else if (problem.kind === 'review_lost') sendBack(work, problem);
  else if (problem.kind === 'entry_refused') refuseEntry(work, candidate, problem);
  removeAsAsked(work, asked);
  abandonPutOff(work);
  retargetLanded(work);
  return APPLIED;
}

/** Abandons candidates that could not continue while their members were landing elsewhere. */
function abandonPutOff(work: Work): void {
  for (const candidate of stillLive(work, lineOf(work.queue))) {
    if (candidate.isPutOff === true) abandon(work, candidate, { reason: 'LANDING_INTERRUPTED' });
  }
}

/**
 * The tested tree cannot be composed with the head, so the entry touches the same files as others, whatever its targets
 * say. From now on it overlaps with every entry, and its next tree is built on the head itself.
 */
// SPEC L4
function refuseTree(work: Work, candidate: Candidate): void {
  abandon(work, candidate, { reason: 'LANDING_NOT_COMPOSABLE' });
  for (const entry of unlanded(work.queue, candidate.members)) keep(work, { ...entry, overlapsAll: true });
  // It was refused on the head it was tested on. Its pass is forgotten, or it would be refused again without end.
  if (candidate.base.sha === work.queue.head?.sha) forgetPasses(work, candidate);
}

function forgetPasses(work: Work, { commit }: Candidate): void {
  let { passes } = work.queue;
  for (const pass of listOf(passes)) if (pass.commit?.tree === commit?.tree) passes = deleteIn(passes, pass.number);
  amend(work, { passes });
}

// SPEC L6
function refuseEntry(work: Work, candidate: Candidate, { prNumber, reason, detail }: EntryRefused): void {
  const entry = findEntry(work.queue, prNumber);
  if (candidate.purpose.kind === 'direct' && reason === 'PR_UPDATED_AT_MERGE_TIME') giveUpDirectMerge(work, candidate);
  else if (entry !== undefined) {
    const more = present({ detail });
    if (reason === 'MANUAL_MERGE') removeEntry(work, entry, { to: 'MERGED', reason, ...more });
    else removeEntry(work, entry, { to: 'FAILED', reason, candidate: candidate.number, ...more });
  } else abandon(work, candidate, { reason: 'LANDING_INTERRUPTED' });
}

/** It is ready again when the review is there. */
// SPEC L61
function sendBack(work: Work, { prNumber, block }: ReviewLost): void {
  const entry = findEntry(work.queue, prNumber);
  if (entry === undefined) return;
  const pr = { ...entry.pr, mergeability: 'NOT_MERGEABLE' as const, blockReasons: [block] };
  keep(work, { ...entry, pr });
  const because = { reason: 'PREREQUISITE_MERGE_ITEM_CANCELLED' as const, prNumber };
  leaveLine(work, entry, because, { to: 'NOT_READY', reason: 'GITHUB_API_BRANCH_PROTECTION_UNMET' });
}

/** Entries that were cancelled during the landing leave now, because they did not land. */
// SPEC L24
function removeAsAsked(work: Work, asked: readonly Entry[]): void {
  for (const { prNumber, submission } of asked) {
    const entry = findEntry(work.queue, prNumber);
    if (entry?.submission !== submission || entry.removalAskedBy === undefined) continue;
    removeEntry(work, entry, { to: 'CANCELLED', reason: 'USER_REQUESTED', actor: entry.removalAskedBy });
  }
}
