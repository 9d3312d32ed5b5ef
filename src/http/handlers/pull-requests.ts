import type { Static } from 'typebox';
import { findQueue, type QueueRef } from '../../app/core/find-queue.ts';
import { type Answer, isRefusal } from '../../app/core/refusal.ts';
import type { EntryView } from '../../app/queue/entry-view.ts';
import { cancelPullRequest, restartTestsOnPullRequest } from '../../app/queue/pull-request-acts.ts';
import { setImpactedTargets, setImpactedTargetsOfFork } from '../../app/queue/set-impacted-targets.ts';
import { previewSubmission, submitPullRequest } from '../../app/queue/submit-pull-request.ts';
import {
  getSubmittedPullRequest,
  getSubmittedPullRequests,
  listPullRequests,
} from '../../app/queue/submitted-pull-requests.ts';
import type { BulkResults } from '../../contract/bulk.ts';
import { ERRORS, type ErrorCode } from '../../contract/errors.ts';
import * as pullRequestsContract from '../../contract/pull-requests.ts';
import { upper } from '../../contract/schema.ts';
import type { PrNumber } from '../../engine/model/pull-request.ts';
import { Fault } from '../../lib/fault.ts';
import type { Sha } from '../../lib/sha.ts';
import { toProblem } from '../core/error-response.ts';
import { instant, optionalInstant, prNumber, queueRef } from '../core/parse.ts';
import { type RequestContext, type Route, route } from '../core/route.ts';

export const PULL_REQUESTS_ROUTES: readonly Route[] = [
  route(
    pullRequestsContract.submitPullRequest,
    (context, body) => {
      const { repo, targetBranch, priority, noBatch, repair } = body;
      return actOnEach(context, body, ({ prNumber, sha }) =>
        submitPullRequest(context.app, context.caller, {
          ...{ repo, targetBranch, prNumber, priority, noBatch, repair },
          sha: sha?.toLowerCase() as Sha | undefined,
        }),
      );
    },
    { isReused: true },
  ),
  route(
    pullRequestsContract.previewSubmission,
    ({ app, caller }, { repo, targetBranch, pr, priority, noBatch, repair }) =>
      previewSubmission(app, caller, {
        ...{ repo, targetBranch, priority, noBatch, repair, prNumber: prNumber(pr.number) },
        sha: pr.sha?.toLowerCase() as Sha | undefined,
      }),
  ),
  route(pullRequestsContract.setImpactedTargets, ({ app, caller, fork }, body) => {
    const input = {
      ...queueRef(body),
      prNumber: prNumber(body.pr.number),
      sha: body.pr.sha?.toLowerCase() as Sha | undefined,
      impactedTargets: typeof body.impactedTargets === 'string' ? ('ALL' as const) : body.impactedTargets,
    };
    return fork === undefined ? setImpactedTargets(app, caller, input) : setImpactedTargetsOfFork(app, fork, input);
  }),
  route(pullRequestsContract.getSubmittedPullRequest, readPullRequest, { isReused: true }),
  route(pullRequestsContract.pollPullRequest, readPullRequest, { isReused: true }),
  route(pullRequestsContract.getSubmittedPullRequests, ({ app, caller }, body) =>
    getSubmittedPullRequests(app, caller, {
      ...queueRef(body),
      prNumbers: body.prs.map((pr) => prNumber(pr.number)),
      includeTimeline: body.includeTimeline === true,
      includeExplanation: body.includeExplanation === true,
      includeForecast: body.includeForecast === true,
    }),
  ),
  route(pullRequestsContract.listPullRequests, ({ app, caller }, body) =>
    listPullRequests(app, caller, {
      ...queueRef(body),
      state: body.state === undefined ? undefined : upper(body.state),
      since: body.since === undefined ? undefined : instant('/since', body.since),
      until: body.until === undefined ? undefined : instant('/until', body.until),
      cursor: body.cursor?.toLowerCase(),
      take: body.take ?? 50,
      includeExplanation: body.includeExplanation === true,
      includeForecast: body.includeForecast === true,
    }),
  ),
  route(pullRequestsContract.restartTestsOnPullRequest, ({ app, caller }, { repo, targetBranch, pr }) =>
    restartTestsOnPullRequest(app, caller, { repo, targetBranch, prNumber: prNumber(pr.number) }),
  ),
  route(pullRequestsContract.cancelPullRequest, (context, body) => {
    const { repo, targetBranch } = body;
    return actOnEach(context, body, ({ prNumber }) =>
      cancelPullRequest(context.app, context.caller, { repo, targetBranch, prNumber }, { waits: true }),
    );
  }),
];

interface GivenPr {
  readonly number: number | string;
}

interface OneOrSeveral<Pr extends GivenPr> {
  readonly pr?: Pr;
  readonly prs?: readonly (number | string | Pr)[];
}

type Act<Pr extends GivenPr> = (of: Omit<Pr, 'number'> & { readonly prNumber: PrNumber }) => Answer<EntryView>;

/** Acts on the pull request of the body, or on each of several: in their order, so that they are queued in it. */
// SPEC E32
async function actOnEach<Pr extends GivenPr>(
  { app, caller }: RequestContext,
  body: QueueRef & OneOrSeveral<Pr>,
  act: Act<Pr>,
): Answer<EntryView | BulkResults> {
  const { pr, prs = [] } = body;
  if (pr !== undefined) return act(named(pr));
  const queue = await findQueue(app, caller, body);
  if (isRefusal(queue)) return queue;
  const results: BulkResults['results'][number][] = [];
  for (const each of prs) {
    const one = named(typeof each === 'object' ? each : ({ number: each } as Pr));
    results.push({ prNumber: one.prNumber, ...(await resultOf(act(one))) });
  }
  return { results };
}

function readPullRequest(
  { app, caller }: RequestContext,
  body: Static<typeof pullRequestsContract.getSubmittedPullRequest.body>,
) {
  return getSubmittedPullRequest(app, caller, {
    ...queueRef(body),
    pr: 'branch' in body.pr ? { branch: body.pr.branch } : { number: prNumber(body.pr.number) },
    includeTimeline: body.includeTimeline === true,
    includeExplanation: body.includeExplanation === true,
    includeForecast: body.includeForecast === true,
    at: optionalInstant('/at', body.at),
  });
}

function named<Pr extends GivenPr>({ number, ...rest }: Pr): Omit<Pr, 'number'> & { readonly prNumber: PrNumber } {
  return { ...rest, prNumber: prNumber(number) };
}

/** A fault, as of the forge, is one pull request's problem. A bug is not. */
async function resultOf(answered: Answer<EntryView>): Promise<Omit<BulkResults['results'][number], 'prNumber'>> {
  try {
    const answer = await answered;
    return isRefusal(answer) ? refused(answer) : { ok: true, entry: answer };
  } catch (error) {
    if (error instanceof Fault) return refused(toProblem(error));
    throw error;
  }
}

function refused({ code, detail }: { readonly code: ErrorCode; readonly detail: string }) {
  return { ok: false, problem: { code, status: ERRORS[code].status, detail } };
}
