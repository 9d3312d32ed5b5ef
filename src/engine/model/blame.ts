import type { Candidate, Failure } from './candidate.ts';
import type { Check } from './check.ts';
import type { ReasonCode } from './reason.ts';

/** The kind of a failure that ended a run. */
export const CAUSES = ['CONFLICT', 'CONFIGURATION', 'INFRASTRUCTURE', 'BUILD', 'TESTS', 'TIMEOUT', 'UNKNOWN'] as const;
export type Cause = (typeof CAUSES)[number];

/** The one who can do something about an entry that left without landing. */
export const BLAMES = ['AUTHOR', 'CI', 'ADMINISTRATOR', 'PERSON', 'UNDECIDED'] as const;
export type Blame = (typeof BLAMES)[number];

/** Problems of the branch or of the forge's settings. No pull request causes them. */
const CONFIGURATION_PROBLEMS: ReadonlySet<string> = new Set([
  'START_TEST_RUN_NO_REQUIRED_STATUSES',
  'START_TEST_RUN_PERMISSIONS_BLOCK_TEST_BRANCH',
  'START_TEST_RUN_CONFIG_NOT_FOUND',
  'START_TEST_RUN_CONFIG_PARSING_FAILURE',
  'START_TEST_RUN_CONFIG_BAD_VERSION',
  'START_TEST_RUN_CONFIG_BAD_REQUIRED_STATUSES',
  'START_TEST_RUN_CONFIG_MISSING_REQUIRED_STATUSES',
  'START_TEST_RUN_CONFIG_BAD_CHECKS',
]);

export function isConfigurationProblem(reason: string): boolean {
  return CONFIGURATION_PROBLEMS.has(reason);
}

/** Words and exit codes of a machine that failed. A pull request can print them too, so they are a hypothesis. */
const MACHINE_FAILED =
  /\bexit (?:code|status) (?:126|127|137)\b|no space left on device|\b429\b.{0,20}too many requests|too many requests|connection (?:reset|refused|timed out)|temporary failure in name resolution|network is unreachable|runner .{0,20}lost/i;

const MOST_READ = 4_000;

/** The run may have failed because of the machine. */
// SPEC V75
export function isOfMachine({ checks, failure }: Pick<Candidate, 'checks' | 'failure'>): boolean {
  const failed = checks.filter(({ name }) => failure?.checks.includes(name) === true);
  return failed.length > 0 && failed.every(isMachineFailure);
}

function isMachineFailure({ conclusion, signature = [], summary = '' }: Check): boolean {
  if (conclusion === 'ERROR' || conclusion === 'STALE' || conclusion === 'CANCELLED') return true;
  return conclusion === 'FAILURE' && signature.length === 0 && MACHINE_FAILED.test(summary.slice(0, MOST_READ));
}

// SPEC V74
export function causeOf({ checks, failure }: Pick<Candidate, 'checks' | 'failure'>): Cause | undefined {
  if (failure === undefined) return undefined;
  if (failure.reason !== 'TEST_RUN_REQUIRED_STATUS_FAILED') return causeOfReason(failure.reason);
  const failed = checks.filter(({ name }) => failure.checks.includes(name));
  if (failed.some(({ signature = [] }) => signature.length > 0)) return 'TESTS';
  if (failed.some(({ conclusion }) => conclusion === 'ACTION_REQUIRED')) return 'CONFIGURATION';
  if (failed.some(({ conclusion }) => conclusion === 'TIMED_OUT')) return 'TIMEOUT';
  if (isOfMachine({ checks, failure })) return 'INFRASTRUCTURE';
  return failed.some(({ isBuild }) => isBuild) ? 'BUILD' : 'UNKNOWN';
}

function causeOfReason(reason: Failure['reason']): Cause {
  if (reason === 'TEST_RUN_TIMEOUT') return 'TIMEOUT';
  if (reason === 'START_TEST_RUN_MERGE_CONFLICT') return 'CONFLICT';
  if (isConfigurationProblem(reason)) return 'CONFIGURATION';
  return reason.startsWith('START_TEST_RUN_') || reason.startsWith('GITHUB_API_') ? 'INFRASTRUCTURE' : 'UNKNOWN';
}

interface End {
  readonly reason: ReasonCode;
  readonly cause?: Cause;
  readonly timeout?: { readonly isBegun: boolean };
  /** It failed in runs of its own while CI passed others. */
  readonly alone?: unknown;
}

/** The cause of an entry's end, if a run or its start ended it. */
export function causeOfEnd({ reason, cause }: End): Cause | undefined {
  const known = cause ?? causeOfReason(reason);
  return known === 'UNKNOWN' && !reason.startsWith('TEST_RUN_') ? undefined : known;
}

const BY_REASON: { readonly [Reason in ReasonCode]?: Blame } = {
  TEST_RUN_UNDECIDED: 'UNDECIDED',
  NOT_READY_TIMEOUT_EXPIRED: 'AUTHOR',
  PR_UPDATED_AT_MERGE_TIME: 'AUTHOR',
  START_TEST_RUN_DRAFT_PRS_NOT_ALLOWED: 'ADMINISTRATOR',
  GITHUB_API_BRANCH_PROTECTION_UNMET: 'AUTHOR',
  GITHUB_API_MERGE_PR_FAILED: 'ADMINISTRATOR',
  GITHUB_API_DIRECT_MERGE_PR_FAILED: 'ADMINISTRATOR',
};

const BY_CAUSE: { readonly [Kind in Cause]: Blame } = {
  CONFLICT: 'AUTHOR',
  CONFIGURATION: 'ADMINISTRATOR',
  INFRASTRUCTURE: 'CI',
  BUILD: 'AUTHOR',
  TESTS: 'AUTHOR',
  TIMEOUT: 'AUTHOR',
  UNKNOWN: 'AUTHOR',
};

/** The cause of a removal that other runs confirmed. The machine is not to blame, because it passed the branch. */
export function confirmedCauseOf(run: Pick<Candidate, 'checks' | 'failure'>): Cause | undefined {
  const cause = causeOf(run);
  const hasFailed = run.checks.some(({ conclusion }) => conclusion === 'FAILURE' || conclusion === 'ERROR');
  return cause === 'INFRASTRUCTURE' && hasFailed ? 'UNKNOWN' : cause;
}

/** Undefined for an entry that landed or is still in the queue. */
// SPEC V76
export function blameOf(state: string, because: End): Blame | undefined {
  if (state !== 'FAILED' && state !== 'CANCELLED') return undefined;
  const known = BY_REASON[because.reason];
  if (known !== undefined) return known;
  if (because.timeout?.isBegun === false && because.alone === undefined) return 'CI';
  return state === 'CANCELLED' ? 'PERSON' : BY_CAUSE[causeOfEnd(because) ?? 'UNKNOWN'];
}
