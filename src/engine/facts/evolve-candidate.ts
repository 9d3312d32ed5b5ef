import { unreachable } from '../../lib/assert.ts';
import { getIn, setIn } from '../../lib/int-map.ts';
import { present } from '../../lib/present.ts';
import { concludeUntestable, giveUpRepair, holdForConfiguration, isReadable, retestHeld } from '../evidence/hold.ts';
import { concludeInconclusive, judge, mayTakeBack, reviewPass } from '../evidence/judge.ts';
import { concludeLateReports } from '../evidence/late-reports.ts';
import { countAlike, ENOUGH, noteRemoval } from '../evidence/suspicion.ts';
import { concludeDirectMerge, giveUpDirectMerge } from '../line/direct-merge.ts';
import { abandon, isBeingLanded, takeOut } from '../line/line.ts';
import { findSearch } from '../line/marks.ts';
import { concludeUnanswered } from '../line/questions.ts';
import { removeEntry } from '../line/remove-entry.ts';
import { releaseFromSearch } from '../line/search-runs.ts';
import { beginChecks, replaceCandidate } from '../line/test-run.ts';
import { isConfigurationProblem } from '../model/blame.ts';
import { type Candidate, compositionOf } from '../model/candidate.ts';
import type {
  CandidateBuilt,
  CandidateConflicted,
  CandidateEvent,
  CandidateUnbuildable,
  CheckJudged,
  ChecksLost,
  LandingEvent,
} from '../model/event.ts';
import { type Place, WAITING } from '../model/place.ts';
import { requiredOfProbe, withAnswer } from '../model/question.ts';
import { type Because, type Entry, findCandidate, findLiveMember, type Queue } from '../model/queue.ts';
import { requiredChecks, type StartProblem } from '../model/required.ts';
import { unlanded } from '../model/roster.ts';
import { withFinding } from '../model/waiver.ts';
import {
  APPLIED,
  amend,
  endCandidate,
  entryOf,
  ignored,
  keep,
  keepCandidate,
  move,
  type Outcome,
  tell,
  type Work,
} from '../model/work.ts';
import { countEarlyReports, isBeforeItsRun, report } from './report-check.ts';
import { concludeReview } from './review-required.ts';

/** Applies an answer about one candidate. Answers about an ended candidate change nothing but its record. */
export function evolveCandidate(work: Work, event: Exclude<CandidateEvent, LandingEvent>): Outcome {
  const candidate = findCandidate(work.queue, event.candidate);
  if (candidate === undefined && event.kind === 'check_judged') return judgeEnded(work, event);
  if (candidate === undefined) return ignored(`Candidate ${event.candidate} has ended, or never was.`);
  switch (event.kind) {
    case 'candidate_built':
      return build(work, candidate, event);
    case 'candidate_conflicted':
      return conflict(work, candidate, event);
    case 'candidate_unbuildable':
      return fail(work, candidate, event);
    case 'check_reported':
      return report(work, candidate, event);
    case 'check_judged':
      return judgeCheck(work, candidate, event);
    case 'required_reviewed':
      return concludeReview(work, candidate, event);
    case 'checks_lost':
      return loseChecks(work, candidate, event);
    default:
      return unreachable(event);
  }
}

function build(work: Work, candidate: Candidate, { sha, tree, sources, isHeadUnproven }: CandidateBuilt): Outcome {
  if (candidate.state !== 'building') return notBuilding(candidate);
  const { question } = candidate;
  const all = requiredChecks(work.queue.settings, sources, work.queue.lastPasses);
  const required = question === undefined || typeof all === 'string' ? all : requiredOfProbe(all, question);
  const built: Candidate = { ...candidate, commit: { sha, tree } };
  keepCandidate(work, built);
  if (typeof required === 'string' && isBeingLanded(work.queue, built)) putOff(work, built);
  else if (typeof required === 'string')
    failStart(work, built, { reason: required, ...present({ detail: sources.checksProblem }) });
  else if (isReadable(work.queue, built)) concludeReadable(work, built);
  else if (candidate.purpose.kind === 'direct' && isHeadUnproven === true) giveUpDirectMerge(work, built);
  else if (candidate.purpose.kind === 'direct') concludeDirectMerge(work, built, required);
  else {
    beginChecks(work, built, required);
    countEarlyReports(work, built.number);
  }
  if (work.at - candidate.plannedAt >= LONG_BUILD_MS)
    for (const { prNumber } of candidate.members) tell(work, prNumber);
  return APPLIED;
}

/** A page that awaits the commit for some seconds more (update-page.ts) says then that it is being built. */
const LONG_BUILD_MS = 5_000;

function fail(work: Work, candidate: Candidate, { reason, detail }: CandidateUnbuildable): Outcome {
  if (candidate.state !== 'building' && candidate.state !== 'testing') return notBuilding(candidate);
  if (isBeingLanded(work.queue, candidate)) putOff(work, candidate);
  else failStart(work, candidate, { reason, detail });
  return APPLIED;
}

/** Members that are being landed cannot leave. If they do not land, the candidate is abandoned and planned again. */
// SPEC L27
function putOff(work: Work, candidate: Candidate): void {
  keepCandidate(work, { ...candidate, isPutOff: true });
}

interface StartFailure {
  readonly reason: StartProblem;
  readonly detail?: string;
}

/** The candidate cannot be tested at all. No other entry is to blame, and waiting does not help. */
function failStart(work: Work, candidate: Candidate, { reason, ...more }: StartFailure): void {
  if (candidate.question !== undefined) {
    concludeUnanswered(work, candidate);
    return;
  }
  switch (candidate.purpose.kind) {
    case 'direct':
      return giveUpDirectMerge(work, candidate);
    case 'head':
      return concludeUntestable(work, candidate, { reason, ...more });
    case 'repair':
      return giveUpRepair(work, candidate, []);
    default:
      if (isConfigurationProblem(reason)) failByConfiguration(work, candidate, { reason, ...more });
      else failMembers(work, candidate, { reason, ...more });
  }
}

// SPEC C8
function failMembers(work: Work, candidate: Candidate, more: StartFailure): void {
  for (const entry of unlanded(work.queue, candidate.members)) {
    removeEntry(work, entryOf(work, entry.prNumber), { to: 'FAILED', candidate: candidate.number, ...more });
  }
}

/**
 * The configuration belongs to the branch. The first entry is removed for it. At the second one the queue holds
 * instead.
 */
function failByConfiguration(work: Work, candidate: Candidate, failure: StartFailure): void {
  const { base } = candidate;
  const { reason } = failure;
  const met = unlanded(work.queue, candidate.members);
  const isHeld = work.queue.hold !== undefined;
  if (!isHeld && countAlike(work.queue, base, { reason, checks: [] }) + met.length < ENOUGH) {
    for (const entry of met) noteRemoval(work, entry, base, { failure: { at: work.at, reason, checks: [] } });
    failMembers(work, candidate, failure);
    return;
  }
  sendBack(work, candidate, { reason: 'TARGET_BRANCH_RED', candidate: candidate.number });
  if (!isHeld) holdForConfiguration(work, candidate, failure);
}

/** Returns the members to the line, from a candidate of the line or from a bisection. */
function sendBack(work: Work, candidate: Candidate, because: Because): void {
  if (candidate.purpose.kind !== 'bisection') return abandon(work, candidate, because);
  for (const entry of unlanded(work.queue, candidate.members)) {
    releaseFromSearch(work, entryOf(work, entry.prNumber), because);
  }
}

function concludeReadable(work: Work, run: Candidate): void {
  endCandidate(work, run, { reason: 'TARGET_BRANCH_GREEN' });
  retestHeld(work, { reason: 'TARGET_BRANCH_GREEN', candidate: run.number });
}

/**
 * A member that conflicts with the target branch fails. A member that conflicts with an entry ahead is set aside until
 * that entry ends. The other members are built without it at once.
 */
// SPEC C9, C33
function conflict(work: Work, candidate: Candidate, { prNumber, culprit, files }: CandidateConflicted): Outcome {
  if (candidate.state !== 'building') return notBuilding(candidate);
  if (candidate.question !== undefined && candidate.members.length === 0) {
    concludeUnanswered(work, candidate);
    return APPLIED;
  }
  const entry = unlanded(work.queue, candidate.members).find((member) => member.prNumber === prNumber);
  if (entry === undefined) return ignored(`#${prNumber} is not under test in candidate ${candidate.number}.`);
  const aside = { reason: 'PREREQUISITE_MERGE_ITEM_SET_ASIDE' as const, prNumber };
  const where = present({ files });
  if (isBeingLanded(work.queue, candidate)) putOff(work, candidate);
  else if (candidate.purpose.kind === 'direct') giveUpDirectMerge(work, candidate);
  else if (culprit === undefined && isInPrefixes(work.queue, entry)) {
    keep(work, { ...entry, isScoutSpent: true });
    releaseFromSearch(work, entry, { reason: 'CONFLICTS_WITH_PREREQUISITE', ...where });
  } else if (culprit === undefined) {
    const reason = 'START_TEST_RUN_MERGE_CONFLICT';
    removeEntry(work, entry, { to: 'FAILED', reason, candidate: candidate.number, ...where });
  } else if (entry.place.kind === 'search') {
    releaseFromSearch(work, entry, { reason: 'CONFLICTS_WITH_PREREQUISITE', prNumber: culprit, ...where });
  } else {
    takeOut(work, [entry], aside);
    // An entry that landed or left since is not waited for, even if it was submitted again.
    const ahead = compositionOf(candidate).find((member) => member.prNumber === culprit);
    const isAhead = ahead !== undefined && findLiveMember(work.queue, ahead) !== undefined;
    const place: Place = isAhead ? { kind: 'aside', behind: culprit } : WAITING;
    const because = { reason: 'CONFLICTS_WITH_PREREQUISITE' as const, prNumber: culprit, candidate: candidate.number };
    move(work, { ...entryOf(work, prNumber), place }, { to: 'PENDING', ...because, ...where });
  }
  return APPLIED;
}

/** A search may be on an old base or ahead of the entry's turn, so a conflict there decides nothing. */
// SPEC K19
function isInPrefixes(queue: Queue, { place }: Entry): boolean {
  return place.kind === 'search' && findSearch(queue, place.search)?.how === 'prefixes';
}

function judgeCheck(work: Work, candidate: Candidate, event: CheckJudged): Outcome {
  const hasPassed = candidate.state === 'passed';
  if (isBeforeItsRun(candidate) || (hasPassed && isBeingLanded(work.queue, candidate))) return notAsked(event);
  const isTooLate = hasPassed && !mayTakeBack(candidate);
  const mode = work.queue.settings.honorQuarantine;
  const isProbe = candidate.question !== undefined;
  const checks = isProbe
    ? withAnswer(candidate.checks, event, event)
    : withFinding(candidate.checks, event, { ...event, mode, isTooLate });
  if (checks === undefined) return notAsked(event);
  const judged = { ...candidate, checks };
  keepCandidate(work, judged);
  for (const { prNumber } of candidate.members) tell(work, prNumber);
  if (candidate.state === 'testing' || candidate.state === 'failed') judge(work, judged);
  else if (!isTooLate) reviewPass(work, judged);
  return APPLIED;
}

/** The verdict came too late to count. The record keeps it for the API. */
function judgeEnded(work: Work, event: CheckJudged): Outcome {
  // A remembered pass is newer than the record that the event brings: another server may have judged it meanwhile.
  const remembered = getIn(work.queue.passes, event.candidate);
  const ended = event.ended && (remembered ?? event.ended);
  const found = ended && withFinding(ended.checks, event, { ...event, mode: 'SHADOW', isTooLate: true });
  // Reports that arrive even later amend the record of the landing alone.
  const checks = found ?? (event.landed && ended?.checks);
  if (ended === undefined || checks === undefined) return notAsked(event);
  work.endedCandidates.push({ ...ended, checks });
  if (remembered !== undefined) {
    amend(work, { passes: setIn(work.queue.passes, ended.number, { ...ended, checks }) });
  }
  for (const { prNumber } of ended.members) tell(work, prNumber);
  if (event.landed !== undefined) concludeLateReports(work, ended, event);
  return APPLIED;
}

function notAsked({ candidate, check }: CheckJudged): Outcome {
  return ignored(`Nobody waits for a judgement of ${check} of candidate ${candidate}.`);
}

// SPEC V25
function loseChecks(work: Work, candidate: Candidate, { cause }: ChecksLost): Outcome {
  if (candidate.state !== 'testing') return ignored(`Candidate ${candidate.number} is ${candidate.state}.`);
  if (cause === 'runner_lost') concludeInconclusive(work, candidate);
  else {
    const because = { reason: 'TEST_RUN_INCONCLUSIVE' as const, candidate: candidate.number };
    replaceCandidate(work, candidate, because, candidate.tries, candidate.repeats);
  }
  return APPLIED;
}

function notBuilding({ number, state }: Candidate): Outcome {
  return ignored(`Candidate ${number} is ${state}, not being built.`);
}
