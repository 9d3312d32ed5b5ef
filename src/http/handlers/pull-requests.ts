import { cancelPullRequest, restartTestsOnPullRequest } from '../../app/queue/pull-request-acts.ts';
import { setImpactedTargets, setImpactedTargetsOfFork } from '../../app/queue/set-impacted-targets.ts';
import { submitPullRequest } from '../../app/queue/submit-pull-request.ts';
import {
  getSubmittedPullRequest,
  getSubmittedPullRequests,
  listPullRequests,
} from '../../app/queue/submitted-pull-requests.ts';
import * as pullRequestsContract from '../../contract/pull-requests.ts';
import { upper } from '../../contract/schema.ts';
import type { Sha } from '../../lib/sha.ts';
import { instant, prNumber, queueRef } from '../core/parse.ts';
import { type Route, route } from '../core/route.ts';
import { actOnEach } from './bulk.ts';

export const PULL_REQUESTS_ROUTES: readonly Route[] = [
  route(pullRequestsContract.submitPullRequest, (context, body) => {
    const { repo, targetBranch, priority, noBatch, repair } = body;
    return actOnEach(context, body, ({ prNumber, sha }) =>
      submitPullRequest(context.app, context.caller, {
        ...{ repo, targetBranch, prNumber, priority, noBatch, repair },
        sha: sha?.toLowerCase() as Sha | undefined,
      }),
    );
  }),
  route(pullRequestsContract.setImpactedTargets, ({ app, caller, fork }, body) => {
    const input = {
      ...queueRef(body),
      prNumber: prNumber(body.pr.number),
      sha: body.pr.sha?.toLowerCase() as Sha | undefined,
      impactedTargets: typeof body.impactedTargets === 'string' ? ('ALL' as const) : body.impactedTargets,
    };
    return fork === undefined ? setImpactedTargets(app, caller, input) : setImpactedTargetsOfFork(app, fork, input);
  }),
  route(
    pullRequestsContract.getSubmittedPullRequest,
    ({ app, caller }, body) =>
      getSubmittedPullRequest(app, caller, {
        ...queueRef(body),
        pr: 'branch' in body.pr ? { branch: body.pr.branch } : { number: prNumber(body.pr.number) },
        includeTimeline: body.includeTimeline === true,
        includeExplanation: body.includeExplanation === true,
      }),
    { isReused: true },
  ),
  route(pullRequestsContract.getSubmittedPullRequests, ({ app, caller }, body) =>
    getSubmittedPullRequests(app, caller, {
      ...queueRef(body),
      prNumbers: body.prs.map((pr) => prNumber(pr.number)),
      includeTimeline: body.includeTimeline === true,
      includeExplanation: body.includeExplanation === true,
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
    }),
  ),
  route(pullRequestsContract.restartTestsOnPullRequest, ({ app, caller }, { repo, targetBranch, pr }) =>
    restartTestsOnPullRequest(app, caller, { repo, targetBranch, prNumber: prNumber(pr.number) }),
  ),
  route(pullRequestsContract.cancelPullRequest, (context, body) => {
    const { repo, targetBranch } = body;
    return actOnEach(context, body, ({ prNumber }) =>
      cancelPullRequest(context.app, context.caller, { repo, targetBranch, prNumber }),
    );
  }),
];
