/** Why an entry changed its state. The codes are part of the API; the sentences are shown to people. */
export const REASON_CODES = [
  // into NOT_READY
  'API_REQUESTED',
  'USER_REQUESTED',
  'TRUNK_ADMIN_REQUESTED',
  // into PENDING
  'MERGE_ITEM_NOW_READY',
  'PREREQUISITE_MERGE_ITEM_FAILED',
  'PREREQUISITE_MERGE_ITEM_CANCELLED',
  'PREREQUISITE_MERGE_ITEM_MANUALLY_MERGED',
  'PREREQUISITE_MERGE_ITEM_SET_ASIDE',
  'MANUAL_PUSH_TO_TARGET_BRANCH',
  'SKIP_THE_LINE_INTERRUPTED',
  'TESTS_RESTARTED_BY_USER',
  'TESTS_RESTARTED_BY_API_REQUEST',
  'TEST_RUN_INCONCLUSIVE',
  'IMPACTED_TARGETS_CHANGED',
  'CONFLICTS_WITH_PREREQUISITE',
  'TARGET_BRANCH_MOVED',
  'TARGET_BRANCH_RED',
  'TARGET_BRANCH_GREEN',
  'TARGET_BRANCH_LEFT',
  'TARGET_BRANCH_AT_FAULT',
  'REPAIR_TEST_RUN_FAILED',
  'LANDING_NOT_COMPOSABLE',
  'LANDING_INTERRUPTED',
  'BISECTION_REQUIRED',
  'BISECTION_TEST_RUN_PASSED',
  // into TESTING, PENDING_FAILURE and TESTS_PASSED
  'TEST_RUN_STARTED',
  'TEST_RUN_PASSED',
  'SUCCESSOR_TEST_RUN_PASSED',
  'SUCCESSOR_TEST_RUN_WITHDRAWN',
  // into FAILED
  'TEST_RUN_REQUIRED_STATUS_FAILED',
  'TEST_RUN_TIMEOUT',
  'TEST_RUN_FAILED_BY_OPTIMIZATION',
  'START_TEST_RUN_MERGE_CONFLICT',
  'START_TEST_RUN_RETRY_EXHAUSTED',
  'START_TEST_RUN_DRAFT_PRS_NOT_ALLOWED',
  'START_TEST_RUN_PERMISSIONS_BLOCK_TEST_BRANCH',
  'START_TEST_RUN_NO_REQUIRED_STATUSES',
  'START_TEST_RUN_CONFIG_NOT_FOUND',
  'START_TEST_RUN_CONFIG_PARSING_FAILURE',
  'START_TEST_RUN_CONFIG_BAD_VERSION',
  'START_TEST_RUN_CONFIG_BAD_REQUIRED_STATUSES',
  'START_TEST_RUN_CONFIG_MISSING_REQUIRED_STATUSES',
  'START_TEST_RUN_INVALID_EVENT',
  'PR_UPDATED_AT_MERGE_TIME',
  'GITHUB_API_MERGE_PR_FAILED',
  'GITHUB_API_DIRECT_MERGE_PR_FAILED',
  'GITHUB_API_BRANCH_PROTECTION_UNMET',
  'GITHUB_API_MERGE_ALREADY_IN_PROGRESS',
  'GITHUB_API_RATE_LIMIT_EXCEEDED',
  'GITHUB_API_REPEATED_SERVER_ERRORS',
  // into MERGED
  'MERGE_GRAPH_MERGE',
  'MERGE_GRAPH_DIRECT_MERGE',
  'MANUAL_MERGE',
  // into CANCELLED (and USER_REQUESTED)
  'NOT_READY_TIMEOUT_EXPIRED',
  'PR_CLOSED',
  'PR_MERGED_INTO_OTHER_BRANCH',
  'PR_CONVERTED_TO_DRAFT',
  'PR_PUSHED_TO',
  'PR_BASE_BRANCH_CHANGED',
] as const;

export type ReasonCode = (typeof REASON_CODES)[number];

export interface ReasonContext {
  /** The new state. */
  readonly to: string;
  readonly branch: string;
  readonly actor: string | undefined;
  /** The pull request that is the cause, if one is. */
  readonly prNumber: number | undefined;
  readonly checks: readonly string[] | undefined;
  /** The explanation of the forge. */
  readonly detail: string | undefined;
}

type Sentence = string | ((context: ReasonContext) => string);

const by = ({ actor }: ReasonContext) => (actor === undefined ? '' : ` by ${actor}`);
const cause = ({ prNumber }: ReasonContext) =>
  prNumber === undefined ? 'A pull request ahead of it' : `Pull request #${prNumber}`;
const failing = ({ checks }: ReasonContext) =>
  checks === undefined || checks.length === 0 ? 'its required checks' : checks.join(', ');

const SENTENCES: { readonly [Code in ReasonCode]: Sentence } = {
  API_REQUESTED: (context) => `Submitted${by(context)} over the API.`,
  USER_REQUESTED: (context) =>
    context.to === 'NOT_READY'
      ? `Submitted${by(context)}.`
      : `Removed from the queue${by(context)}. Submit it again when it should be merged.`,
  TRUNK_ADMIN_REQUESTED: (context) => `Asked for by an administrator${by(context)}.`,
  MERGE_ITEM_NOW_READY: 'Everything it needs is there: admitted to the queue.',
  PREREQUISITE_MERGE_ITEM_FAILED: (context) => `${cause(context)} failed: it is tested again without it.`,
  PREREQUISITE_MERGE_ITEM_CANCELLED: (context) => `${cause(context)} left the queue: it is tested again without it.`,
  PREREQUISITE_MERGE_ITEM_MANUALLY_MERGED: (context) =>
    `${cause(context)} was merged outside the queue: it is tested again.`,
  PREREQUISITE_MERGE_ITEM_SET_ASIDE: (context) =>
    `${cause(context)} conflicts and was set aside: it is tested again without it.`,
  MANUAL_PUSH_TO_TARGET_BRANCH: ({ branch }) =>
    `Somebody pushed to ${branch} outside the queue: it is tested again on the new head.`,
  SKIP_THE_LINE_INTERRUPTED: (context) => `${cause(context)} is urgent and goes first.`,
  TESTS_RESTARTED_BY_USER: (context) => `Its tests were restarted${by(context)}.`,
  TESTS_RESTARTED_BY_API_REQUEST: (context) => `Its tests were restarted${by(context)} over the API.`,
  TEST_RUN_INCONCLUSIVE: 'Its checks were cut off without a result: they are run again.',
  IMPACTED_TARGETS_CHANGED: (context) =>
    `The impacted targets of ${context.prNumber === undefined ? 'a pull request' : `#${context.prNumber}`} changed: it is tested again.`,
  CONFLICTS_WITH_PREREQUISITE: (context) =>
    `It conflicts with ${context.prNumber === undefined ? 'a pull request' : `#${context.prNumber}`} ahead of it, and is tried again once that has landed or left.`,
  TARGET_BRANCH_MOVED: (context) =>
    `${cause(context)} landed first, and it was not tested with it: it is tested again.`,
  TARGET_BRANCH_RED: ({ branch }) =>
    `${branch} fails by itself: what failed on it is tested again once it is repaired.`,
  TARGET_BRANCH_GREEN: ({ branch }) => `${branch} passes again: it is tested in its turn.`,
  TARGET_BRANCH_LEFT: ({ branch }) =>
    `It failed on a commit of ${branch} that may have been broken and is not the head any more: it is tested again on the head.`,
  TARGET_BRANCH_AT_FAULT: ({ branch }) =>
    `${branch} itself was broken when it failed: it is back in its old place in the queue.`,
  REPAIR_TEST_RUN_FAILED: (context) =>
    `Tested alone on ${context.branch} it did not mend it: ${failing(context)} failed. It waits until ${context.branch} is repaired.`,
  LANDING_NOT_COMPOSABLE: ({ branch }) =>
    `It could not be put on what landed on ${branch} meanwhile without another test: it is tested again.`,
  LANDING_INTERRUPTED: 'Landing it together with others stopped half-way: it is tested again.',
  BISECTION_REQUIRED: (context) => `Its batch failed ${failing(context)}: the batch is split to find out why.`,
  BISECTION_TEST_RUN_PASSED: 'It passed without the others of its failed batch, and is back in the line.',
  TEST_RUN_STARTED: 'Its tests started.',
  TEST_RUN_PASSED: 'All required checks passed.',
  SUCCESSOR_TEST_RUN_PASSED: 'The tests of a pull request behind it, which contain it, passed.',
  SUCCESSOR_TEST_RUN_WITHDRAWN:
    'The pull request behind it that had passed with it is tested again: it stands by its own tests.',
  TEST_RUN_REQUIRED_STATUS_FAILED: (context) =>
    context.to === 'FAILED'
      ? `It failed ${failing(context)}. Fix it and submit it again.`
      : `${failing(context)} failed. Whether it is to blame is still open.`,
  TEST_RUN_TIMEOUT: (context) => `Waiting for ${failing(context)} took too long.`,
  TEST_RUN_FAILED_BY_OPTIMIZATION:
    'Exactly these pull requests failed together before in this bisection, and all the others passed without it. Fix it and submit it again.',
  START_TEST_RUN_MERGE_CONFLICT: ({ branch }) =>
    `It conflicts with ${branch}. Merge or rebase it onto ${branch}, push, and submit it again.`,
  START_TEST_RUN_RETRY_EXHAUSTED: 'Its test branch could not be made, although it was tried several times.',
  START_TEST_RUN_DRAFT_PRS_NOT_ALLOWED: 'The forge does not allow draft pull requests in this repository.',
  START_TEST_RUN_PERMISSIONS_BLOCK_TEST_BRANCH: 'The forge does not allow the queue to push test branches.',
  START_TEST_RUN_NO_REQUIRED_STATUSES:
    'No check is required anywhere, so nothing would be tested. Set requiredStatuses ([] if that is meant).',
  START_TEST_RUN_CONFIG_NOT_FOUND: 'The configuration file was not found.',
  START_TEST_RUN_CONFIG_PARSING_FAILURE: 'The configuration file on the target branch cannot be read.',
  START_TEST_RUN_CONFIG_BAD_VERSION: 'The configuration file on the target branch has a version that is not supported.',
  START_TEST_RUN_CONFIG_BAD_REQUIRED_STATUSES:
    'merge.required_statuses in the configuration file on the target branch is not a list of names.',
  START_TEST_RUN_CONFIG_MISSING_REQUIRED_STATUSES:
    'The configuration file on the target branch names no required statuses.',
  START_TEST_RUN_INVALID_EVENT: 'Its tests could not be started.',
  PR_UPDATED_AT_MERGE_TIME:
    'It was pushed to just before it would have landed. Submit it again to queue the new commits.',
  GITHUB_API_MERGE_PR_FAILED: 'The forge refused to merge it.',
  GITHUB_API_DIRECT_MERGE_PR_FAILED: 'The forge refused to merge it directly.',
  GITHUB_API_BRANCH_PROTECTION_UNMET: ({ branch }) => `It does not meet the protection of ${branch} any more.`,
  GITHUB_API_MERGE_ALREADY_IN_PROGRESS: 'The forge kept saying that a merge is already in progress.',
  GITHUB_API_RATE_LIMIT_EXCEEDED: 'The forge allowed no more requests.',
  GITHUB_API_REPEATED_SERVER_ERRORS: 'The forge kept failing.',
  MERGE_GRAPH_MERGE: ({ branch }) => `Landed on ${branch}.`,
  MERGE_GRAPH_DIRECT_MERGE: ({ branch }) =>
    `It was up to date and had passed: landed on ${branch} without another run.`,
  MANUAL_MERGE: ({ branch }) => `Merged into ${branch} outside the queue.`,
  NOT_READY_TIMEOUT_EXPIRED: 'It was not ready for too long. Submit it again when it is.',
  PR_CLOSED: 'The pull request was closed. Open and submit it again to queue it.',
  PR_MERGED_INTO_OTHER_BRANCH: 'The pull request was merged into another branch.',
  PR_CONVERTED_TO_DRAFT: 'The pull request became a draft. Mark it ready and submit it again.',
  PR_PUSHED_TO: 'The pull request was pushed to after it had been submitted. Submit it again to queue the new commits.',
  PR_BASE_BRANCH_CHANGED: ({ branch }) => `The pull request no longer targets ${branch}.`,
};

/** A full sentence for a timeline, a comment or a log line. */
export function reasonText(reason: ReasonCode, context: ReasonContext): string {
  const sentence = SENTENCES[reason];
  const text = typeof sentence === 'string' ? sentence : sentence(context);
  return context.detail === undefined || context.detail === '' ? text : `${text} ${context.detail}`;
}
