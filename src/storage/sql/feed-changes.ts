import type { FeedDraft } from '../feed-draft.ts';
import { all, allOf, type Operation } from './operation.ts';
import { callOf, type StatementCompiler } from './statement.ts';

/** The queue whose commit it is: its row says what all events of a commit have in common. */
interface Place {
  readonly queueId: string;
  readonly repositoryId: string;
  readonly targetBranch: string;
}

/** A line for each, with tabs in between, which JSON does not contain. */
export function encodeFeed(drafts: readonly FeedDraft[]): string | null {
  if (drafts.length === 0) return null;
  return drafts
    .map(({ version, ordinal, at, prNumber, type, body }) =>
      [version, ordinal, at, prNumber ?? '', type, body].join('\t'),
    )
    .join('\n');
}

export function decodeFeed(lines: string, { queueId, repositoryId, targetBranch }: Place): readonly FeedDraft[] {
  const of = { source: queueId, organizationId: null, repositoryId, queueId, targetBranch, testId: null };
  return lines.split('\n').map((line) => {
    const [version, ordinal, at, prNumber, type = '', body = ''] = line.split('\t');
    return {
      ...of,
      version: Number(version),
      ordinal: Number(ordinal),
      at: Number(at),
      prNumber: prNumber === '' ? null : Number(prNumber),
      type,
      body,
    };
  });
}

type ChangeStatements = ReturnType<typeof feedChangeStatements>;
type ListedChange = NonNullable<ChangeStatements['listChanges']['row']>;

/** The events of a commit that have no place yet. */
export interface WaitingChange {
  readonly organizationId: string;
  readonly queueId: string;
  readonly version: number;
  readonly events: readonly FeedDraft[];
}

export function toWaitingChange(row: ListedChange): WaitingChange {
  const { queue_id: queueId, version, organization_id: organizationId } = row;
  const place = { queueId, repositoryId: row.repository_id, targetBranch: row.branch };
  return { organizationId, queueId, version, events: decodeFeed(row.feed ?? '', place) };
}

/** One update for each queue: its changes are a prefix of those that wait. Another server may have taken some of them. */
export function* takeChanges(
  statements: ChangeStatements,
  changes: readonly WaitingChange[],
): Operation<readonly FeedDraft[]> {
  const last = new Map(changes.map(({ queueId, version }) => [queueId, version]));
  const calls = [...last].map(([queueId, version]) => callOf(statements.clearChanges, { queueId, version }));
  const keyOf = (queueId: string, version: number) => `${queueId} ${version}`;
  const taken = new Set((yield* allOf(calls)).map(({ queue_id, version }) => keyOf(queue_id, version)));
  return changes.flatMap(({ queueId, version, events }) => (taken.has(keyOf(queueId, version)) ? events : []));
}

/** Takes the events of a repository that is about to be removed, with its queues. */
export function* takeOfRepository(
  statements: RepositoryChangeStatements,
  repositoryId: string,
): Operation<readonly FeedDraft[]> {
  const events: FeedDraft[] = [];
  for (const { id: queueId, branch: targetBranch } of yield* all(statements.listQueues, { repositoryId })) {
    const changes = yield* all(statements.takeChanges, { queueId });
    const lines = changes.toSorted((a, b) => a.version - b.version).flatMap(({ feed }) => feed ?? []);
    events.push(...lines.flatMap((each) => decodeFeed(each, { queueId, repositoryId, targetBranch })));
  }
  return events;
}

type RepositoryChangeStatements = ReturnType<typeof repositoryChangeStatements>;

export function repositoryChangeStatements({ sql }: StatementCompiler) {
  return {
    listQueues: sql('select id, branch from queues where repository_id = :repositoryId'),
    takeChanges: sql(
      'delete from queue_changes where queue_id = :queueId and feed is not null returning version, feed',
    ),
  };
}

export function feedChangeStatements({ sql }: StatementCompiler) {
  return {
    listChanges: sql(`
      select queue_id, queue_changes.version, feed, repository_id, branch, organization_id from queue_changes
      join queues on queues.id = queue_changes.queue_id join repositories on repositories.id = queues.repository_id
      where feed is not null order by queue_id, queue_changes.version limit :limit`),
    clearChanges: sql(`
      update queue_changes set feed = null where queue_id = :queueId and version <= :version and feed is not null
      returning queue_id, version`),
  };
}
