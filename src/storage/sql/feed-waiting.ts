import type { OrganizationId } from '../accounts.ts';
import type { FeedHead, Seal } from '../feed.ts';
import type { FeedDraft } from '../feed-draft.ts';
import type { RepositoryRef } from '../repositories.ts';
import { rowsOf } from './columns.ts';
import { feedChangeStatements, takeChanges, toWaitingChange, type WaitingChange } from './feed-changes.ts';
import { all, allOf, executeAll, first, type Operation, run } from './operation.ts';
import { FEED_EVENT, FEED_PLACE } from './queue-tables.ts';
import type { Schema } from './schema.ts';
import { type Call, callOf, type StatementCompiler } from './statement.ts';

export const placed = rowsOf({ ...FEED_EVENT, ...FEED_PLACE });

/** A row that waits has so many events at most: more than one commit of a queue has, but few enough for one transaction. */
const ROW_EVENTS = 500;

/** Inserts events in the transaction in which they happen: all of a source as one row. Those of queues are in `queue_changes`. */
export function feedInserts(compiler: StatementCompiler): (rows: readonly FeedDraft[]) => Call[] {
  const insert = compiler.insert('feed_waiting');
  return (drafts) => (drafts.length === 0 ? [] : insert(waitingRows(drafts)));
}

function waitingRows(drafts: readonly FeedDraft[]): Schema['feed_waiting'][] {
  return [...Map.groupBy(drafts, ({ source }) => source).values()].flatMap((ofSource) => {
    const { source, version, organizationId, repositoryId } = ofSource[0] as FeedDraft;
    const of = { source, version, organization_id: organizationId, repository_id: repositoryId };
    return Array.from({ length: Math.ceil(ofSource.length / ROW_EVENTS) }, (_, part) => {
      const events = ofSource.slice(part * ROW_EVENTS, (part + 1) * ROW_EVENTS);
      return { ...of, part, size: events.length, events: JSON.stringify(events.map(differing)) };
    });
  });
}

/** The fields in which an event differs from the one before it. */
function differing(event: FeedDraft, index: number, events: readonly FeedDraft[]): Partial<FeedDraft> {
  const before = events[index - 1];
  if (before === undefined) return event;
  const fields: Partial<Record<keyof FeedDraft, unknown>> = {};
  let name: keyof FeedDraft;
  for (name in event) if (event[name] !== before[name]) fields[name] = event[name];
  return fields as Partial<FeedDraft>;
}

function parseEvents(text: string): readonly FeedDraft[] {
  let event = {} as FeedDraft;
  return (JSON.parse(text) as Partial<FeedDraft>[]).map((changed) => {
    event = { ...event, ...changed };
    return event;
  });
}

type SequenceStatements = ReturnType<typeof sequenceStatements>;
type WaitingRow = Pick<Schema['feed_waiting'], 'source' | 'version' | 'part'>;

/** Events that wait together, in a row of their own or with a commit. */
interface Waiting {
  readonly organizationId: string | null;
  readonly size: number;
  readonly row?: WaitingRow;
  readonly change?: WaitingChange;
}

export const EMPTY_HEAD: FeedHead = { lastSeq: 0, digest: null };

export function toHead({ last_seq, digest }: Schema['feed_heads']): FeedHead {
  return { lastSeq: last_seq, digest };
}

// SPEC X2
export function* sequence(
  statements: SequenceStatements,
  { seal, limit }: { readonly seal: Seal; readonly limit: number },
): Operation<readonly OrganizationId[]> {
  const waiting = upTo(limit, yield* listWaiting(statements, limit));
  const byOrganization = Map.groupBy(waiting, ({ organizationId }) => organizationId);
  // Its repository was removed while it was stored, so that no one may see it.
  yield* takeEvents(statements, byOrganization.get(null) ?? []);
  // In one order, so that two servers never wait for each other.
  const organizations = [...byOrganization.keys()].filter((id) => id !== null).sort();
  for (const organizationId of organizations) {
    yield* run(statements.ensureHead, { organizationId });
    const head = yield* first(statements.lockHead, { organizationId });
    const events = yield* takeEvents(statements, byOrganization.get(organizationId) ?? []);
    const names = yield* namesOf(statements, events);
    const from = head === undefined ? EMPTY_HEAD : toHead(head);
    yield* executeAll(placeCalls(statements, { organizationId, head: from, events, names, seal }));
  }
  return organizations as OrganizationId[];
}

/** Rows of their own come first: an earlier version of Sluice kept those of queues there, too. */
function* listWaiting(statements: SequenceStatements, limit: number): Operation<readonly Waiting[]> {
  const rows = yield* all(statements.listWaiting, { limit });
  const changes = yield* all(statements.listChanges, { limit });
  return [
    ...rows.map(({ organization_id, of_repository, size, ...row }) => ({
      organizationId: organization_id ?? of_repository,
      size,
      row,
    })),
    ...changes.map(toWaitingChange).map((change) => ({
      organizationId: change.organizationId,
      size: change.events.length,
      change,
    })),
  ];
}

/** The first ones with no more events than the limit, and at least one. */
function upTo(limit: number, waiting: readonly Waiting[]): readonly Waiting[] {
  let events = 0;
  return waiting.filter(({ size }, index) => {
    events += size;
    return index === 0 || events <= limit;
  });
}

/** Another server may have given some of them places while this one waited for the lock: these are gone. */
function* takeEvents(statements: SequenceStatements, waiting: readonly Waiting[]): Operation<readonly FeedDraft[]> {
  const taken = yield* allOf(waiting.flatMap(({ row }) => row ?? []).map((row) => callOf(statements.take, row)));
  const ofChanges = yield* takeChanges(
    statements,
    waiting.flatMap(({ change }) => change ?? []),
  );
  return inOrder([...taken.flatMap(({ events }) => parseEvents(events)), ...ofChanges]);
}

/** By time, but never against the order of a source: a clock may go back. */
function inOrder(events: readonly FeedDraft[]): readonly FeedDraft[] {
  const latest = new Map<string, number>();
  const timed = events.map((event) => {
    const at = Math.max(event.at, latest.get(event.source) ?? event.at);
    latest.set(event.source, at);
    return { event, at };
  });
  return timed.sort((a, b) => a.at - b.at).map(({ event }) => event);
}

/** The names that the repositories of these events have now. */
function* namesOf(
  statements: SequenceStatements,
  events: readonly FeedDraft[],
): Operation<ReadonlyMap<string | null, RepositoryRef>> {
  const ids = new Set(events.flatMap(({ repositoryId }) => repositoryId ?? []));
  const rows = yield* allOf(statements.listNames({}, [...ids]));
  return new Map(rows.map(({ id, ...name }) => [id, name]));
}

interface Placing {
  readonly organizationId: string;
  readonly head: FeedHead;
  readonly events: readonly FeedDraft[];
  readonly names: ReadonlyMap<string | null, RepositoryRef>;
  readonly seal: Seal;
}

function placeCalls(statements: SequenceStatements, placing: Placing): readonly Call[] {
  const { head, events, names, seal } = placing;
  const organizationId = placing.organizationId as OrganizationId;
  let { lastSeq, digest } = head;
  const places = events.map((event) => {
    lastSeq += 1;
    const unsealed = { ...event, organizationId, repo: names.get(event.repositoryId) ?? null, seq: lastSeq };
    const own = seal(unsealed, digest);
    digest = own ?? digest;
    return placed.from({ ...unsealed, digest: own });
  });
  if (events.length === 0) return [];
  return [...statements.insertPlaced(places), callOf(statements.moveHead, { organizationId, lastSeq, digest })];
}

export function sequenceStatements(compiler: StatementCompiler) {
  const { sql, sqlOfMany } = compiler;
  return {
    ...feedChangeStatements(compiler),
    ensureHead: sql(`
      insert into feed_heads (organization_id, last_seq, digest) values (:organizationId, 0, null)
      on conflict (organization_id) do nothing`),
    findHead: sql('select * from feed_heads where organization_id = :organizationId'),
    lockHead: sql('select * from feed_heads where organization_id = :organizationId for update'),
    moveHead: sql(
      'update feed_heads set last_seq = :lastSeq, digest = :digest where organization_id = :organizationId',
    ),
    insertPlaced: compiler.insert('feed'),
    listWaiting: sql(`
      select source, version, part, size, feed_waiting.organization_id, repositories.organization_id as of_repository
      from feed_waiting left join repositories on repositories.id = feed_waiting.repository_id
      order by source, version, part limit :limit`),
    listNames: sqlOfMany('select id, host, owner, name from repositories where id in (:items)'),
    take: sql(`
      delete from feed_waiting where source = :source and version = :version and part = :part returning events`),
  };
}
