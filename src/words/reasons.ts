import { blameOf } from '../engine/model/blame.ts';
import type { Landed } from '../engine/model/candidate.ts';
import type { Because } from '../engine/model/queue.ts';
import type { ReasonCode } from '../engine/model/reason.ts';
import { landedText } from './landing.ts';
import { checksOr, count, inFiles, listNumbers, listOf, shortSha, theChecks } from './phrases.ts';

export interface Change {
  readonly to: string;
  readonly branch: string;
  readonly because: Because;
  /** Present if it landed. */
  readonly landed?: Landed | undefined;
}

/** A sentence, and what the author does next. The comment of a pull request gives that advice in its own place. */
export interface Told {
  readonly text: string;
  readonly advice?: string;
}

type Facts = Because & Omit<Change, 'because'>;
type Telling = string | Told | ((facts: Facts) => string | Told);

const IF_MEANT = 'Nothing to do. If it is to land after all, submit it again.';
const SUBMIT_NEW = 'Submit it again to queue the new commits.';
const FIX = 'Fix it and submit it again.';
const MEND_FILE = 'Mend the file on the target branch, or set requiredStatuses of the queue. Then submit it again.';
const TO_ADMINISTRATOR = 'An administrator of the queue looks why and mends it. Then submit it again.';
const LATER = 'Wait until the forge works again, then submit it again.';

const other = ({ prNumber }: Facts) => (prNumber === undefined ? 'A pull request ahead of it' : `#${prNumber}`);
const without = ({ prNumber }: Facts) => (prNumber === undefined ? 'without it' : `without #${prNumber}`);
const by = ({ actor }: Facts) => (actor === undefined ? '' : ` by ${actor}`);
const failing = ({ checks }: Facts) => checksOr(checks, 'its required checks');

const TELLINGS: { readonly [Code in ReasonCode]: Telling } = {
  API_REQUESTED: (facts) => `Submitted${by(facts)} over the API.`,
  USER_REQUESTED: (facts) =>
    facts.to === 'NOT_READY'
      ? `Submitted${by(facts)}.`
      : { text: `Removed from the queue${by(facts)}.`, advice: IF_MEANT },
  TRUNK_ADMIN_REQUESTED: (facts) => `An administrator asked for it${by(facts)}.`,
  STACKED_PR_BELOW_LEFT: (facts) =>
    `${other(facts)}, on which it is built, left the queue. It waits until that one is back.`,
  MERGE_ITEM_NOW_READY: 'Ready: all requirements are met. It joined the queue.',
  PREREQUISITE_MERGE_ITEM_FAILED: (facts) =>
    facts.among === undefined
      ? `${facts.isUndecided ? `A run with ${other(facts)}` : other(facts)} failed. It is tested again ${without(facts)}.`
      : failedTogetherText(facts.among),
  PREREQUISITE_MERGE_ITEM_CANCELLED: (facts) => `${other(facts)} left the queue. It is tested again ${without(facts)}.`,
  PREREQUISITE_MERGE_ITEM_MANUALLY_MERGED: (facts) =>
    `${other(facts)} was merged outside the queue. It is tested again.`,
  PREREQUISITE_MERGE_ITEM_SET_ASIDE: (facts) =>
    facts.isSlow
      ? slowText(facts)
      : `${other(facts)} conflicts with a pull request ahead. It is tested again ${without(facts)}.`,
  MANUAL_PUSH_TO_TARGET_BRANCH: ({ branch }) =>
    `${branch} was changed outside the queue. It is tested again on the new head.`,
  SKIP_THE_LINE_INTERRUPTED: (facts) =>
    facts.prNumber === undefined
      ? 'It is urgent, and the freeze lets urgent ones land. It is tested again, alone.'
      : `${other(facts)} is urgent and goes first. It is tested again behind that one.`,
  TESTS_RESTARTED_BY_USER: (facts) => `Its tests were restarted${by(facts)}.`,
  TESTS_RESTARTED_BY_API_REQUEST: (facts) => `Its tests were restarted${by(facts)} over the API.`,
  TEST_RUN_INCONCLUSIVE: (facts) => inconclusiveText(facts),
  TEST_RUN_REPEATED: (facts) => repetitionText(facts),
  IMPACTED_TARGETS_CHANGED: (facts) =>
    `${facts.prNumber === undefined ? 'Its impacted targets' : `The impacted targets of #${facts.prNumber}`} changed. It is tested again.`,
  CONFLICTS_WITH_PREREQUISITE: (facts) => conflictAheadText(facts.prNumber, facts.files),
  TARGET_BRANCH_MOVED: (facts) => `${other(facts)} landed first, and it was not tested with it. It is tested again.`,
  TARGET_BRANCH_RED: ({ branch }) => `${branch} itself does not pass. It is tested again once ${branch} does.`,
  TARGET_BRANCH_GREEN: ({ branch }) => `${branch} passes again. It is tested when its turn comes.`,
  TARGET_BRANCH_LEFT: ({ branch }) =>
    `It failed on a commit of ${branch} that may have been broken. ${branch} has moved since, so it is tested again.`,
  TARGET_BRANCH_AT_FAULT: ({ branch }) =>
    `${branch} itself was broken when it failed. It is back at its old place in the queue.`,
  FAILED_TESTS_FLAKY:
    'The tests that it failed failed without it, too, and passed again. It is back at its old place in the queue.',
  REPAIR_TEST_RUN_FAILED: (facts) =>
    `Tested alone on ${facts.branch}, it did not repair ${facts.branch}: ${failing(facts)} failed. It waits until ${facts.branch} is repaired.`,
  LANDING_NOT_COMPOSABLE: ({ branch }) =>
    `Other pull requests landed on ${branch} meanwhile, and it cannot be added to them without another test. It is tested again.`,
  LANDING_INTERRUPTED: 'The landing of its batch stopped half-way. It is tested again.',
  // Without a run, no batch failed: the tests ahead of its turn ended.
  BISECTION_REQUIRED: (facts) =>
    facts.candidate === undefined
      ? 'The queue left ADAPTIVE, which tested it ahead of its turn. It is tested when its turn comes.'
      : `Its batch failed ${failing(facts)}. Sluice splits the batch to find the pull request that caused it.`,
  BISECTION_TEST_RUN_PASSED: ({ asked }) =>
    asked === undefined
      ? 'Its run passed, so it is cleared. It is back in the queue and lands in its turn.'
      : `It passes ${theTests(asked)}, so the failure is not its own. It is back in the queue, and all tests run before it lands.`,
  TEST_RUN_STARTED: ({ asked }) =>
    asked === undefined ? 'Its test run started.' : `A probe started: a run of ${theTests(asked)} alone.`,
  TEST_RUN_PASSED: (facts) => `All required checks passed.${waiverText(facts)}`,
  SUCCESSOR_TEST_RUN_PASSED: 'A pull request behind it passed together with it.',
  SUCCESSOR_TEST_RUN_WITHDRAWN:
    'The pull request behind it that had passed together with it is tested again. Its own tests count now.',
  TEST_RUN_REQUIRED_STATUS_FAILED: (facts) => tellFailure(facts),
  TEST_RUN_TIMEOUT: (facts) => ({ text: timeoutText(facts), advice: timeoutAdvice(facts) }),
  TEST_RUN_FAILED_BY_OPTIMIZATION: {
    text: 'The search cleared every other pull request of its batch, so it caused the failure.',
    advice: FIX,
  },
  TEST_RUN_UNDECIDED: (facts) => tellUndecided(facts),
  TEST_RUN_NEW_FLAKES: {
    text: 'Tests fail at random since this pull request, and the queue lands no such change (newFlakes REMOVE).',
    advice: 'Make the tests reliable, push, and submit it again.',
  },
  START_TEST_RUN_MERGE_CONFLICT: ({ branch, files }) => ({
    text: `It conflicts with ${branch}${inFiles(files)}.`,
    advice: `Rebase it onto ${branch}, push, and submit it again.`,
  }),
  START_TEST_RUN_RETRY_EXHAUSTED: {
    text: 'Sluice tried several times to create its test branch, without success.',
    advice: TO_ADMINISTRATOR,
  },
  START_TEST_RUN_DRAFT_PRS_NOT_ALLOWED: {
    text: 'The forge does not allow draft pull requests in this repository.',
    advice: 'An administrator turns createPrsForTestingBranches of the queue off. Then submit it again.',
  },
  START_TEST_RUN_PERMISSIONS_BLOCK_TEST_BRANCH: {
    text: 'The forge does not allow Sluice to push test branches.',
    advice: 'An administrator allows it: the rules must exclude the test branches. Then submit it again.',
  },
  START_TEST_RUN_NO_REQUIRED_STATUSES: {
    text: 'No check is required, so nothing would be tested.',
    advice: 'An administrator sets requiredStatuses of the queue ([] lands without tests). Then submit it again.',
  },
  START_TEST_RUN_CONFIG_NOT_FOUND: { text: 'The configuration file was not found.', advice: MEND_FILE },
  START_TEST_RUN_CONFIG_PARSING_FAILURE: {
    text: 'The configuration file on the target branch cannot be parsed.',
    advice: MEND_FILE,
  },
  START_TEST_RUN_CONFIG_BAD_VERSION: {
    text: 'The configuration file on the target branch has a version that is not supported.',
    advice: MEND_FILE,
  },
  START_TEST_RUN_CONFIG_BAD_REQUIRED_STATUSES: {
    text: 'merge.required_statuses in the configuration file on the target branch is not a list of names.',
    advice: MEND_FILE,
  },
  START_TEST_RUN_CONFIG_BAD_CHECKS: {
    text: 'The checks in .sluice.yaml on the target branch cannot run.',
    advice: 'Mend the file on the target branch. Then submit it again.',
  },
  START_TEST_RUN_CONFIG_MISSING_REQUIRED_STATUSES: {
    text: 'The configuration file on the target branch names no required statuses.',
    advice: MEND_FILE,
  },
  START_TEST_RUN_INVALID_EVENT: { text: 'Its tests could not be started.', advice: TO_ADMINISTRATOR },
  PR_UPDATED_AT_MERGE_TIME: {
    text: 'Somebody pushed to it just before it would have landed.',
    advice: SUBMIT_NEW,
  },
  GITHUB_API_MERGE_PR_FAILED: { text: 'The forge refused to merge it.', advice: TO_ADMINISTRATOR },
  GITHUB_API_DIRECT_MERGE_PR_FAILED: { text: 'The forge refused to merge it directly.', advice: TO_ADMINISTRATOR },
  GITHUB_API_BRANCH_PROTECTION_UNMET: ({ branch, to }) => ({
    text:
      to === 'NOT_READY'
        ? `Its reviews do not meet the rules of ${branch}, which became its base. It keeps its place until they do.`
        : `It no longer meets the protection rules of ${branch}.`,
    advice: `Get the review or check that the rules of ${branch} ask for; an administrator can change the rules. Then submit it again.`,
  }),
  GITHUB_API_MERGE_ALREADY_IN_PROGRESS: {
    text: 'The forge kept answering that a merge is already in progress.',
    advice: LATER,
  },
  GITHUB_API_RATE_LIMIT_EXCEEDED: { text: 'The forge allowed no more requests.', advice: LATER },
  GITHUB_API_REPEATED_SERVER_ERRORS: { text: 'The forge kept failing.', advice: LATER },
  MERGE_GRAPH_MERGE: (facts) => `Landed on ${facts.branch}.${proofText(facts)}`,
  MERGE_GRAPH_DIRECT_MERGE: (facts) =>
    `It was up to date and had passed. Landed on ${facts.branch} without another run.${proofText(facts)}`,
  MANUAL_MERGE: ({ branch }) => `Merged into ${branch} outside the queue.`,
  NOT_READY_TIMEOUT_EXPIRED: {
    text: 'It was not ready for too long.',
    advice: 'Submit it again when it is ready.',
  },
  PR_CLOSED: { text: 'The pull request was closed.', advice: 'Reopen it and submit it again.' },
  PR_MERGED_INTO_OTHER_BRANCH: 'The pull request was merged into another branch.',
  PR_CONVERTED_TO_DRAFT: {
    text: 'The pull request became a draft.',
    advice: 'Mark it ready and submit it again.',
  },
  PR_PUSHED_TO: { text: 'Somebody pushed to the pull request after it was submitted.', advice: SUBMIT_NEW },
  PR_BASE_BRANCH_CHANGED: ({ branch }) => ({
    text: `The pull request no longer targets ${branch}.`,
    advice: `If it belongs on ${branch}, change its base back. Then submit it again.`,
  }),
};

/** "test_a and test_b" */
function theTests(asked: readonly string[]): string {
  return listOf(asked.slice(0, NAMED));
}

const NAMED = 3;

function inconclusiveText({ asked, isContradicted }: Facts): string {
  if (asked === undefined) return 'CI ended its checks without a result. They run again.';
  return isContradicted
    ? `Runs of ${theTests(asked)} alone contradict the run of all tests, which is repeated.`
    : `A run of ${theTests(asked)} alone gave no answer. All tests run.`;
}

export function tellChange(change: Change): Told {
  const told = tell(change);
  return typeof told === 'string' ? { text: told } : told;
}

function tell({ because, to, branch, landed }: Change): string | Told {
  const telling = TELLINGS[because.reason];
  const told = typeof telling === 'function' ? telling({ ...because, to, branch, landed }) : telling;
  const { detail = '' } = because;
  if (detail === '') return told;
  return typeof told === 'string' ? `${told} ${detail}` : { ...told, text: `${told.text} ${detail}` };
}

/** The text of a timeline or a log line: facts only. Advice may be outdated by what is learned later. */
export function changeText(change: Change): string {
  const told = tell(change);
  return withCode(change, typeof told === 'string' ? told : told.text);
}

/** Ends the sentence about a removal with its code, by which docs/removed.md and docs/troubleshooting.md are ordered. */
// SPEC E61
export function withCode({ to, because }: Pick<Change, 'to' | 'because'>, text: string): string {
  return to === 'FAILED' || to === 'CANCELLED' ? `${text} [${because.reason}]` : text;
}

// SPEC E25
export function conflictAheadText(prNumber: number | undefined, files: readonly string[] | undefined): string {
  const ahead = prNumber === undefined ? 'a pull request ahead of it' : `#${prNumber} ahead of it`;
  const again = prNumber === undefined ? 'that one' : `#${prNumber}`;
  return `It conflicts with ${ahead}${inFiles(files)}. It waits until ${again} has landed or left the queue, and is then tried again.`;
}

// SPEC E36
function failedTogetherText(among: readonly number[]): string {
  if (among.length === 0) return 'Its run ended without a result. It is tested again.';
  return `${listNumbers(among)} failed together. It is not known yet which of them caused it. It is tested again without that one.`;
}

function slowText({ prNumber, among = [] }: Facts): string {
  const them = prNumber === undefined ? listNumbers(among) : `#${prNumber}`;
  return prNumber === undefined
    ? `The run of ${them} takes much longer than others. It is tested again without them.`
    : `${them} takes much longer to test than others. It is tested again without ${them}.`;
}

function tellFailure(facts: Facts): Told {
  const { to, onTopOf = [], branch, denied = [] } = facts;
  const why = denied.map(({ check, why: reason }) => ` The failure of ${check} was not waived: ${reason}`).join('');
  if (to !== 'FAILED' && facts.ownRun !== undefined)
    return { text: `${theChecks(facts.checks)} failed again, in run ${facts.ownRun} of its own.${why}` };
  if (to !== 'FAILED') {
    return { text: `${theChecks(facts.checks)} failed. Not known yet whether this pull request caused it.${why}` };
  }
  const tests = facts.tests === undefined ? '' : `: ${listTests(facts.tests)}`;
  const blame = blameOf(to, facts);
  if (blame === 'CI')
    return {
      text: `${theChecks(facts.checks)} ended without a result, also when it was tried again. That is not the fault of this pull request.`,
      advice: 'Look in CI why it ended, or ask an administrator of CI. Then submit it again.',
    };
  const build = facts.cause === 'BUILD' ? ' Something failed before the tests, such as the build.' : '';
  const text = `${theChecks(facts.checks)} failed${tests}.${build}${ownText(facts)}${why}`;
  if (blame !== 'AUTHOR') return { text: `${text} It asks somebody to act.`, advice: TO_ADMINISTRATOR };
  const advice = `Rebase it onto ${branch}, run ${failing(facts)}, fix it, and submit it again.`;
  if (facts.alone !== undefined) return { text, advice };
  if (onTopOf.length === 0) return { text, advice: FIX };
  const ahead = listNumbers(onTopOf);
  return {
    text: `${theChecks(facts.checks)} failed when it was tested on top of ${ahead}. It may pass without ${onTopOf.length === 1 ? ahead : 'them'}.${why}`,
    advice,
  };
}

/** " The failure is this pull request's own: it failed 3 times alone on main (2644671), each time in adds up, while CI passed other runs." */
// SPEC E63
function ownText({ alone, branch }: Pick<Facts, 'alone' | 'branch'>): string {
  if (alone === undefined) return '';
  const { times, sha, test } = alone;
  const where = test === undefined ? '' : `, ${times > 1 ? 'each time ' : ''}in the test ${test.slice(0, 200)}`;
  return ` The failure is this pull request's own: it failed ${count(times, 'time')} alone on ${branch} (${shortSha(sha)})${where}, while CI passed other runs.`;
}

function tellUndecided({ checks, alone, branch }: Facts): Told {
  const which = theChecks(checks);
  if (alone === undefined)
    return { text: `${which} failed in tests that are too flaky to judge it by.`, advice: QUARANTINE };
  const { times, sha, flaky = [] } = alone;
  const failed = `${which} failed ${count(times, 'time')} alone on ${branch} (${shortSha(sha)})`;
  if (flaky.length === 0)
    return {
      text: `${failed}, in other tests each time. That does not tell whether this pull request causes it.`,
      advice: 'Look what the failures have in common. Mend it if it is of this pull request, and submit it again.',
    };
  const rates = flaky.map(
    ({ name, percent }) => `the test ${name.slice(0, 200)} fails in about ${percent}% of the runs`,
  );
  return {
    text: `${failed}. That does not tell whether this pull request causes it: without it too, ${listOf(rates)}.`,
    advice: QUARANTINE,
  };
}

const QUARANTINE =
  'The owner of the test mends it, or an administrator quarantines it (sluice tests quarantine; honorQuarantine ON). Then submit it again.';

function timeoutText(facts: Facts): string {
  const { timeout } = facts;
  if (timeout === undefined) return `${theChecks(facts.checks)} took too long.${ownText(facts)}`;
  const why = timeout.isAutomatic ? 'testingTimeoutMinutes is unset and follows the queue' : 'testingTimeoutMinutes';
  const limit = `${timeout.minutes} minutes (${why})`;
  return timeout.isBegun
    ? `${theChecks(facts.checks)} did not finish within ${limit}.${ownText(facts)}`
    : `${theChecks(facts.checks)} never started within ${limit}.${ownText(facts)}`;
}

function timeoutAdvice(facts: Facts): string {
  if (facts.timeout?.isBegun === false && facts.alone !== undefined)
    return 'Look whether its changes keep CI from running or reporting, such as those of a workflow file. Mend that and submit it again.';
  if (facts.timeout?.isBegun === false)
    return `Let CI run for test branches and report ${failing(facts)}, then submit it again.`;
  const change = facts.timeout?.isAutomatic ? 'set a larger' : 'raise';
  return `Make it faster or ${change} testingTimeoutMinutes of the queue, then submit it again.`;
}

const NAMED_TESTS = 3;

function listTests(names: readonly string[]): string {
  return listOf(
    names.map((name) => name.slice(0, 200)),
    NAMED_TESTS,
  );
}

/** "ci is repeated, run 2 of 3: checkout adds up failed, and is flaky." */
// SPEC V59
function repetitionText({ checks, repeated }: Facts): string {
  const { tests = [], run = 2, of = 3 } = repeated ?? {};
  const names = tests.length === 0 ? 'tests' : listTests(tests);
  const flaky = tests.length === 1 ? 'is flaky and must pass once' : 'are flaky and must each pass once';
  return `${theChecks(checks)} ${checks?.length === 1 ? 'is' : 'are'} repeated (run ${run} of ${of}): ${names} failed, ${flaky}.`;
}

function waiverText({ waived = [] }: Facts): string {
  if (waived.length === 0) return '';
  const parts = waived.map(
    ({ check, tests }) => `${check} failed only in quarantined tests (${listTests(tests.map(({ name }) => name))})`,
  );
  return ` Waived: ${parts.join('; ')}.`;
}

function proofText({ landed, landedAs, tooLateFor }: Facts): string {
  if (landedAs !== undefined)
    return ` Its commit ${shortSha(landedAs)} there is signed by Sluice. The record of its landing is lost, as after a restore.`;
  const late = tooLateFor === undefined ? '' : ` ${tooLateFor} asked to remove it while it landed, too late.`;
  return `${landed === undefined ? '' : ` ${landedText(landed)}`}${late}`;
}
