import { decodeTransition } from '../../src/app/core/queue-codec.ts';
import { landingEntries } from '../../src/engine/facts/evolve-landing.ts';
import { findBreachAnywhere } from '../../src/engine/line/invariants.ts';
import type { Candidate, Member } from '../../src/engine/model/candidate.ts';
import { compositionOf } from '../../src/engine/model/candidate.ts';
import { targetsOf } from '../../src/engine/model/footprint.ts';
import {
  type Entry,
  findCandidate,
  findLiveMember,
  isAdmitted,
  isLive,
  ownRunOf,
  type Queue,
} from '../../src/engine/model/queue.ts';
import { REASON_CODES } from '../../src/engine/model/reason.ts';
import { composedWithOf } from '../../src/engine/model/roster.ts';
import { isInterruptible } from '../../src/engine/search/interrupt.ts';
import type { Instant } from '../../src/lib/clock.ts';
import { valuesOf } from '../../src/lib/int-map.ts';
import type { Sha } from '../../src/lib/sha.ts';
import type { TransitionRow } from '../../src/storage/queues.ts';
import { planLanding } from '../fake/fake-candidates.ts';
import type { FakeCi } from '../fake/fake-ci.ts';
import type { BranchMove, FakeRepository } from '../fake/fake-repository.ts';
import type { Chapter, Chronicle } from './chronicle.ts';
import { BRANCH } from './clients.ts';
import { findUndone } from './movers.ts';
import { findPausedBeginning, overlap } from './order.ts';
import { statedBy } from './stacks.ts';
import { wasRewound } from './truth.ts';

/** The evidence: what is stored, what the forge has, and the true results of CI. */
export interface Evidence {
  readonly chronicle: Chronicle;
  readonly repository: FakeRepository;
  readonly ci: FakeCi;
  /** The landings on the target branch, by submission. */
  readonly landed: Map<number, LandingMove>;
  /** Landings that the forge executed after they were given up. */
  readonly strays: Set<BranchMove>;
}

/** A move of the target branch by the queue. */
export interface LandingMove extends BranchMove {
  readonly from: Sha;
  readonly to: Sha;
  readonly tree: Sha;
  readonly landing: NonNullable<BranchMove['landing']>;
}

export function isLandingMove(move: BranchMove): move is LandingMove {
  return move.landing !== undefined && move.from !== undefined && move.to !== undefined;
}

/** Each returns a sentence about what is broken, or nothing. */
type OfLanding = (evidence: Evidence, move: LandingMove) => string | undefined;
type OfChapter = (evidence: Evidence, chapter: Chapter) => string | undefined;

export const OF_LANDINGS: Readonly<Record<string, OfLanding>> = {
  '1 what lands passed its required checks': landsWhatPassed,
  '2 a landing starts from the recorded base': startsFromBase,
  '3 the head that lands is the head submitted': landsWhatWasSubmitted,
  '7 only disjoint entries land untested together': combinesOnlyDisjoint,
  '8 nothing lands twice': landsOnce,
  'O31 nothing lands before what is below it': landsOnWhatIsBelow,
  'O43 nothing lands with rewritten commits of what is below it': landsNothingRewritten,
};

/** Applies only if targets are correct, no check is blind, and the target branch was not red before. */
export function staysGreen(
  { ci, chronicle, repository }: Evidence,
  move: LandingMove,
  protection: readonly string[],
): string | undefined {
  const candidate = chronicle.candidates.get(move.landing.request.candidateId);
  if (move.landing.answer.how === 'UNPROVEN' || move.landing.answer.how === 'PREFIX') return undefined;
  // The judgements of this world are random.
  if (candidate?.pass?.waived !== undefined) return undefined;
  // A pull request from before a force-push brings back what the force-push removed, and its targets do not say so.
  const isRewound = wasRewound(repository);
  const isComposed = move.landing.request.composedWith.length > 0;
  if (candidate !== undefined && isComposed && isRewound) return undefined;
  // Targets are correct for the checks of the branch. An additional check was tested on each side alone.
  const isCommon = (name: string) => !isComposed || protection.includes(name);
  const names = (candidate?.required?.names ?? []).filter(isCommon);
  const before = repository.git.getCommit(move.from).tree;
  const red = names.find((name) => ci.isGreen(before, name) && !ci.isGreen(move.tree, name));
  return red && `${red} is red at ${move.to}`;
}

/** Invariants with a memory: see `Turns` and `Jury`, which names its own. */
const COMPLETE = 'a plan is complete in one step';
export const IN_ORDER = 'equals land in the order of their admission';
export const NAMED_BESIDE = 'C4 a candidate names what landed beside it';
export const MOVABLE = 'something can move every entry';

/** Derived from the store alone, on any forge. */
export const OF_STORED: Readonly<
  Record<string, (evidence: Pick<Evidence, 'chronicle'>, chapter: Chapter) => string | undefined>
> = {
  '5 landing respects dependencies': keepsOrder,
  'C4 only what is disjoint lands beside a candidate': staysDisjoint,
  'I1 no queue is parked': isNotParked,
  'I1 what is true of every queue': keepsEngineInvariants,
  'C10 a tree that passed is not run again': runsNothingTwice,
  'V13 a pass by a waiver lands nobody else': waivesForItselfAlone,
  '6 no landing begins while the queue is paused': (_evidence, chapter) => findPausedBeginning(chapter),
  [COMPLETE]: (_evidence, chapter) => findUndone(chapter),
};

export const OF_CHAPTERS: Readonly<Record<string, OfChapter>> = {
  '4 no entry is both landed and removed': endsOnce,
  'C6 what is taken for a foreign push is one': knowsItsOwnMoves,
  'V1 who fails a check did': failsForACheck,
  ...OF_STORED,
};

export function landsWhatPassed(evidence: Evidence, { to, tree, landing }: LandingMove): string | undefined {
  const { request, answer } = landing;
  const candidate = evidence.chronicle.candidates.get(request.candidateId);
  if (candidate?.commit === undefined) return 'no such candidate was stored';
  if (candidate.commit.sha !== request.sha || candidate.commit.tree !== request.tree)
    return 'another commit was asked for';
  const doubt = findDoubt(evidence, candidate);
  if (doubt !== undefined) return `candidate ${candidate.number}: ${doubt}`;
  if (answer.how === 'IDENTICAL') return to === request.sha ? undefined : 'IDENTICAL is not the tested commit';
  if (answer.how === 'SAME_TREE') return tree === request.tree ? undefined : 'SAME_TREE is not the tested tree';
  if (answer.how === 'PREFIX') return findBadPart(evidence, landing);
  // Only a merge API does that, and only on top of a foreign push. Whether the record says so is checked at the end.
  if (answer.how === 'UNPROVEN' && landing.whole !== undefined) return undefined;
  return answer.how === 'COMPOSED' ? undefined : `landed as ${answer.how}`;
}

/** A part of what was tested has the predicted tree. */
function findBadPart({ repository: { git } }: Evidence, { answer, whole }: LandingMove['landing']): string | undefined {
  const plan = whole && planLanding(git, whole);
  if (plan?.kind !== 'landed') return 'a part of nothing';
  const [part] = answer.entries;
  const predicted = plan.entries.slice(0, -1).find(({ prNumber }) => prNumber === part?.prNumber);
  return predicted?.tree === part?.tree ? undefined : `#${part?.prNumber} is no part of what was tested`;
}

/** Why CI did not prove the candidate's tree, according to CI itself. */
function findDoubt({ ci, chronicle, repository: { git } }: Evidence, candidate: Candidate): string | undefined {
  const { pass, required, commit, members } = candidate;
  if (pass === undefined || required === undefined || commit === undefined) return 'it never passed';
  const lacks = (sha: Sha) => required.names.find((name) => !ci.record.names('passed', sha).includes(name));
  const waived = pass.waived?.map(({ check }) => check) ?? [];
  if (waived.length > 0 && pass.by !== 'own_run') return 'it passed by a waiver of another';
  const head = members[0]?.headSha;
  switch (pass.by) {
    case 'question':
      return 'only a few tests ran';
    case 'nothing_required':
      return required.names.length === 0 ? undefined : 'checks were required';
    case 'own_run':
      return findUnproven({ ci, candidate, sha: commit.sha, waived });
    case 'head_checks':
      if (head === undefined || git.getCommit(head).tree !== commit.tree) return 'the head has another tree';
      return lacks(head) && `${lacks(head)} never passed on the head`;
    case 'reused_run': {
      const proof = chronicle.candidate(pass.provenBy);
      if (proof?.commit === undefined || proof.pass?.by !== 'own_run') return 'the run it names proves nothing';
      if (proof.pass.waived !== undefined) return 'the run it names passed by a waiver';
      if (proof.commit.tree !== commit.tree) return 'the run it names was of another tree';
      if (!git.isAncestor(proof.base.sha, candidate.base.sha)) return 'the run it names was on another base';
      return lacks(proof.commit.sha) && `${lacks(proof.commit.sha)} never passed in the run it names`;
    }
  }
}

/** A required check that neither passed nor was waived by a judgement. */
function findUnproven(of: {
  readonly ci: FakeCi;
  readonly candidate: Candidate;
  readonly sha: Sha;
  readonly waived: readonly string[];
}): string | undefined {
  const { ci, candidate, sha, waived } = of;
  for (const name of candidate.required?.names ?? []) {
    const check = candidate.checks.find((each) => each.name === name);
    if (waived.includes(name)) {
      const { judgement } = check ?? {};
      if (check?.conclusion !== 'FAILURE' || judgement?.kind !== 'judged') return `${name} was waived out of nothing`;
      if (!judgement.isWaived || judgement.isShadow) return `${name} was waived against its judgement`;
    } else if (!ci.record.names('passed', sha).includes(name)) return `${name} never passed on its commit`;
  }
  return undefined;
}

export function startsFromBase({ repository: { git } }: Evidence, move: LandingMove): string | undefined {
  const { from, to, landing } = move;
  if (from !== landing.request.expectedHead) return `the head was ${from}, expected ${landing.request.expectedHead}`;
  if (!git.isAncestor(from, to)) return 'the old head is not in the new one';
  return git.listFirstParents(to, from)[0]?.parents[0] === from ? undefined : 'the first parents do not lead to it';
}

export function landsWhatWasSubmitted({ chronicle }: Evidence, { landing }: LandingMove): string | undefined {
  const { candidateId, entries } = landing.request;
  const candidate = chronicle.candidates.get(candidateId);
  for (const { prNumber, headSha } of entries) {
    const member = candidate && compositionOf(candidate).find((each) => each.prNumber === prNumber);
    const stay = member && chronicle.stays.get(member.submission);
    if (stay === undefined) return `#${prNumber} was not in the queue`;
    if (member?.headSha !== headSha || !stay.heads.has(headSha)) return `#${prNumber} landed at ${headSha}`;
  }
  return undefined;
}

/**
 * Everything that moved the target branch since the candidate's base was landed by the queue, and shares neither
 * targets nor paths.
 */
export function combinesOnlyDisjoint(evidence: Evidence, move: LandingMove): string | undefined {
  const { request, answer } = move.landing;
  const candidate = evidence.chronicle.candidates.get(request.candidateId);
  if (answer.how !== 'COMPOSED' || candidate === undefined) return undefined;
  const decision = evidence.chronicle.decisions.get(candidate.number);
  if (decision === undefined) return 'nobody decided to land it';
  if (decision.settings.mode !== 'PARALLEL' || decision.settings.exactLanding) return 'composing was not allowed';
  const paths = new Set<string>();
  for (let { from } = move; from !== candidate.base.sha; ) {
    const other = evidence.repository.moves.find((each) => each.to === from && isLandingMove(each));
    if (other === undefined || !isLandingMove(other)) return `composed with a foreign push to ${from}`;
    from = other.from;
    for (const one of partsOf(evidence, other)) {
      if (compositionOf(candidate).some((member) => isSameMember(member, one))) continue;
      const targets = findStay(evidence, other, one.prNumber)?.targets;
      for (const [submission, own] of decision.targets) {
        if (overlap(own, targets)) return `#${one.prNumber} and submission ${submission} share a target`;
      }
      for (const path of one.paths) paths.add(path);
    }
  }
  return findMixedPath(evidence, move, paths);
}

interface Part {
  readonly prNumber: number;
  readonly headSha: Sha;
  readonly paths: Iterable<string>;
}

/** The changes of each entry of a landing. */
function partsOf({ repository: { git } }: Evidence, { from, landing }: LandingMove): Part[] {
  let { tree } = git.getCommit(from);
  return landing.answer.entries.map((entry) => {
    const paths = [...git.listChanges(tree, entry.tree).keys()];
    tree = entry.tree;
    const headSha = landing.request.entries.find(({ prNumber }) => prNumber === entry.prNumber)?.headSha as Sha;
    return { prNumber: entry.prNumber, headSha, paths };
  });
}

function isSameMember(member: Member, part: Part): boolean {
  return member.prNumber === part.prNumber && member.headSha === part.headSha;
}

function findStay({ chronicle }: Pick<Evidence, 'chronicle'>, { landing }: LandingMove, prNumber: number) {
  const candidate = chronicle.candidates.get(landing.request.candidateId);
  const member = candidate && compositionOf(candidate).find((each) => each.prNumber === prNumber);
  return member && chronicle.stays.get(member.submission);
}

/** Paths of the others are as on the target branch; all other paths are as tested. */
function findMixedPath(evidence: Evidence, move: LandingMove, others: ReadonlySet<string>): string | undefined {
  const { git } = evidence.repository;
  const [pushed, tested] = [git.getTree(move.tree).files, git.getTree(move.landing.request.tree).files];
  const before = git.getFiles(move.from);
  for (const { paths } of partsOf(evidence, move)) {
    for (const path of paths) if (others.has(path)) return `${path} was changed on both sides`;
  }
  for (const path of new Set([...pushed.keys(), ...tested.keys(), ...before.keys()])) {
    const expected = others.has(path) ? before.get(path) : tested.get(path);
    if (pushed.get(path) !== expected) return `${path} is neither as tested nor as it was`;
  }
  return undefined;
}

export function landsOnce({ chronicle, landed }: Evidence, move: LandingMove): string | undefined {
  const candidate = chronicle.candidates.get(move.landing.request.candidateId);
  for (const { prNumber } of move.landing.request.entries) {
    const member = candidate && compositionOf(candidate).find((each) => each.prNumber === prNumber);
    if (member === undefined) continue;
    if (landed.has(member.submission)) return `#${prNumber} had landed at ${landed.get(member.submission)?.at}`;
    landed.set(member.submission, move);
  }
  return undefined;
}

/** Each that its text names is merged, or lands just before it, and the target branch shows it. */
export function landsOnWhatIsBelow({ chronicle, repository }: Evidence, move: LandingMove): string | undefined {
  const { git } = repository;
  const { entries } = move.landing.request;
  const isRewound = wasRewound(repository);
  for (const [index, { prNumber }] of entries.entries()) {
    const stay = findStay({ chronicle }, move, prNumber);
    for (const below of stay === undefined ? [] : statedBy(stay.entry)) {
      if (entries.slice(0, index).some((other) => other.prNumber === below)) continue;
      const last = [...chronicle.stays.values()].findLast(({ entry }) => entry.prNumber === below)?.entry;
      const pr = repository.findPullRequest(below);
      const isMerged = (pr?.status === 'merged' && pr.base === BRANCH) || last?.state === 'MERGED';
      if (!isMerged) return `#${prNumber} lands without #${below}`;
      const landed = last?.landed;
      const isLost = landed !== undefined && git.findCommit(landed.sha) === undefined;
      if (landed === undefined || isLost || isRewound || git.isAncestor(landed.sha, move.to)) continue;
      return `#${prNumber} lands, and the branch has no #${below}`;
    }
  }
  return undefined;
}

/** The head below it that it had when it was read is in what landed of that, or was never in it. */
export function landsNothingRewritten({ chronicle, repository }: Evidence, move: LandingMove): string | undefined {
  const { git } = repository;
  for (const { prNumber, headSha } of move.landing.request.entries) {
    const entry = findStay({ chronicle }, move, prNumber)?.entry;
    for (const { number, by, headSha: was } of entry?.pr.below ?? []) {
      const last = [...chronicle.stays.values()].findLast((stay) => stay.entry.prNumber === number)?.entry;
      if (by === 'ancestor' || was === undefined || last?.landed === undefined) continue;
      if (git.findCommit(last.pr.headSha) === undefined || git.isAncestor(was, move.from)) continue;
      if (git.isAncestor(was, headSha) && !git.isAncestor(was, last.pr.headSha))
        return `#${prNumber} brings ${was}, which #${number} had and has no more`;
    }
  }
  return undefined;
}

/** An entry ends once. A landed entry ends as merged with a true record. */
export function endsOnce({ chronicle, landed, repository }: Evidence, { step }: Chapter): string | undefined {
  for (const entry of step.ended) {
    const name = `#${entry.prNumber}`;
    if ((chronicle.stays.get(entry.submission)?.endings ?? 0) > 1) return `${name} ended twice`;
    if (entry.state !== 'MERGED') {
      if (landed.has(entry.submission)) return `${name} landed and is ${entry.state}`;
      continue;
    }
    if (entry.landed === undefined) continue;
    const { base, pushedSha, pushedTree, kind } = entry.landed;
    const move = repository.moves.find(({ to, from }) => to === pushedSha && (from === base || kind === 'UNPROVEN'));
    if (move?.landing === undefined || move.tree !== pushedTree) return `${name} says it landed, and it did not`;
    if (move.landing.whole === undefined) continue;
    const { how } = move.landing.answer;
    // The queue had given up the landing that moved the branch, for example because the branch was deleted meanwhile.
    const isOfAnother = chronicle.candidates.get(move.landing.request.candidateId)?.number !== entry.because.candidate;
    // The branch was rewound before the queue heard of the landing, and got the commit back with others.
    const isTakenBack = repository.moves.some((other) => other.from === pushedSha && other.to === base);
    if (kind === 'UNPROVEN' && (isOfAnother || isTakenBack)) continue;
    if (kind !== how) return `${name} says that it landed as ${kind}, and it is ${how}`;
  }
  return undefined;
}

/** The queue saw a foreign push: there was one, or its own landing was executed after it was given up. */
export function knowsItsOwnMoves(evidence: Evidence, { before, event, step: { queue } }: Chapter): string | undefined {
  const isStopped = event.kind === 'candidate_landed' && event.stopped?.kind === 'target_moved';
  const isNews = event.kind === 'target_observed' || event.kind === 'landing_refused' || isStopped;
  if (!isNews || before.heads === 0 || queue.heads === before.heads) return undefined;
  const head = queue.head?.sha;
  const isForeign = (move: BranchMove) => move.to === head && (move.landing === undefined || evidence.strays.has(move));
  // Late news is still true: a push removed what had just landed, and the landing was given up.
  const isTakenBack = ({ from, landing }: BranchMove) => from === head && landing === undefined;
  const { moves } = evidence.repository;
  return moves.some((move) => isForeign(move) || isTakenBack(move)) ? undefined : `nobody else moved it to ${head}`;
}

/** CI truly failed the candidate that an entry is removed for. */
export function failsForACheck({ chronicle, ci }: Evidence, { step: { ended } }: Chapter): string | undefined {
  for (const { prNumber, because } of ended) {
    if (because.reason !== 'TEST_RUN_REQUIRED_STATUS_FAILED') continue;
    const sha = because.candidate === undefined ? undefined : chronicle.candidate(because.candidate)?.commit?.sha;
    const hasFailed =
      sha !== undefined && because.checks?.some((name) => ci.record.names('failed', sha).includes(name));
    if (!hasFailed)
      return `#${prNumber} failed ${because.checks?.join()} in candidate ${because.candidate}: it did not`;
  }
  return undefined;
}

/**
 * At the end, every landing is recorded as merged. A merge API that refused an entry may still carry out an earlier
 * request that arrived late. The queue sees a foreign push then, and raises its alarm.
 */
export function findUnrecorded({ chronicle, landed }: Evidence): string | undefined {
  for (const [submission, { to }] of landed) {
    const entry = chronicle.stays.get(submission)?.entry;
    const isLate = entry?.state === 'FAILED' && entry.because.reason.startsWith('GITHUB_API_');
    if (entry?.state !== 'MERGED' && !isLate) return `#${entry?.prNumber} landed with ${to} and is ${entry?.state}`;
  }
  return undefined;
}

/** When a landing is decided, no overlapping entry ahead of it is left to land. */
export function keepsOrder(_evidence: unknown, { step: { queue, effects } }: Chapter): string | undefined {
  for (const effect of effects) {
    const candidate = effect.kind === 'land_candidate' ? findCandidate(queue, effect.candidate) : undefined;
    if (candidate === undefined) continue;
    const landing = landingEntries(queue, candidate);
    const others = [...valuesOf(queue.entries)].filter((other) => isInLine(other) && !landing.includes(other));
    for (const entry of landing) {
      const isInTheWay = (other: Entry) =>
        overlap(targetsOf(queue, entry), targetsOf(queue, other)) && isAhead(queue, other, { entry, landing });
      const ahead = others.find(isInTheWay);
      if (ahead !== undefined) return `#${entry.prNumber} lands before #${ahead.prNumber}`;
    }
  }
  return undefined;
}

function isInLine(entry: Entry): boolean {
  return isAdmitted(entry) && entry.place.kind !== 'aside' && entry.place.kind !== 'search';
}

interface Landing {
  readonly entry: Entry;
  readonly landing: readonly Entry[];
}

function isAhead(queue: Queue, other: Entry, { entry, landing }: Landing): boolean {
  const [own, others] = [ownRunOf(queue, entry), ownRunOf(queue, other)];
  if (own === undefined || own.purpose.kind === 'direct') return true;
  // It was tested alone on a red head and may repair it for the others.
  if (own.purpose.kind === 'repair') return false;
  if (others !== undefined) return others.place < own.place;
  // While the branch is red nothing starts, and an urgent entry interrupts nothing: what passed may repair the branch.
  if (queue.hold !== undefined) return false;
  if (other.priority.value > 0 || landing.some(({ priority }) => priority.value === 0)) return false;
  return isInterruptible(queue, own);
}

/** Entries that landed beside a candidate shared no target with its members, and still share none. */
function staysDisjoint(
  { chronicle: { stays } }: Pick<Evidence, 'chronicle'>,
  { step: { queue } }: Chapter,
): string | undefined {
  for (const candidate of valuesOf(queue.candidates)) {
    const composedWith = composedWithOf(queue, candidate);
    if (composedWith.length === 0 || candidate.purpose.kind !== 'main') continue;
    // Entries that are landing are exempt.
    if (queue.landing !== undefined) return undefined;
    const beside = [...stays.values()].filter(
      ({ entry }) => entry.landed !== undefined && composedWith.includes(entry.prNumber),
    );
    for (const member of candidate.members) {
      const own = findLiveMember(queue, member);
      const other = own && beside.find(({ targets }) => overlap(targetsOf(queue, own), targets));
      if (other !== undefined) return `candidate ${candidate.number} overlaps with #${other.entry.prNumber} beside it`;
    }
  }
  return undefined;
}

function isNotParked(_evidence: unknown, { step: { outcome, queue } }: Chapter): string | undefined {
  if (outcome.kind === 'parked') return outcome.detail;
  return queue.parked?.reason;
}

function keepsEngineInvariants(_evidence: unknown, { step: { queue } }: Chapter): string | undefined {
  const breach = findBreachAnywhere(queue);
  // Targets may change while an entry is landing. Candidates built without it are abandoned after the landing.
  const isPassing = queue.landing !== undefined && breach?.includes('lacks #') === true;
  return isPassing ? undefined : breach;
}

/** A pass by a waiver has not shown that the entries beneath it work. */
function waivesForItselfAlone(_evidence: unknown, { step: { queue, effects } }: Chapter): string | undefined {
  for (const effect of effects) {
    const candidate = effect.kind === 'land_candidate' ? findCandidate(queue, effect.candidate) : undefined;
    if (candidate?.pass?.waived === undefined) continue;
    const other = candidate.beneath.find((member) => findLiveMember(queue, member) !== undefined);
    if (other !== undefined) return `candidate ${candidate.number} takes #${other.prNumber} along`;
  }
  return undefined;
}

export function runsNothingTwice(
  { chronicle }: Pick<Evidence, 'chronicle'>,
  { step: { queue, effects } }: Chapter,
): string | undefined {
  if (!queue.settings.reusePassedTrees) return undefined;
  for (const effect of effects) {
    const run = effect.kind === 'start_checks' ? findCandidate(queue, effect.candidate) : undefined;
    // The test of a suspected head asks whether it still passes.
    if (run === undefined || run.purpose.kind === 'head') continue;
    const proof = [...chronicle.candidates.values()].find((other) => proves(other, run));
    if (proof !== undefined) return `candidate ${run.number} is run although ${proof.number} passed with its tree`;
  }
  return undefined;
}

function proves(proof: Candidate, run: Candidate): boolean {
  return (
    proof.number !== run.number &&
    proof.pass?.by === 'own_run' &&
    proof.pass.waived === undefined &&
    proof.commit?.tree === run.commit?.tree &&
    proof.base.epoch === run.base.epoch &&
    proof.base.ordinal <= run.base.ordinal &&
    proof.required?.commands === run.required?.commands &&
    [...(proof.required?.names ?? [])].sort().join() === [...(run.required?.names ?? [])].sort().join()
  );
}

/** Longer than a store call takes. A pause before that was visible to the server. */
const STORE_ANSWER_MS = 25;

/** 6: no landing begins in a paused or parked queue. */
export function findPausedLanding({ stillSince, queue }: Chronicle, now: Instant): string | undefined {
  if (stillSince === undefined || now - stillSince <= STORE_ANSWER_MS) return undefined;
  return `landCandidate was called ${now - stillSince} ms after the queue became ${queue.parked ? 'parked' : queue.state}`;
}

/** 9: every transition has a reason code and a text. */
export function findUnexplained(rows: readonly TransitionRow[]): string | undefined {
  for (const row of rows) {
    const { reason, text, checks } = decodeTransition(row);
    const name = `#${row.prNumber} became ${row.to}`;
    if (!(REASON_CODES as readonly string[]).includes(reason)) return `${name} for ${reason}`;
    if (text.length < 8 || /undefined|null|NaN/.test(text)) return `${name}: ${text}`;
    if (row.to === 'FAILED' && reason === 'TEST_RUN_REQUIRED_STATUS_FAILED' && (checks ?? []).length === 0) {
      return `${name} without naming a check`;
    }
  }
  return undefined;
}

/** A remaining entry waits for something outside the queue, and that is true. */
export function findStuck(
  { chronicle: { queue } }: Pick<Evidence, 'chronicle'>,
  isAdmissible: (entry: Entry) => boolean,
): string | undefined {
  const [candidate] = valuesOf(queue.candidates);
  if (candidate !== undefined) return `candidate ${candidate.number} is ${candidate.state} for good`;
  if (queue.landing !== undefined) return `the landing of candidate ${queue.landing.candidate} never ends`;
  for (const entry of valuesOf(queue.entries)) {
    if (entry.state !== 'NOT_READY' || !isLive(entry.state)) return `#${entry.prNumber} is ${entry.state} for good`;
    if (isAdmissible(entry)) return `#${entry.prNumber} is not admitted although it is ready`;
  }
  return undefined;
}
