import type { ReplyOf, RequestOf } from '../../contract/operation.ts';
import type * as queuesContract from '../../contract/queues.ts';
import { formatInstant, type Instant } from '../../lib/clock.ts';
import { valuesOf } from '../../lib/int-map.ts';
import { present } from '../../lib/present.ts';
import {
  isOfEffect,
  isOfOutage,
  type PastFact,
  type PastPlace,
  REPOSITORY_FACT,
  type StandingQueue,
} from '../../storage/past.ts';
import type { QueueId, StoredEffect } from '../../storage/queues.ts';
import type { Repository } from '../../storage/repositories.ts';
import type { Store } from '../../storage/store.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import {
  type FoundQueue,
  findQueue,
  findRepository,
  formatRef,
  type QueueRef,
  queueNotFound,
} from '../core/find-queue.ts';
import { type Outage, Outages } from '../core/outages.ts';
import { decodeQueue } from '../core/queue-codec.ts';
import { type Answer, isRefusal, type Refusal, refuse, refuseField } from '../core/refusal.ts';

interface AsOf {
  readonly version: number;
  readonly event: string | null;
}

interface QueueAt extends QueueRef {
  /** Absent: now. */
  readonly at?: Instant;
}

type Describe<T> = (app: App, found: FoundQueue) => Answer<T>;

/** The past is the same code on another clock and on stored rows, so that both give the same answer. */
// SPEC Y2
export async function answerAt<T extends object>(
  app: App,
  caller: Caller,
  { repo, targetBranch, at }: QueueAt,
  { prNumber, describe }: { readonly prNumber?: number | undefined; readonly describe: Describe<T> },
): Answer<T | (T & { readonly asOf: AsOf })> {
  if (at === undefined) {
    const found = await findQueue(app, caller, { repo, targetBranch }, prNumber);
    return isRefusal(found) ? found : await describe(app, found);
  }
  const past = await findPast(app, caller, { repo, targetBranch, at });
  if (isRefusal(past)) return past;
  try {
    const answer = await describe(past.app, past.found);
    return isRefusal(answer) ? answer : { ...answer, asOf: past.asOf };
  } catch (error) {
    if (error instanceof NotKept) return notKept(`What pull request #${error.prNumber} was then`, error.since);
    throw error;
  }
}

interface Past {
  readonly app: App;
  readonly found: FoundQueue;
  readonly asOf: AsOf;
}

async function findPast(app: App, caller: Caller, ref: QueueRef & { readonly at: Instant }): Answer<Past> {
  const place = await findStanding(app, caller, ref);
  if (isRefusal(place)) return place;
  const { repository, queueId } = place;
  const { past, feed } = app.store;
  const loaded = await past.load(queueId, ref.at);
  const begin = loaded === undefined ? await past.findBegin(queueId) : undefined;
  if (loaded === undefined) return notKept(`The queue for branch "${ref.targetBranch}"`, begin?.at);
  const { version, snapshot, reading } = loaded;
  const event = await feed.findLatest(queueId, version);
  const queue = decodeQueue(snapshot);
  const ids = [...valuesOf(queue.entries)].map(({ id }) => id as string);
  const facts = await past.listFacts([queueId, repository.id, ...ids], ref.at);
  const found = {
    id: queueId,
    repositoryId: repository.id,
    version,
    queue,
    repository: repositoryAt(repository, facts),
  };
  const asOf = { version, event: event === undefined ? null : String(event) };
  return { app: appAt(app, { queueId, version, reading, at: ref.at, facts }), found, asOf };
}

// SPEC Y5, Y6
async function findStanding(
  app: App,
  caller: Caller,
  { repo, targetBranch, at }: QueueRef & { readonly at: Instant },
): Answer<{ readonly repository: Repository; readonly queueId: QueueId }> {
  const repository = await findRepository(app, caller, repo);
  if (isRefusal(repository)) return repository;
  const now = app.clock.now();
  if (at > now) return refuseField('/at', `must not be in the future: it is ${formatInstant(now)} here`);
  const all = await app.store.past.listStanding(repository.id, targetBranch);
  const stood = all.find(({ createdAt, deletedAt }) => createdAt <= at && (deletedAt === null || deletedAt > at));
  if (stood !== undefined) return { repository, queueId: stood.id };
  return all.length === 0 ? queueNotFound({ repo, targetBranch }) : stoodNot({ repo, targetBranch, at }, all);
}

function stoodNot(
  { repo, targetBranch, at }: QueueRef & { readonly at: Instant },
  all: readonly StandingQueue[],
): Refusal {
  const times = all
    .toReversed()
    .map(
      ({ createdAt, deletedAt }) =>
        `${formatInstant(createdAt)} to ${deletedAt === null ? 'now' : formatInstant(deletedAt)}`,
    );
  const where = `branch "${targetBranch}" of ${formatRef(repo)}`;
  return refuse(
    'QUEUE_NOT_FOUND',
    `There was no queue for ${where} at ${formatInstant(at)}. There was one from ${times.join(', ')}.`,
  );
}

function notKept(what: string, since: Instant | undefined): Refusal {
  const when =
    since === undefined
      ? 'The past of this queue is not kept yet: ask again in a minute.'
      : `The past of this queue is kept since ${formatInstant(since)}.`;
  return refuse('PAST_NOT_KEPT', `${what} is not kept any more. ${when}`);
}

class NotKept extends Error {
  readonly prNumber: number;
  readonly since: Instant | undefined;

  constructor(prNumber: number, since: Instant | undefined) {
    super(`pull request ${prNumber} is not kept`);
    this.prNumber = prNumber;
    this.since = since;
  }
}

interface Then extends PastPlace {
  readonly at: Instant;
  /** Of the queue, its repository and its live entries. */
  readonly facts: readonly PastFact[];
}

/** The repository as explanations named it then. */
function repositoryAt(repository: Repository, facts: readonly PastFact[]): Repository {
  const then = facts.find(({ key, subject }) => key === REPOSITORY_FACT && subject === repository.id);
  return then === undefined ? repository : { ...repository, ...(JSON.parse(then.body) as Partial<Repository>) };
}

/** The server as it was: its clock, and what the store said. Writing to it would change the present. */
function appAt(app: App, place: Then): App {
  const { clock, store } = app;
  const known = place.facts
    .filter(isOfOutage)
    .map(({ subject, body }) => [subject, JSON.parse(body) as Outage] as const);
  return {
    ...app,
    clock: { now: () => place.at, after: (ms, act) => clock.after(ms, act) },
    store: storeAt(store, place),
    outages: new Outages(undefined, known),
  };
}

function storeAt(store: Store, place: Then): Store {
  const { at } = place;
  return {
    ...store,
    queues: {
      ...store.queues,
      findImpactedTargets: (_, prNumber, sha) => store.past.findImpactedTargets(place, prNumber, sha),
    },
    queueRecords: queueRecordsAt(store, place),
    effects: { ...store.effects, list: async () => effectsAt(place.facts) },
    alarms: {
      ...store.alarms,
      list: async (queueIds, since, limit) => {
        const alarms = await store.alarms.list(queueIds, since, limit, at);
        return alarms.map((alarm) =>
          alarm.endedAt === null || alarm.endedAt <= at ? alarm : { ...alarm, endedAt: null },
        );
      },
    },
  };
}

function queueRecordsAt({ queueRecords, past }: Store, place: Then): Store['queueRecords'] {
  const { queueId, version } = place;
  const findEntries = async (prNumbers: readonly number[]) => {
    const { rows, lost } = await past.findEntries(place, prNumbers);
    if (lost[0] !== undefined) throw new NotKept(lost[0], (await past.findBegin(queueId))?.at);
    return rows;
  };
  return {
    ...queueRecords,
    findEntry: async (_, prNumber) => (await findEntries([prNumber]))[0],
    findEntries: (_, prNumbers) => findEntries(prNumbers),
    findCandidate: (_, number) => past.findCandidate(place, number),
    findCandidateById: async (id) => {
      const row = await queueRecords.findCandidateById(id);
      return row?.queueId === queueId ? past.findCandidate(place, row.number) : undefined;
    },
    listTransitions: async (entryId) =>
      (await queueRecords.listTransitions(entryId)).filter((transition) => transition.version <= version),
  };
}

/** Effects that had failed by then, in the order in which they were asked for. */
function effectsAt(facts: readonly PastFact[]): readonly StoredEffect[] {
  const effects = facts.filter(isOfEffect).map(({ body }) => JSON.parse(body) as StoredEffect);
  const placeOf = ({ id }: StoredEffect) => id.split('/').slice(1).map(Number);
  return effects.toSorted((a, b) => {
    const [version = 0, ordinal = 0] = placeOf(a);
    const [otherVersion = 0, otherOrdinal = 0] = placeOf(b);
    return version - otherVersion || ordinal - otherOrdinal;
  });
}

// SPEC Y10
export async function listQueueMoments(
  app: App,
  caller: Caller,
  { repo, targetBranch, after, before, cursor, limit = 50 }: RequestOf<typeof queuesContract.listQueueMoments>,
): Answer<ReplyOf<typeof queuesContract.listQueueMoments>> {
  if (after !== undefined && before !== undefined && after > before) {
    return refuseField('/after', 'must not be later than before');
  }
  const now = app.clock.now();
  const place = await findStanding(app, caller, { repo, targetBranch, at: Math.min(before ?? now, now) });
  if (isRefusal(place)) return place;
  const { queueId } = place;
  const window = present({ from: after, until: before, afterVersion: cursor });
  const moments = await app.store.past.listMoments({ queueId, ...window, limit: limit + 1 });
  const page = moments.slice(0, limit);
  const begin = await app.store.past.findBegin(queueId);
  return {
    moments: page.map(({ at, version }) => ({ at: formatInstant(at), version })),
    ...present({ since: begin && formatInstant(begin.at) }),
    ...(moments.length > limit ? { nextCursor: `${page.at(-1)?.version}` } : {}),
  };
}
