import type { App } from '../../app/core/app.ts';
import type { Caller } from '../../app/core/caller.ts';
import { findQueue, type QueueRef } from '../../app/core/find-queue.ts';
import { type Answer, isRefusal } from '../../app/core/refusal.ts';
import type { EntryView } from '../../app/queue/entry-view.ts';
import { explainImpactedTargets } from '../../app/queue/explain-targets.ts';
import { findPullRequest } from '../../app/queue/find-pull-request.ts';
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
import * as contract from '../../contract/pull-requests.ts';
import type { PrNumber } from '../../engine/model/pull-request.ts';
import { Fault } from '../../lib/fault.ts';
import { trunkDialect } from '../core/dialect.ts';
import { toProblem } from '../core/error-response.ts';
import { type Route, route } from '../core/route.ts';

export const PULL_REQUESTS_ROUTES: readonly Route[] = [
  route(
    contract.submitPullRequest,
    (app, caller, { force, ...body }, { dialect }) => {
      const refusesUnchanged = dialect !== trunkDialect && force !== true;
      return actOnEach(app, caller, body, ({ number: prNumber, sha }) =>
        submitPullRequest(app, caller, { ...body, prNumber, sha, refusesUnchanged }),
      );
    },
    { isReused: true },
  ),
  route(contract.previewSubmission, (app, caller, body) =>
    previewSubmission(app, caller, { ...body, prNumber: body.pr.number, sha: body.pr.sha }),
  ),
  route(contract.findPullRequest, findPullRequest),
  route(contract.setImpactedTargets, (app, caller, body, { fork }) => {
    const input = { ...body, prNumber: body.pr.number, sha: body.pr.sha };
    return fork === undefined ? setImpactedTargets(app, caller, input) : setImpactedTargetsOfFork(app, fork, input);
  }),
  route(contract.explainImpactedTargets, (app, caller, body) =>
    explainImpactedTargets(app, caller, { ...body, prNumber: body.pr.number }),
  ),
  route(contract.getSubmittedPullRequest, getSubmittedPullRequest, { isReused: true }),
  route(contract.pollPullRequest, getSubmittedPullRequest, { isReused: true }),
  route(contract.getSubmittedPullRequests, getSubmittedPullRequests),
  route(contract.listPullRequests, listPullRequests),
  route(contract.restartTestsOnPullRequest, (app, caller, body) =>
    restartTestsOnPullRequest(app, caller, { ...body, prNumber: body.pr.number }),
  ),
  route(contract.cancelPullRequest, (app, caller, body) =>
    actOnEach(app, caller, body, ({ number: prNumber }) =>
      cancelPullRequest(app, caller, { ...body, prNumber }, { waits: true }),
    ),
  ),
];

interface OneOrSeveral<Pr> extends QueueRef {
  readonly pr?: Pr;
  readonly prs?: readonly (PrNumber | Pr)[];
}

// SPEC E32
async function actOnEach<Pr extends { readonly number: PrNumber }>(
  app: App,
  caller: Caller,
  body: OneOrSeveral<Pr>,
  act: (pr: Pr) => Answer<EntryView>,
): Answer<EntryView | BulkResults> {
  const { pr, prs = [] } = body;
  if (pr !== undefined) return act(pr);
  const queue = await findQueue(app, caller, body);
  if (isRefusal(queue)) return queue;
  const results: BulkResults['results'][number][] = [];
  for (const each of prs) {
    const one = typeof each === 'object' ? each : ({ number: each } as Pr);
    results.push({ prNumber: one.number, ...(await resultOf(act(one))) });
  }
  return { results };
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
