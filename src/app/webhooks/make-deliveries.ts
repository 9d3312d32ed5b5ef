import { hash } from 'node:crypto';
import { DAILY_DIGEST, V2_STATUS_CHANGED, WEBHOOK_TYPES } from '../../contract/events.ts';
import { PeriodicTask } from '../../lib/periodic.ts';
import type { FeedRow } from '../../storage/feed.ts';
import { wholeVersions } from '../../storage/feed-draft.ts';
import type { CursorMove, NewDelivery, Webhook } from '../../storage/webhooks.ts';
import type { App } from '../core/app.ts';
import { isRefusal } from '../core/refusal.ts';
import { expandTypes } from '../feed/list-events.ts';

/** After a round that failed. The store poller tells of webhooks that are behind. */
const POLL_MS = 60_000;
/** Every round is a commit, and moves the cursor of every webhook. */
const GATHER_MS = 50;
const PAGE = 500;
/** An endpoint with so many deliveries before their first attempt gets no more: in the feed they cost nothing. */
const WINDOW = 500;

/** Makes deliveries from new events. Every server does so; the cursor of a webhook decides who was first. */
// SPEC X20
export function createDeliveryMaker(app: App): PeriodicTask {
  return new PeriodicTask(app, {
    firstMs: 0,
    everyMs: POLL_MS,
    gatherMs: GATHER_MS,
    failure: 'could not make deliveries of webhooks',
    round: async (isStopped) => {
      while (!isStopped() && (await makeSome(app)));
    },
  });
}

/** Returns whether more can be made at once. */
export async function makeSome(app: App): Promise<boolean> {
  const { webhooks, feed } = app.store;
  const enabled = await webhooks.listEnabled();
  if (enabled.length === 0) return false;
  const untried = await webhooks.countUntried();
  const open = enabled.filter(({ id }) => (untried.get(id) ?? 0) < WINDOW);
  const moves: CursorMove[] = [];
  let hasMore = false;
  for (const [organizationId, those] of Map.groupBy(open, (webhook) => webhook.organizationId)) {
    // Read before the events: every event up to the head is then among them.
    const { lastSeq } = await feed.getHead(organizationId);
    // Webhooks that keep up are all at one place, and are served by one read.
    for (const [cursor, group] of Map.groupBy(those, (webhook) => webhook.cursor)) {
      if (cursor >= lastSeq) continue;
      const query = { organizationId, repositoryIds: null, order: 'ASC', afterSeq: cursor, limit: PAGE } as const;
      const page = await feed.list(query);
      const rows = page.length < PAGE ? page : wholeVersions(page);
      const to = page.length < PAGE ? Math.max(lastSeq, page.at(-1)?.seq ?? 0) : (rows.at(-1)?.seq ?? cursor);
      hasMore ||= page.length === PAGE;
      for (const webhook of group) {
        moves.push({ webhookId: webhook.id, from: cursor, to, deliveries: deliveriesFor(webhook, rows) });
      }
    }
  }
  await webhooks.move(moves, app.clock.now());
  if (moves.some(({ deliveries }) => deliveries.length > 0)) app.webhooks.signal.wake();
  return hasMore;
}

export function deliveriesFor(webhook: Webhook, rows: readonly FeedRow[]): readonly NewDelivery[] {
  const types = new Set(typesOf(webhook));
  const seen = rows.filter((row) => isInReach(webhook, row) && isAbout(webhook, row));
  if (webhook.format !== 'STANDARD') return gather(seen.filter(isToldToPeople)).map(deliver);
  return seen.flatMap((row) =>
    [row.type, ...(row.type === 'test_case.status_changed' ? [V2_STATUS_CHANGED] : [])]
      .filter((type) => types.has(type))
      .map((type) => deliver({ row, type })),
  );

  function deliver({ row, type = row.type, prNumbers = null }: Told): NewDelivery {
    const line = lineOf(webhook, row);
    // The same for the same event on every server and every attempt.
    const id = `msg_${hash('sha256', `${webhook.id} ${row.seq} ${type}`).slice(0, 32)}`;
    return { id, seq: row.seq, type, line, prNumbers };
  }

  /** The beginning of a batch is told once: when its commit is there, if events of batches were chosen. */
  function isToldToPeople(row: FeedRow): boolean {
    if (!types.has(row.type)) return false;
    const isTold = types.has('pull_request_batch.testing');
    if (row.type === 'pull_request_batch.submitted') return !isTold;
    return row.type !== 'pull_request.testing' || !isTold || runOf(row).isBatch !== true;
  }
}

interface Told {
  readonly row: FeedRow;
  readonly type?: string;
  readonly prNumbers?: readonly number[] | null;
}

export function typesOf({ types }: Pick<Webhook, 'types'>): readonly string[] {
  const expanded = expandTypes(types, WEBHOOK_TYPES);
  // A type that this version no longer has brings nothing.
  return isRefusal(expanded) ? types : expanded;
}

// SPEC X22
export function isInReach({ repositoryIds }: Pick<Webhook, 'repositoryIds'>, { repositoryId }: FeedRow): boolean {
  return repositoryIds === null || (repositoryIds as readonly (string | null)[]).includes(repositoryId);
}

/** Logins of forges have no case. */
// SPEC X57
function isAbout({ account }: Pick<Webhook, 'account'>, row: FeedRow): boolean {
  if (account === null || !row.type.startsWith('pull_request.')) return true;
  const author = (JSON.parse(row.body) as { readonly data: { readonly author?: string } }).data.author ?? '';
  return row.repo?.host === account.host && author.toLowerCase() === account.login.toLowerCase();
}

/** People read all messages of a queue in their order; programs those of a pull request. */
function lineOf({ format }: Webhook, { repositoryId, queueId, prNumber, testId }: FeedRow): string {
  if (format !== 'STANDARD' && queueId !== null) return `${repositoryId ?? ''} ${queueId}`;
  return `${repositoryId ?? ''} ${prNumber ?? testId ?? queueId ?? ''}`;
}

// SPEC X36, X48
function gather(rows: readonly FeedRow[]): readonly Told[] {
  const groups = Map.groupBy(rows, (row) => groupKey(row) ?? row);
  return [...groups.values()].map((group): Told => {
    const whole = group.find(({ type }) => type.startsWith('pull_request_batch.'));
    const [first] = group as [FeedRow];
    if (whole !== undefined || group.length === 1 || first.type === DAILY_DIGEST) return { row: whole ?? first };
    return { row: first, prNumbers: group.flatMap(({ prNumber }) => prNumber ?? []) };
  });
}

function groupKey(row: FeedRow): string | undefined {
  const { type, source, version } = row;
  if (type === DAILY_DIGEST) return `${source} ${version}`;
  const [, word] = /^(?:pull_request(?:_batch)?|landing)\.(\w+)$/.exec(type) ?? [];
  if (word === undefined) return undefined;
  const { isBatch, testRunId } = runOf(row);
  return isBatch === true || type === 'landing.recorded' ? `${source} ${version} ${word} ${testRunId}` : undefined;
}

function runOf({ body }: FeedRow): { readonly isBatch?: boolean; readonly testRunId?: string } {
  return (JSON.parse(body) as { readonly data: ReturnType<typeof runOf> }).data;
}
