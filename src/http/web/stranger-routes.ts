import { appForStrangers } from '../../app/access/strangers.ts';
import { isRefusal } from '../../app/core/refusal.ts';
import type * as eventsContract from '../../contract/events.ts';
import type { Operation, ReplyOf } from '../../contract/operation.ts';
import type * as pullRequestsContract from '../../contract/pull-requests.ts';
import type * as healthContract from '../../contract/queue-health.ts';
import type * as queuesContract from '../../contract/queues.ts';
import type * as testingContract from '../../contract/testing.ts';
import { writePart } from '../core/reply-writer.ts';
import type { Handler, Route } from '../core/route.ts';
import type { ServerDeps } from '../core/server-deps.ts';
import { signedOut } from './signed-out.ts';

type Queue = ReplyOf<typeof queuesContract.getQueue>;
type Summary = ReplyOf<typeof queuesContract.listQueues>['queues'][number];
type Entry = ReplyOf<typeof pullRequestsContract.getSubmittedPullRequest>;
type ListEntry = Queue['enqueuedPullRequests'][number];
type Testing = ReplyOf<typeof testingContract.getMergeQueueTestingDetails>;
type TestRun = Exclude<Testing, { readonly testRuns: unknown }>;
type CheckRun = TestRun['checkSuites'][number]['checkRuns'][number];
type Event = ReplyOf<typeof eventsContract.listEvents>['events'][number];

type Body = Readonly<Record<string, unknown>>;

interface Opened {
  /** Whether a stranger may ask so. */
  readonly allows?: (body: Body) => boolean;
  /** The part of the answer that a stranger gets. */
  readonly show?: (answer: never) => unknown;
}

const isOfNow = ({ at }: Body) => at === undefined;
const OF_QUEUE: Opened = { allows: isOfNow, show: showQueue };
/** A branch is looked up at the forge, which counts requests. */
const OF_ENTRY: Opened = { allows: (body) => isOfNow(body) && 'number' in (body['pr'] as object), show: showEntry };

/** The operations that are open to strangers. A field that is not named here stays with those who are signed in. */
// SPEC A43
const OPENED: Readonly<Record<string, Opened>> = {
  getQueue: OF_QUEUE,
  pollQueue: OF_QUEUE,
  listQueues: {
    show: ({ queues }: { readonly queues: readonly Summary[] }) => ({ queues: queues.map(showSummary) }),
  },
  getSubmittedPullRequest: OF_ENTRY,
  pollPullRequest: OF_ENTRY,
  getSubmittedPullRequests: {
    show: ({ pullRequests, notFound }: ReplyOf<typeof pullRequestsContract.getSubmittedPullRequests>) => ({
      pullRequests: pullRequests.map(showEntry),
      notFound,
    }),
  },
  listPullRequests: {
    show: ({ pullRequests, nextCursor }: ReplyOf<typeof pullRequestsContract.listPullRequests>) => ({
      pullRequests: pullRequests.map(showListEntry),
      nextCursor,
    }),
  },
  getMergeQueueTestingDetails: { allows: isOfNow, show: showTesting },
  getQueueHealth: { show: (answer: ReplyOf<typeof healthContract.getQueueHealth>) => answer },
  listEvents: {
    allows: ({ repo, types, audit }) => repo !== undefined && String(types) === 'landing.recorded' && audit !== true,
    show: ({ events, nextCursor }: ReplyOf<typeof eventsContract.listEvents>) => ({
      events: events.map(showLanding),
      nextCursor,
    }),
  },
  streamEvents: {},
};

export function isOpenToStrangers({ name }: Operation): boolean {
  return Object.hasOwn(OPENED, name);
}

/** The same operations, which answer strangers from what is public. */
export function createStrangerRoutes({ app }: Pick<ServerDeps, 'app'>): (route: Route) => Route {
  const shown = appForStrangers(app);
  return (route) => {
    const { operation, handle } = route;
    const { allows = () => true, show } = OPENED[operation.name] ?? {};
    const answerStranger: Handler = async (context, body) => {
      if (!allows(body)) throw signedOut();
      const { caller, dialect, baseUrl, lastEventId } = context;
      const isAdmitted = () => context.isAdmitted();
      const answer = await handle(
        { app: shown, caller, fork: undefined, dialect, baseUrl, lastEventId, isAdmitted },
        body,
      );
      return show === undefined || isRefusal(answer) ? answer : writePart(operation, show(answer as never), body);
    };
    return {
      ...route,
      handle: (context, body) => (context.caller.isStranger ? answerStranger(context, body) : handle(context, body)),
    };
  };
}

function showState({ branch, state, stateSince, stateUntil, parked, held, frozen }: Queue | Summary) {
  return { branch, state, stateSince, stateUntil, parked, held, frozen };
}

function showQueue(queue: Queue) {
  const { forecast, enqueuedPullRequests } = queue;
  return {
    ...showState(queue),
    ...showForecast(forecast),
    enqueuedPullRequests: enqueuedPullRequests.map(showListEntry),
  };
}

function showSummary(summary: Summary) {
  return { repo: summary.repo, ...showState(summary), counts: summary.counts };
}

/** A stranger's question makes no forecast, so that there may be none. */
function showForecast(forecast: Queue['forecast']) {
  return forecast === undefined || forecast.isBeingMade ? {} : { forecast };
}

function showListEntry(entry: ListEntry) {
  const { id, state, stateChangedAt, prNumber, prTitle, prSha, prBaseBranch, prAuthor } = entry;
  const { priorityValue, priorityName, usedDefaultPriorityName, skipTheLine, noBatch, explanation, forecast } = entry;
  return {
    ...{ id, state, stateChangedAt, prNumber, prTitle, prSha, prBaseBranch, prAuthor },
    ...{ priorityValue, priorityName, usedDefaultPriorityName, skipTheLine, noBatch, explanation },
    ...showForecast(forecast),
  };
}

function showEntry(entry: Entry) {
  const { readiness, forceEnqueued, isCurrentlySubmittedToQueue, impactedTargets, verifiedByTestRun, landed } = entry;
  return {
    ...showListEntry(entry),
    ...{ readiness, forceEnqueued, isCurrentlySubmittedToQueue, impactedTargets, verifiedByTestRun, landed },
    timeline: entry.timeline?.map(({ at, state, reason, text, testRunId, prNumber, checks }) => ({
      ...{ at, state, reason, text, testRunId, prNumber, checks },
    })),
  };
}

function showTesting(testing: Testing) {
  if (!('testRuns' in testing)) return showRun(testing);
  const { testRuns, searches } = testing;
  return { testRuns: testRuns.map(showRun), searches };
}

function showRun(run: TestRun) {
  const { testRunId, requiredStatuses, requiredStatusesSource, testBranch, testBranchSha, createdAt, status } = run;
  const { testedPullRequests, dependentPrs, onTopOf, purpose, reuses, checkSuites } = run;
  return {
    ...{ testRunId, requiredStatuses, requiredStatusesSource, testBranch, testBranchSha, createdAt, status },
    ...{ testedPullRequests, dependentPrs, onTopOf, purpose, reuses, statusChecks: [] },
    checkSuites: checkSuites.map(({ checkRuns }) => ({ checkRuns: checkRuns.map(showCheck) })),
  };
}

function showCheck({ name, url, status, conclusion, startedAt }: CheckRun) {
  return { name, url, status, conclusion, startedAt };
}

/** The proof of a landing, which anybody can repeat with git. */
function showLanding({ id, type, at, repo, targetBranch, prNumber, data }: Event) {
  const { kind, sha, tree, pushedSha, pushedTree, testedSha, testedTree, base, composedWith, testRunId } = data as Body;
  const { waived = [], excused = [] } = data as Record<'waived' | 'excused', readonly { readonly check: string }[]>;
  return {
    ...{ id, type, at, repo, targetBranch, prNumber },
    data: {
      ...{ kind, sha, tree, pushedSha, pushedTree, testedSha, testedTree, base, composedWith, testRunId },
      waived: waived.map(({ check }) => ({ check })),
      excused: excused.map(({ check }) => ({ check })),
    },
  };
}
