import type { ReplyOf } from '../../contract/operation.ts';
import type { View, WithRequired } from '../../contract/schema.ts';
import type { CheckRun, reportCheck } from '../../contract/testing.ts';
import { causeOf } from '../../engine/model/blame.ts';
import type { Candidate, CandidateState } from '../../engine/model/candidate.ts';
import { type Check, nameOf } from '../../engine/model/check.ts';
import { type Judgement, quarantineVerdictOf } from '../../engine/model/judgement.ts';
import type { PrNumber } from '../../engine/model/pull-request.ts';
import { namesOf } from '../../engine/model/question.ts';
import type { Entry, Queue } from '../../engine/model/queue.ts';
import { unlanded } from '../../engine/model/roster.ts';
import { formatInstant, optionalInstant } from '../../lib/clock.ts';
import { present } from '../../lib/present.ts';

export type CandidateView = WithRequired<
  ReplyOf<typeof reportCheck>,
  'testRunId' | 'status' | 'createdAt' | 'dependentPrs'
>;
export type CheckRunView = View<typeof CheckRun>;

interface CandidateContext {
  readonly testRunId: string;
  readonly testBranch: string;
  readonly queue: Queue;
  readonly entries: ReadonlyMap<PrNumber, Entry>;
  /** Undefined where a pull request of the candidate has none uploaded, or where there are too many to show. */
  readonly impactedTargets: readonly string[] | undefined;
  readonly impactedTargetsForTestedPrs: readonly string[] | undefined;
  /** For a reader who wants to see how runs belong together. */
  readonly isDetailed: boolean;
  /** The test run whose result counts for this one too. */
  readonly reuses: string | undefined;
}

export const PURPOSES = {
  main: 'LINE',
  bisection: 'SEARCH',
  head: 'HEAD',
  repair: 'REPAIR',
  direct: 'DIRECT',
} as const;

export const STATUSES: { readonly [State in CandidateState]: CandidateView['status'] } = {
  waiting: 'IN_PROGRESS',
  building: 'IN_PROGRESS',
  testing: 'IN_PROGRESS',
  passed: 'SUCCEEDED',
  failed: 'FAILED',
  abandoned: 'CANCELLED',
};

export function viewCandidate(candidate: Candidate, context: CandidateContext): CandidateView {
  const { impactedTargets, impactedTargetsForTestedPrs } = context;
  return {
    testRunId: context.testRunId,
    ...viewRequired(candidate, context.queue),
    testBranch: context.testBranch,
    testBranchSha: candidate.commit?.sha ?? '',
    createdAt: formatInstant(candidate.plannedAt),
    status: STATUSES[candidate.state],
    checkSuites: [{ checkRuns: candidate.checks.map(viewCheck) }],
    statusChecks: [],
    testedPullRequests: candidate.members.map(({ prNumber }) => {
      const { url = '', title = '' } = context.entries.get(prNumber)?.pr ?? {};
      return { prNumber, prUrl: url, title };
    }),
    ...present({ impactedTargets, impactedTargetsForTestedPrs, cause: causeOf(candidate) }),
    dependentPrs: candidate.beneath.map(({ prNumber }) => prNumber),
    ...(context.isDetailed ? viewDetail(candidate, context) : {}),
  };
}

// SPEC C63
function viewDetail(candidate: Candidate, { queue, reuses }: CandidateContext) {
  const onTopOf = unlanded(queue, candidate.beneath).map(({ prNumber }) => prNumber);
  const asked = candidate.question && namesOf(candidate.question);
  return { purpose: PURPOSES[candidate.purpose.kind], onTopOf, ...present({ reuses, asked }) };
}

/** Before the commit is built, only the queue's own setting can name required checks. */
function viewRequired(
  { required }: Candidate,
  { settings }: Queue,
): Pick<CandidateView, 'requiredStatuses' | 'requiredStatusesSource'> {
  if (required !== undefined) return { requiredStatuses: required.names, requiredStatusesSource: required.source };
  const override = settings.requiredStatuses;
  return override === null
    ? { requiredStatuses: [] }
    : { requiredStatuses: override.map(nameOf), requiredStatusesSource: 'MERGE_INSTANCE' };
}

export function viewCheck(check: Check): CheckRunView {
  const { name, url, status, conclusion, startedAt, summary, judgement } = check;
  return {
    name,
    url: url ?? '',
    status,
    // ERROR exists only for commit statuses; existing clients know it as a failure.
    ...present({
      conclusion: conclusion === 'ERROR' ? 'FAILURE' : conclusion,
      startedAt: optionalInstant(startedAt),
      summary,
      quarantine: judgement && viewJudgement(judgement),
    }),
  };
}

// SPEC V53
function viewJudgement(judgement: Judgement): NonNullable<CheckRunView['quarantine']> {
  const verdict = quarantineVerdictOf(judgement);
  if (judgement.kind === 'awaited') return { verdict, failedTests: [], failedTestsTotal: 0 };
  const { reason, tests, failing } = judgement;
  return {
    verdict,
    reason,
    failedTests: tests.map(({ id, name, suites, why }) => ({
      id,
      name,
      isExcused: why === undefined,
      ...present({ suites, reason: why }),
    })),
    failedTestsTotal: failing,
  };
}
