import { testingEndsAt } from '../engine/evidence/judge.ts';
import { isSuspected } from '../engine/evidence/suspicion.ts';
import { findSearch, marksOf } from '../engine/line/marks.ts';
import { isSilent } from '../engine/line/silence.ts';
import {
  type Candidate,
  hasMember,
  isRunAgain,
  isUnderTest,
  type Member,
  openChecks,
} from '../engine/model/candidate.ts';
import { searchNumberOf } from '../engine/model/place.ts';
import { namesOf } from '../engine/model/question.ts';
import { type Entry, findEntry, mayWork, type Queue } from '../engine/model/queue.ts';
import { isFrozen, runsOfSearch, unlanded } from '../engine/model/roster.ts';
import { partOf, type Search } from '../engine/model/search.ts';
import { holdEndsAt } from '../engine/search/verdict.ts';
import type { Instant } from '../lib/clock.ts';
import { nearest } from '../lib/nearest.ts';
import { present } from '../lib/present.ts';
import { waitingForSome } from './blockers.ts';
import { type ExplanationReason, reason } from './explanation.ts';
import { clockTime, count, listOf, listPrs, type NamedPr, theChecks, timeOf } from './phrases.ts';
import { searchOf, searchReason } from './search.ts';
import { failureReasons, judgementReasons, openReason } from './tests.ts';
import { named, type View } from './view.ts';

export function candidateReasons(view: View, entry: Entry, candidate: Candidate, depth: number): ExplanationReason[] {
  switch (candidate.state) {
    case 'passed':
      return passedReasons(view, entry, candidate, depth);
    case 'failed':
      return isRunAgain(candidate) ? [runAgainReason(candidate)] : failedReasons(view, candidate, depth);
    case 'waiting':
      return [reason('WAITING_FOR_SLOT', 'Its tests start again as soon as a test slot is free.')];
    default:
      return [testingReason(view, entry, candidate)];
  }
}

function testingReason(view: View, entry: Entry, candidate: Candidate): ExplanationReason {
  const { number: testRun, state, sameTreeAs, testingSince, plannedAt, required } = candidate;
  if (state === 'building')
    return reason('BUILDING', 'Sluice builds the commit to test.', { testRun, since: plannedAt });
  if (sameTreeAs === testRun)
    return reason('CHECKS_WAITING', 'Its commit is built. Its checks start when the queue goes on.', { testRun });
  if (sameTreeAs !== undefined) {
    const text = 'Exactly the same files are under test in another run. The result of that run counts.';
    return reason('WAITING_FOR_EQUAL_TREE', text, { testRun: sameTreeAs });
  }
  const open = openChecks(candidate);
  const total = required?.names.length ?? 0;
  const left = open.length === 0 ? '' : `: ${listOf(open)}`;
  const asked =
    candidate.question && `Only ${listOf(namesOf(candidate.question).slice(0, NAMED))} run, to find who is to blame.`;
  const how = [compositionText(view.queue, entry, candidate), asked].filter(Boolean).join(' ');
  const text = `${how} ${open.length} of ${count(total, 'required check')} ${open.length === 1 ? 'is' : 'are'} open${left}.`;
  return reason('TESTING', text, { testRun, since: testingSince ?? plannedAt }, [
    ...silenceReasons(view, candidate),
    ...open.map((check) => openReason(candidate, check)),
    ...judgementReasons(candidate),
  ]);
}

const NAMED = 3;

/** "It is tested together with #2 on top of #1." */
function compositionText(queue: Queue, entry: Entry, candidate: Candidate): string {
  const named = (members: readonly Pick<Member, 'prNumber'>[]): NamedPr[] =>
    members.map(({ prNumber }) => ({ prNumber, title: findEntry(queue, prNumber)?.pr.title }));
  const others = named(candidate.members.filter(({ prNumber }) => prNumber !== entry.prNumber));
  const beneath = named(unlanded(queue, candidate.beneath));
  if (candidate.purpose.kind === 'repair') return `It is tested alone on ${queue.branch}, which it may repair.`;
  const onTop = beneath.length === 0 ? '' : ` on top of ${listPrs(beneath)}`;
  if (others.length > 0) return `It is tested together with ${listPrs(others)}${onTop}.`;
  if (candidate.purpose.kind !== 'bisection')
    return beneath.length === 0 ? 'It is under test.' : `It is tested${onTop}.`;
  return beneath.length === 0 ? 'It is tested alone.' : `It is tested${onTop}, and is the only new change in this run.`;
}

/** A new setup often reports under other names. The author would learn it only from the timeout. */
function silenceReasons({ queue, now, beyond }: View, candidate: Candidate): ExplanationReason[] {
  const { number: testRun, testingSince: since, required, checks } = candidate;
  if (since === undefined || !isSilent(candidate, now)) return [];
  const branch = beyond.testBranch === undefined ? 'test branches' : `the branch ${beyond.testBranch}`;
  const endsAt = testingEndsAt(queue, candidate);
  const end = endsAt === undefined ? '' : ` ${deadlineText(endsAt, now)}`;
  const heard = heardText(
    required?.names ?? [],
    checks.map(({ name }) => name),
  );
  const text = `No required check has reported since ${clockTime(since)}.${heard || ` CI may not run for ${branch}, or reports under other names.`}${end}`;
  return [reason('CI_SILENT', text, { testRun, since })];
}

export function deadlineText(endsAt: Instant, now: Instant): string {
  return `Checks that have not reported by ${timeOf(endsAt, now)} are treated as failed.`;
}

/** " CI reported tets, which is not required. Is it meant to be test?" */
export function heardText(required: readonly string[], heard: readonly string[]): string {
  const others = heard.filter((name) => !required.includes(name));
  if (others.length === 0) return '';
  const [name, meant] = others
    .map((other) => [other, nearest(other, required)] as const)
    .find(([, near]) => near !== undefined) ?? [others[0], undefined];
  const which = meant === undefined ? listOf(others) : name;
  const question =
    meant === undefined
      ? ' If a check has a new name, an administrator changes the required checks.'
      : ` Is it meant to be ${meant}?`;
  return ` CI reported ${which}, which is not required.${question}`;
}

function passedReasons(view: View, entry: Entry, candidate: Candidate, depth: number): ExplanationReason[] {
  const { queue } = view;
  const { number: testRun } = candidate;
  if (queue.landing?.candidate === testRun) {
    const { removalAskedBy: who } = entry;
    const asked = who === undefined ? '' : ` ${who} asked to remove it: it leaves the queue unless it lands.`;
    return [reason('LANDING', `Sluice lands it right now.${asked}`, { testRun, since: queue.landing.since })];
  }
  const ahead = unlanded(queue, candidate.beneath);
  if (ahead.length > 0) return [...waitingForSome(view, ahead, depth), ...judgementReasons(candidate)];
  // The freeze is named as a reason of its own.
  if (isFrozen(queue, candidate)) return judgementReasons(candidate);
  // So is the state of a queue that lands nothing.
  if (!mayWork(queue)) return judgementReasons(candidate);
  const when = queue.landing === undefined ? 'next' : 'as soon as the landing before it is done';
  return [reason('LANDS_NEXT', `It has passed. It lands ${when}.`, { testRun }), ...judgementReasons(candidate)];
}

function runAgainReason({ number: testRun }: Candidate): ExplanationReason {
  const text = 'CI runs the failed check again. It is under test again as soon as a test slot is free.';
  return reason('CHECK_RUN_AGAIN', text, { testRun });
}

function failedReasons(view: View, candidate: Candidate, depth: number): ExplanationReason[] {
  const { queue, beyond } = view;
  const { failure, number: testRun } = candidate;
  const about = { testRun, ...present({ since: failure?.at, check: failure?.checks[0] }) };
  const tests = failureReasons(beyond.failed ?? []);
  const failed = reason('FAILED_CHECKS', `${theChecks(failure?.checks)} failed.`, about, [
    ...tests,
    ...judgementReasons(candidate),
  ]);
  const open = unlanded(queue, candidate.beneath).filter(({ state }) => state !== 'TESTS_PASSED');
  if (open.length === 0) return [failed, ...keptReasons(view, candidate, depth)];
  const text = `Not known yet whether this pull request caused it: it was tested on top of ${listPrs(open.map(named))}.`;
  return [failed, reason('BLAME_OPEN', text, {}, waitingForSome(view, open, depth))];
}

/** Why an entry whose failure is its own is still in the queue. */
function keptReasons(view: View, candidate: Candidate, depth: number): ExplanationReason[] {
  const { queue, now } = view;
  // The explanation already begins with the red branch.
  if (queue.hold !== undefined) return [];
  const ahead = unlanded(queue, candidate.beneath);
  if (candidate.members.length > 1 && ahead.length > 0) {
    const text = 'Sluice splits its batch to find the cause once the pull requests beneath it have landed.';
    return [reason('BISECTION_WAITING', text, {}, waitingForSome(view, ahead, depth))];
  }
  if (isSuspected(queue, candidate)) {
    const text = `Sluice tests the head of ${queue.branch} alone first, because other pull requests failed the same way.`;
    return [reason('TARGET_SUSPECTED', text)];
  }
  const until = timeOf(holdEndsAt(queue, candidate), now);
  const text = `It stays until ${until} at the latest: if a pull request behind it passes together with it, it passes too.`;
  return [reason('HELD', text)];
}

export function bisectionReason(view: View, entry: Entry): ExplanationReason {
  const { queue } = view;
  const search = searchOf(queue, entry);
  if (search !== undefined) return prefixReason(view, entry, search);
  const number = searchNumberOf(entry) ?? 0;
  const halves = findSearch(queue, number);
  const part = halves === undefined ? [] : partWith(halves, entry);
  const run = runsOfSearch(queue, { number }).findLast((each) => hasMember(each, entry.prNumber));
  const size = Math.max(0, ...(halves?.failedSets ?? []).map((set) => set.split(',').length));
  const searches = queue.bisections.filter(({ batch }) => batch === halves?.batch);
  const left = size - searches.flatMap(({ survivors, members }) => [...survivors, ...members]).length;
  const text = `Its batch${size > 1 ? ` of ${size}` : ''} failed. ${left > 0 ? leftText(left) : `Sluice searches for the pull request that caused it${stepText(size, part.length)}.`}`;
  const together = part.filter(({ prNumber }) => prNumber !== entry.prNumber);
  const how = together.length === 0 ? 'alone' : `together with ${listPrs(together)}`;
  const inner =
    run === undefined
      ? reason('BISECTION_WAITING', `It is tested ${how} when its turn comes.`)
      : testingReason(view, entry, run);
  return reason('BISECTION', text, {}, [inner]);
}

export function partWith(search: Search, { submission }: Entry): readonly Member[] {
  const place = search.members.findIndex((member) => member.submission === submission);
  return partOf(
    search,
    search.cuts.findIndex((cut) => cut > place),
  );
}

/** The culprit was found, or a person took one out. The search begins anew only if another run fails. */
function leftText(left: number): string {
  const [have, them] = left === 1 ? ['has', 'it'] : ['have', 'them'];
  return `${left} of them ${have} left. The others are tested again without ${them}.`;
}

function prefixReason(view: View, entry: Entry, search: Search): ExplanationReason {
  const run = marksOf(view.queue, search)
    .flatMap(({ runs }) => runs)
    .find((other) => isUnderTest(other) && hasMember(other, entry.prNumber));
  const failed = entry.state === 'PENDING_FAILURE' ? failureReasons(view.beyond.failed ?? []) : [];
  const reasons = run === undefined ? failed : [...failed, testingReason(view, entry, run)];
  return { ...searchReason(view, entry, search), reasons };
}

/** Each step halves the part that is searched. */
function stepText(size: number, part: number): string {
  if (size < 2 || part === 0 || part >= size) return '';
  const steps = Math.ceil(Math.log2(size));
  const step = Math.min(steps, Math.max(1, Math.round(Math.log2(size / part))));
  return `: step ${step} of about ${steps}`;
}
