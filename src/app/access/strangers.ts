import type { Candidate, Pass } from '../../engine/model/candidate.ts';
import type { Check } from '../../engine/model/check.ts';
import type { Because, Entry, Queue, StateChange } from '../../engine/model/queue.ts';
import { type IntMap, intMapOf, valuesOf } from '../../lib/int-map.ts';
import { memo } from '../../lib/memo.ts';
import { present } from '../../lib/present.ts';
import type { CandidateRow, EntryRow, QueueId, TransitionRow } from '../../storage/queues.ts';
import type { Repository } from '../../storage/repositories.ts';
import type { Store } from '../../storage/store.ts';
import { capitalize } from '../../words/phrases.ts';
import { changeText } from '../../words/reasons.ts';
import type { App } from '../core/app.ts';
import { Outages } from '../core/outages.ts';
import { decodeTransition } from '../core/queue-codec.ts';

/** Use cases run on a queue and a store without private facts. One that needs other parts of the store fails. */
// SPEC A44
export function appForStrangers(app: App): App {
  const { directory, queues } = app;
  const showPlace = <Place extends { readonly repository: Repository }>(place: Place | undefined) =>
    mapped(place, (each) => ({ ...each, repository: shownRepository(each.repository) }));
  const shown: Partial<App['directory']> = {
    findRepository: async (...of) => mapped(await directory.findRepository(...of), shownRepository),
    findRepositoryById: async (id) => mapped(await directory.findRepositoryById(id), shownRepository),
    listRepositories: async (id) => (await directory.listRepositories(id)).map(shownRepository),
    listQueueIds: (id) => directory.listQueueIds(id),
    findQueue: async (...of) => showPlace(await directory.findQueue(...of)),
    guessQueue: async (...of) => showPlace(await directory.guessQueue(...of)),
    forgetQueue: (...of) => directory.forgetQueue(...of),
  };
  const shownQueues: App['queues'] = Object.assign(Object.create(queues) as App['queues'], {
    find: async (id: QueueId) => {
      const loaded = await queues.find(id);
      return loaded && { ...loaded, queue: hidePrivate(loaded.queue) };
    },
  });
  return {
    ...app,
    // The object inherits methods that work on private fields, and fail without them.
    directory: Object.assign(Object.create(directory) as App['directory'], shown),
    queues: shownQueues,
    store: storeForStrangers(app.store),
    outages: new Outages(undefined, []),
    forecasts: {
      find: ({ id }) => app.forecasts.findMade(id),
      findMade: (id) => app.forecasts.findMade(id),
      retriesAt: () => undefined,
    },
  };
}

function storeForStrangers({ isShared, queues, queueRecords, feed }: Store): Store {
  const shown: Pick<Store, 'isShared'> & { [Part in keyof Store]?: Partial<Store[Part]> } = {
    isShared,
    alarms: { list: async () => [] },
    effects: { list: async () => [] },
    logs: { read: async () => undefined },
    testIngest: { findCheckResults: async () => undefined },
    feed: { getHead: (id) => feed.getHead(id), list: (query) => feed.list(query) },
    queues: {
      findDeleted: async () => undefined,
      findImpactedTargets: (...of) => queues.findImpactedTargets(...of),
    },
    queueRecords: {
      findEntry: async (id, prNumber) => mapped(await queueRecords.findEntry(id, prNumber), shownEntryRow),
      findEntries: async (id, prNumbers) => (await queueRecords.findEntries(id, prNumbers)).map(shownEntryRow),
      listEntries: async (query) => (await queueRecords.listEntries(query)).map(shownEntryRow),
      findCandidate: async (id, number) => mapped(await queueRecords.findCandidate(id, number), shownCandidateRow),
      findCandidateById: async (id) => mapped(await queueRecords.findCandidateById(id), shownCandidateRow),
      listTransitions: async (entryId) => (await queueRecords.listTransitions(entryId)).map(shownTransition),
      listConclusions: async (window) => (await queueRecords.listConclusions(window)).map(shownTransition),
      listCandidatesEnded: async (window) => (await queueRecords.listCandidatesEnded(window)).map(shownCandidateRow),
    },
  };
  return shown as Store;
}

function mapped<Row>(row: Row | undefined, map: (row: Row) => Row): Row | undefined {
  return row === undefined ? undefined : map(row);
}

/** Why the forge refuses the server is for its operators. */
function shownRepository(repository: Repository): Repository {
  return { ...repository, blockedReason: null, git: null, checks: [] };
}

/** Queues are immutable: strangers who look at the same one share one copy, and the replies made of it. */
const hidePrivate = memo((queue: Queue): Queue => {
  const { stateChange, entries, candidates, passes } = queue;
  return {
    ...queue,
    stateChange: stateChange && shownChange(stateChange),
    entries: mapValues(entries, shownEntry, ({ prNumber }) => prNumber),
    candidates: mapValues(candidates, shownCandidate, ({ number }) => number),
    passes: mapValues(passes, shownCandidate, ({ number }) => number),
  };
});

function shownChange({ reason: _, ...change }: StateChange): StateChange {
  return { ...change, by: 'an administrator' };
}

function mapValues<V>(map: IntMap<V>, change: (value: V) => V, keyOf: (value: V) => number): IntMap<V> {
  return intMapOf([...valuesOf(map)].map((value) => [keyOf(value), change(value)] as const));
}

function shownEntry(entry: Entry): Entry {
  const { landed } = entry;
  const { actor: _1, detail: _2, denied: _3, tests: _4, repeated, ...because } = entry.because;
  return {
    ...entry,
    because: { ...withoutTests(because), ...present({ repeated: repeated && { ...repeated, tests: [] } }) },
    removalAskedBy: undefined,
    landed: landed && withoutTests(landed),
  };
}

/** Which tests failed is for those who are signed in. */
function withoutTests<T extends Pick<Pass, 'waived' | 'excused'>>({ waived, excused, ...of }: T): T {
  const checksOf = (checks: Pass['waived']) => checks?.map(({ check }) => ({ check, tests: [] }));
  const shown = { ...of, ...present({ waived: checksOf(waived), excused: checksOf(excused) }) };
  return shown as unknown as T;
}

function shownCandidate(candidate: Candidate): Candidate {
  const { checks, failure, pass } = candidate;
  const { detail: _1, denied: _2, ...shownFailure } = failure ?? ({} as NonNullable<Candidate['failure']>);
  return {
    ...candidate,
    checks: checks.map(shownCheck),
    failure: failure && shownFailure,
    pass: pass && withoutTests(pass),
  };
}

/** A judgement that decides stays, without its tests. The CI reports any address, also one that is a secret. */
function shownCheck({ judgement, signature, ...check }: Check): Check {
  const shown = { ...check, summary: undefined, url: undefined, ...(signature && { signature: [] }) };
  if (judgement?.kind === 'awaited') return { ...shown, judgement };
  const decides = judgement?.isWaived === true || judgement?.isRepeat === true || check.conclusion === 'SUCCESS';
  if (judgement === undefined || judgement.isShadow || !decides) return shown;
  const reason = judgement.isWaived ? 'Only quarantined tests failed.' : 'Tests failed.';
  return { ...shown, judgement: { ...judgement, reason, tests: [], failing: 0 } };
}

function shownEntryRow(row: EntryRow): EntryRow {
  return { ...row, body: JSON.stringify(shownEntry(JSON.parse(row.body) as Entry)) };
}

function shownCandidateRow(row: CandidateRow): CandidateRow {
  return { ...row, body: JSON.stringify(shownCandidate(JSON.parse(row.body) as Candidate)) };
}

/** The stored sentence may name the one who did it, so it is made again. */
function shownTransition(row: TransitionRow): TransitionRow {
  const { reason, prNumber, checks, testRunId } = decodeTransition(row);
  const because = { reason, ...(prNumber && { prNumber }), ...(checks && { checks }) } as Because;
  const text = capitalize(changeText({ to: row.to, branch: 'the target branch', because }));
  const body = { ...because, text, ...(testRunId && { testRunId }) };
  return { ...row, body: JSON.stringify(body) };
}
