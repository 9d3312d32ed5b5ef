import { assert } from '../../lib/assert.ts';
import { listOf } from '../../lib/int-map.ts';
import { present } from '../../lib/present.ts';
import { type Candidate, type CandidateNumber, type Failure, failedChecks, type Pass } from '../model/candidate.ts';
import { MAX_REPETITIONS, rulingOf } from '../model/judgement.ts';
import { inLine } from '../model/place.ts';
import { policyOf } from '../model/policy.ts';
import { namesOf } from '../model/question.ts';
import { type Because, type Entry, findCandidate, mayTest, type Queue } from '../model/queue.ts';
import { areSameChecks, type RequiredChecks } from '../model/required.ts';
import { candidatesOf, unlanded } from '../model/roster.ts';
import { automaticTimeout } from '../model/testing-timeout.ts';
import { excusedIn, isDoubted, waivedIn } from '../model/waiver.ts';
import { addCandidate, endCandidate, keep, keepCandidate, move, stillLive, tell, type Work } from '../model/work.ts';
import { learnPass } from './learn.ts';
import { voucherOf } from './vouch.ts';

/** It failed alone, and fails or passes again in runs of its own. */
function isConfirmed(queue: Queue, { state, ownRuns }: Entry): boolean {
  return state === 'PENDING_FAILURE' && ownRuns > 0 && policyOf(queue).confirms;
}

/** Starts a planned candidate. Its members are TESTING from now on. */
export function startCandidate(work: Work, candidate: Candidate): void {
  keepCandidate(work, { ...candidate, state: 'building', plannedAt: work.at });
  work.effects.push({ kind: 'build_candidate', candidate: candidate.number });
  for (const entry of unlanded(work.queue, candidate.members)) {
    if (candidate.purpose.kind === 'direct') continue;
    // The author is told of the first failure, and not of each run that confirms it.
    if (candidate.purpose.kind === 'bisection' && candidate.purpose.isAgain && isConfirmed(work.queue, entry)) {
      tell(work, entry.prNumber);
      continue;
    }
    if (voucherOf(work.queue, entry) !== undefined) continue;
    const asked = candidate.question && namesOf(candidate.question);
    move(work, entry, {
      to: 'TESTING',
      reason: 'TEST_RUN_STARTED',
      candidate: candidate.number,
      ...present({ asked }),
    });
  }
}

/**
 * The commit is built. A tree that passed before is not tested again. A tree that is under test elsewhere is waited
 * for. Any other tree is tested by CI.
 */
// SPEC C30, C36
export function beginChecks(work: Work, candidate: Candidate, required: RequiredChecks): void {
  const built: Candidate = { ...candidate, state: 'testing', required };
  if (required.names.length === 0) {
    passCandidate(work, built, 'nothing_required');
    return;
  }
  // The head passed once. Its test asks whether it still passes.
  const { purpose, question } = candidate;
  const isReusing = work.queue.settings.reusePassedTrees && purpose.kind !== 'head' && question === undefined;
  const proof = isReusing ? findEqualTree(work.queue, built) : undefined;
  if (proof?.pass !== undefined) passCandidate(work, built, 'reused_run', proof);
  // A repetition is to run beside the others of its tree.
  else if (proof !== undefined && candidate.repeats === undefined)
    keepCandidate(work, { ...built, sameTreeAs: proof.number });
  else runChecks(work, built);
}

function runChecks(work: Work, candidate: Candidate): void {
  if (!mayTest(work.queue, candidate)) {
    // Pointing at itself means: it waits for the queue, which starts it when it may test again.
    keepCandidate(work, { ...candidate, sameTreeAs: candidate.number });
    return;
  }
  const limit = present({ timeoutMinutes: automaticTimeout(work.queue.learned) });
  keepCandidate(work, { ...candidate, sameTreeAs: undefined, testingSince: work.at, ...limit });
  work.effects.push({ kind: 'start_checks', candidate: candidate.number });
}

/** A candidate with the same tree that passed by its own run. Second choice is one whose own run is under way. */
// SPEC C35
function findEqualTree(queue: Queue, candidate: Candidate): Candidate | undefined {
  let underWay: Candidate | undefined;
  for (const other of [...listOf(queue.passes), ...candidatesOf(queue)]) {
    if (!provesTree(other, candidate)) continue;
    if (waivedIn(other).length > 0 || isDoubted(other)) continue;
    if (other.pass?.by === 'own_run') return other;
    if (other.state === 'testing' && other.sameTreeAs === undefined && !isAgain(candidate)) underWay ??= other;
  }
  return underWay;
}

function isAgain({ purpose }: Candidate): boolean {
  return purpose.kind === 'bisection' && purpose.isAgain === true;
}

/** A pass of `proof` is a pass of `candidate`, now or later. */
// SPEC C10
function provesTree(proof: Candidate, candidate: Candidate): boolean {
  return (
    proof.commit !== undefined &&
    proof.commit.tree === candidate.commit?.tree &&
    proof.number !== candidate.number &&
    proof.base.epoch === candidate.base.epoch &&
    proof.base.ordinal <= candidate.base.ordinal &&
    proof.required !== undefined &&
    candidate.required !== undefined &&
    areSameChecks(proof.required, candidate.required)
  );
}

/** Marks a candidate as passed, by its own run or by the run of `proof`, which has the same tree. */
export function passCandidate(work: Work, candidate: Candidate, by: Pass['by'], proof = candidate): void {
  assert(proof.commit !== undefined, 'only a commit can pass');
  const waived = by === 'own_run' ? waivedIn(candidate) : [];
  const waivers = waived.length === 0 ? {} : { waived };
  const excused = excusedIn(proof);
  const excuses = excused.length === 0 ? waivers : { ...waivers, excused };
  const pass: Pass = { at: work.at, by, provenBy: proof.number, provenSha: proof.commit.sha, ...excuses };
  keepCandidate(work, { ...candidate, state: 'passed', sameTreeAs: undefined, failure: undefined, pass });
  if (by === 'own_run' && waived.length === 0) learnPass(work, candidate);
  if (candidate.purpose.kind === 'main' || candidate.purpose.kind === 'repair') {
    for (const entry of unlanded(work.queue, candidate.members)) {
      // An entry with a voucher has passed already.
      if (entry.state === 'TESTS_PASSED') continue;
      const because = { reason: 'TEST_RUN_PASSED' as const, candidate: pass.provenBy };
      move(work, entry, { to: 'TESTS_PASSED', ...because, ...waivers });
    }
  }
  // A pass by a waiver proves no other candidate. Those that waited for this run get their own.
  if (waived.length > 0) return;
  for (const twin of twinsOf(work.queue, candidate.number)) {
    // The required checks of one of the two may have changed while it waited.
    if (provesTree(candidate, twin)) passCandidate(work, twin, 'reused_run', candidate);
  }
}

/** Marks a candidate as failed. verdict.ts decides whether its members are to blame. */
export function failCandidate(work: Work, candidate: Candidate, why: Omit<Failure, 'at' | 'onTopOf'>): void {
  const onTopOf = candidate.beneath.map(({ prNumber }) => prNumber);
  const failure = { ...why, ...(onTopOf.length === 0 ? {} : { onTopOf }) };
  keepCandidate(work, { ...candidate, state: 'failed', failure: { ...failure, at: work.at } });
  for (const entry of unlanded(work.queue, candidate.members)) {
    if (candidate.purpose.kind === 'direct' || voucherOf(work.queue, entry) !== undefined) continue;
    const again = isConfirmed(work.queue, entry) && { ownRun: entry.ownRuns };
    move(work, entry, { to: 'PENDING_FAILURE', candidate: candidate.number, ...failure, ...again });
  }
}

/** A new attempt of the failed check is under way, so the candidate is open again. */
export function reopenCandidate(work: Work, candidate: Candidate): void {
  keepCandidate(work, { ...candidate, state: 'testing', failure: undefined });
  for (const entry of unlanded(work.queue, candidate.members)) {
    if (voucherOf(work.queue, entry) !== undefined) continue;
    move(work, entry, { to: 'TESTING', reason: 'TEST_RUN_STARTED', candidate: candidate.number });
  }
}

/**
 * Candidates that waited for the run of another candidate, which failed or ended, get their own run. One run serves all
 * candidates with the same tree. Returns the candidates whose run may have begun.
 */
export function runOrphans(work: Work): readonly CandidateNumber[] {
  const orphans = candidatesOf(work.queue).filter((candidate) => isOrphan(work.queue, candidate));
  // The candidate on the oldest base goes first, because its run proves the tree for newer bases but not the other way
  // round.
  for (const orphan of stillLive(
    work,
    orphans.toSorted((a, b) => a.base.ordinal - b.base.ordinal || a.number - b.number),
  )) {
    if (orphan.required !== undefined && mayTest(work.queue, orphan))
      beginChecks(work, { ...orphan, sameTreeAs: undefined }, orphan.required);
  }
  return orphans.map(({ number }) => number);
}

function isOrphan(queue: Queue, { number, sameTreeAs }: Candidate): boolean {
  return sameTreeAs !== undefined && (sameTreeAs === number || findCandidate(queue, sameTreeAs)?.state !== 'testing');
}

function twinsOf(queue: Queue, number: CandidateNumber): Candidate[] {
  return candidatesOf(queue).filter(({ sameTreeAs }) => sameTreeAs === number);
}

/** A candidate without a usable result is tried again this often. */
export const MAX_TRIES = 2;

/**
 * Runs the same composition again under a new number, so that late reports of the old run cannot count for the new one.
 * The new candidate keeps the place in the line. Candidates built on it stay as they are.
 */
// SPEC C11
export function replaceCandidate(
  work: Work,
  candidate: Candidate,
  because: Because,
  tries: number,
  repeats = tries === 0 ? undefined : candidate.repeats,
): void {
  const { purpose, base, beneath, members, parent, question } = candidate;
  endCandidate(work, candidate, because);
  const plan = { purpose, base, beneath, members, parent, ...present({ repeats, question }) };
  const next = addCandidate(work, plan, { place: candidate.place, tries });
  for (const entry of unlanded(work.queue, members)) {
    const own = purpose.kind === 'bisection' ? entry : { ...entry, place: inLine(next) };
    if (voucherOf(work.queue, own) !== undefined) keep(work, own);
    else move(work, own, { to: 'PENDING', ...because });
  }
}

/**
 * Runs a candidate again, because tests failed that are quarantined automatically and have not passed on its tree. Its
 * own run stays on record as failed. Candidates built on it stay as they are.
 */
// SPEC V56, V62
export function repeatCandidate(work: Work, candidate: Candidate): void {
  const repeats = [...(candidate.repeats ?? []), candidate.number];
  const checks = failedChecks(candidate);
  const failure = { at: work.at, reason: 'TEST_RUN_REQUIRED_STATUS_FAILED' as const, checks };
  const tests = candidate.checks.flatMap((check) =>
    checks.includes(check.name) ? (rulingOf(check)?.tests.filter(({ why }) => why !== undefined) ?? []) : [],
  );
  const names = tests.slice(0, NAMED_TESTS).map(({ name }) => name);
  const repeated = { tests: names, run: repeats.length + 1, of: MAX_REPETITIONS + 1 };
  const because = { reason: 'TEST_RUN_REPEATED' as const, candidate: candidate.number, checks, repeated };
  replaceCandidate(work, { ...candidate, state: 'failed', failure }, because, candidate.tries, repeats);
}

/** Timelines name no more. */
const NAMED_TESTS = 5;
