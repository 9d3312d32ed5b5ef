import { DAILY_DIGEST } from '../../contract/events.ts';
import { formatInstant, type Instant } from '../../lib/clock.ts';
import { PeriodicTask } from '../../lib/periodic.ts';
import { present } from '../../lib/present.ts';
import type { OrganizationId } from '../../storage/accounts.ts';
import type { FeedDraft } from '../../storage/feed-draft.ts';
import type { Repository, RepositoryId } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';
import { SLUICE } from '../core/feed-event.ts';
import { typesOf } from './make-deliveries.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** In UTC: the beginning of a day's work in Europe, and the end of the night in America. */
const HOUR_OF_DAY = 7;
const FIRST_MS = 10_000;
const PAGE = 500;
/** A disaster breaks thousands of tests. The counts tell of all, the lists of the first. */
const MAX_LISTED = 20;

export type Group = 'flaky' | 'broken' | 'expiring';

export interface DigestTest {
  readonly testId: string;
  readonly name: string;
  /** The end of its quarantine. */
  readonly expiresAt?: string;
}

/** The tests of one code owner; null: of none. */
export interface OwnerDigest extends Readonly<Record<Group, readonly DigestTest[]>> {
  readonly owner: string | null;
  readonly counts: Readonly<Record<Group, number>>;
}

interface Found extends DigestTest {
  readonly repositoryId: string;
  readonly codeowners: readonly string[];
  readonly group: Group;
}

/** Every server does so; the store decides who was first. A server that was off at that hour does so after its start. */
export function createDigestRounds(app: App): PeriodicTask {
  let toldAt: Instant | undefined;
  return new PeriodicTask(app, {
    firstMs: FIRST_MS,
    everyMs: () => Math.min(HOUR_MS, digestTime(app.clock.now()) + DAY_MS - app.clock.now()),
    failure: 'could not make the daily digest',
    round: async () => {
      const at = digestTime(app.clock.now());
      if (at === toldAt) return;
      await makeDigests(app, at);
      toldAt = at;
    },
  });
}

function digestTime(now: Instant): Instant {
  return Math.floor((now - HOUR_OF_DAY * HOUR_MS) / DAY_MS) * DAY_MS + HOUR_OF_DAY * HOUR_MS;
}

// SPEC X47
async function makeDigests(app: App, at: Instant): Promise<void> {
  const enabled = await app.store.webhooks.listEnabled();
  const asking = enabled.filter((webhook) => webhook.createdAt <= at && typesOf(webhook).includes(DAILY_DIGEST));
  for (const organizationId of new Set(asking.map((webhook) => webhook.organizationId))) {
    await app.store.feed.addOnce(organizationId, await digestsOf(app, organizationId, at));
  }
  app.feed.wake();
}

/** One event for each repository that has something to tell, so that each token and webhook sees its own. */
async function digestsOf(app: App, organizationId: OrganizationId, at: Instant): Promise<readonly FeedDraft[]> {
  const repositories = await app.store.repositories.list(organizationId);
  const found = await findChanged(app, organizationId, at);
  for (const repository of repositories) found.push(...(await findExpiring(app, repository, at)));
  const byRepository = Map.groupBy(found, ({ repositoryId }) => repositoryId);
  const telling = repositories.filter(({ id }) => byRepository.has(id));
  return telling.map(({ id }, ordinal) => {
    const tests = byRepository.get(id) ?? [];
    const counts = countTests(tests);
    const body = { actor: SLUICE, text: sayCounts(counts), data: { counts, owners: groupByOwner(tests) } };
    const nowhere = { queueId: null, targetBranch: null, prNumber: null, testId: null };
    const named = { source: `digest/${organizationId}`, version: Math.floor(at / DAY_MS), ordinal };
    const place = { organizationId, repositoryId: id, ...nowhere };
    return { ...named, at, type: DAILY_DIGEST, ...place, body: JSON.stringify(body) };
  });
}

interface StatusChange {
  readonly name: string | null;
  readonly codeowners: readonly string[];
  readonly from: string;
  readonly to: string;
}

/** Tests that the day left flaky or broken, and that were not so before it. */
async function findChanged(app: App, organizationId: OrganizationId, at: Instant): Promise<Found[]> {
  const latest = new Map<string, Found>();
  const before = new Map<string, string>();
  const query = { organizationId, repositoryIds: null, types: ['test_case.status_changed'], order: 'ASC' } as const;
  for (let afterSeq = 0; ; ) {
    const window = { from: at - DAY_MS, until: at - 1, afterSeq, limit: PAGE };
    const rows = await app.store.feed.list({ ...query, ...window });
    for (const { testId, repositoryId, body } of rows) {
      const { name, codeowners, from, to } = (JSON.parse(body) as { readonly data: StatusChange }).data;
      if (testId === null || repositoryId === null) continue;
      if (!before.has(testId)) before.set(testId, from);
      if (to === before.get(testId) || to === 'HEALTHY') latest.delete(testId);
      else
        latest.set(testId, {
          testId,
          name: name ?? testId,
          repositoryId,
          codeowners,
          group: to === 'BROKEN' ? 'broken' : 'flaky',
        });
    }
    if (rows.length < PAGE) return [...latest.values()];
    afterSeq = rows.at(-1)?.seq ?? afterSeq;
  }
}

async function findExpiring(app: App, { id }: Repository, at: Instant): Promise<readonly Found[]> {
  const watermark = await app.store.tests.getWatermark(id);
  const found: Found[] = [];
  for (let offset = 0; ; offset += PAGE) {
    const query = { repositoryId: id as RepositoryId, watermark, offset, limit: PAGE };
    const { tests } = await app.store.tests.listQuarantined(query);
    for (const { id: testId, name, codeowners, override, repositoryId } of tests) {
      const expiresAt = override?.expiresAt ?? null;
      if (expiresAt === null || expiresAt <= at || expiresAt > at + DAY_MS) continue;
      found.push({ testId, name, repositoryId, codeowners, group: 'expiring', expiresAt: formatInstant(expiresAt) });
    }
    if (tests.length < PAGE) return found;
  }
}

function countTests(tests: readonly Found[]): Record<Group, number> {
  const counts = { flaky: 0, broken: 0, expiring: 0 };
  for (const { group } of tests) counts[group] += 1;
  return counts;
}

function groupByOwner(tests: readonly Found[]): readonly OwnerDigest[] {
  const owned = tests.flatMap((test) =>
    (test.codeowners.length === 0 ? [null] : test.codeowners).map((owner) => ({ owner, test })),
  );
  const digests = [...Map.groupBy(owned, ({ owner }) => owner)].map(([owner, those]): OwnerDigest => {
    const own = those.map(({ test }) => test);
    const list = (group: Group) =>
      own
        .filter((test) => test.group === group)
        .slice(0, MAX_LISTED)
        .map(({ testId, name, expiresAt }) => ({ testId, name, ...present({ expiresAt }) }));
    const lists = { flaky: list('flaky'), broken: list('broken'), expiring: list('expiring') };
    return { owner, counts: countTests(own), ...lists };
  });
  return digests.sort(byOwner);
}

/** Tests without an owner come last. */
export function byOwner({ owner: a }: OwnerDigest, { owner: b }: OwnerDigest): number {
  if (a === b) return 0;
  return b === null || (a !== null && a < b) ? -1 : 1;
}

/** `3 tests became flaky, 1 test became broken, and the quarantine of 2 tests ends within a day.` */
export function sayCounts({ flaky, broken, expiring }: Readonly<Record<Group, number>>): string {
  const tests = (count: number) => (count === 1 ? '1 test' : `${count} tests`);
  const parts = [
    ...(flaky === 0 ? [] : [`${tests(flaky)} became flaky`]),
    ...(broken === 0 ? [] : [`${tests(broken)} became broken`]),
    ...(expiring === 0 ? [] : [`the quarantine of ${tests(expiring)} ends within a day`]),
  ];
  const sentence = parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')}, and ${parts.at(-1)}`;
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`;
}
