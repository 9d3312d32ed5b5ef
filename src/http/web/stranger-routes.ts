import { appForStrangers } from '../../app/access/strangers.ts';
import { isRefusal } from '../../app/core/refusal.ts';
import type { Operation } from '../../contract/operation.ts';
import { writePart } from '../core/reply-writer.ts';
import type { Handler, Route } from '../core/route.ts';
import type { ServerDeps } from '../core/server-deps.ts';
import { signedOut } from './signed-out.ts';

type Body = Readonly<Record<string, unknown>>;

/** The fields that are shown, each whole or with a part of its own. A list has the fields of its items. */
interface Shown {
  readonly [field: string]: true | Shown;
}

interface Opened {
  /** Whether a stranger may ask so. */
  readonly allows?: (body: Body) => boolean;
  /** The part of the answer that a stranger gets. Absent: all of it. */
  readonly shown?: Shown;
}

function whole(fields: string): Shown {
  return Object.fromEntries(fields.split(' ').map((field) => [field, true as const]));
}

const STATE = whole('branch state stateSince stateUntil parked held frozen');
const LIST_ENTRY: Shown = {
  ...whole('id state stateChangedAt prNumber prTitle prSha prBaseBranch prAuthor priorityValue priorityName'),
  ...whole('usedDefaultPriorityName skipTheLine noBatch explanation forecast'),
};
const ENTRY: Shown = {
  ...LIST_ENTRY,
  ...whole('readiness forceEnqueued isCurrentlySubmittedToQueue impactedTargets verifiedByTestRun landed'),
  ...whole('dependsOn dependents'),
  timeline: whole('at state reason text testRunId prNumber checks'),
};
const RUN: Shown = {
  ...whole('testRunId requiredStatuses requiredStatusesSource testBranch testBranchSha createdAt status statusChecks'),
  ...whole('testedPullRequests dependentPrs onTopOf purpose reuses'),
  checkSuites: { checkRuns: whole('name url status conclusion startedAt') },
};
/** The proof of a landing, which anybody can repeat with git. */
const LANDING: Shown = {
  ...whole('id type at repo targetBranch prNumber'),
  data: {
    ...whole('kind sha tree pushedSha pushedTree testedSha testedTree base composedWith testRunId'),
    ...{ waived: whole('check'), excused: whole('check') },
  },
};

const isOfNow = ({ at }: Body) => at === undefined;
const OF_QUEUE: Opened = {
  allows: isOfNow,
  shown: { ...STATE, forecast: true, enqueuedPullRequests: LIST_ENTRY },
};
/** A branch is looked up at the forge, which counts requests. */
const OF_ENTRY: Opened = { allows: (body) => isOfNow(body) && 'number' in (body['pr'] as object), shown: ENTRY };

/** The operations that are open to strangers. A field that is not named here stays with those who are signed in. */
// SPEC A43
const OPENED: Readonly<Record<string, Opened>> = {
  getQueue: OF_QUEUE,
  pollQueue: OF_QUEUE,
  listQueues: { shown: { queues: { ...STATE, ...whole('repo counts') } } },
  getSubmittedPullRequest: OF_ENTRY,
  pollPullRequest: OF_ENTRY,
  getSubmittedPullRequests: { shown: { pullRequests: ENTRY, notFound: true } },
  listPullRequests: { shown: { pullRequests: LIST_ENTRY, nextCursor: true } },
  getMergeQueueTestingDetails: { allows: isOfNow, shown: { ...RUN, testRuns: RUN, searches: true } },
  getQueueHealth: { allows: ({ withSavings }) => withSavings !== true },
  listEvents: {
    allows: ({ repo, types, audit }) => repo !== undefined && String(types) === 'landing.recorded' && audit !== true,
    shown: { events: LANDING, nextCursor: true },
  },
  streamEvents: {},
};

export function isOpenToStrangers({ name }: Operation): boolean {
  return Object.hasOwn(OPENED, name);
}

export function createStrangerRoutes({ app }: Pick<ServerDeps, 'app'>): (route: Route) => Route {
  const shown = appForStrangers(app);
  return (route) => {
    const { operation, handle } = route;
    const { allows = () => true, shown: fields } = OPENED[operation.name] ?? {};
    const answerStranger: Handler = async (_app, caller, body, context) => {
      if (!allows(body)) throw signedOut();
      const answer = await handle(shown, caller, body, context);
      return fields === undefined || isRefusal(answer) ? answer : writePart(operation, pick(answer, fields), body);
    };
    return {
      ...route,
      handle: (of, caller, body, context) => (caller.isStranger ? answerStranger : handle)(of, caller, body, context),
    };
  };
}

function pick(value: unknown, shown: Shown): unknown {
  if (Array.isArray(value)) return value.map((item) => pick(item, shown));
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).flatMap(([name, field]) => {
    const part = Object.hasOwn(shown, name) ? shown[name] : undefined;
    // A stranger's question makes no forecast, so that there may be none.
    if (part === undefined || (name === 'forecast' && field?.isBeingMade === true)) return [];
    return [[name, part === true ? field : pick(field, part)]];
  });
  return Object.fromEntries(fields);
}
