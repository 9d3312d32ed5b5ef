import { DAILY_DIGEST } from '../../contract/events.ts';
import type { FeedRow } from '../../storage/feed.ts';
import type { Repository, RepositoryId } from '../../storage/repositories.ts';
import type { Webhook } from '../../storage/webhooks.ts';
import type { App } from '../core/app.ts';
import { type FeedEvent, viewEvent } from '../core/feed-event.ts';
import { testLink } from '../tests/test-view.ts';
import { chatMessage, type Message, type Section } from './chat-message.ts';
import { byOwner, type DigestTest, type Group, type OwnerDigest, sayCounts } from './daily-digest.ts';
import { isInReach } from './make-deliveries.ts';

/** Slack takes 50 blocks of 3,000 characters, Teams 28 KB. */
const MAX_SECTIONS = 20;
const MAX_LINES = 40;
const MAX_LINES_OF_OWNER = 8;
const MAX_NAME = 100;
/** More repositories than one organization has with news on one day. */
const MAX_REPOSITORIES = 1_000;

interface RepositoryDigest {
  readonly repositoryId: RepositoryId;
  readonly event: FeedEvent;
}

// SPEC X48
export async function digestMessage(app: App, webhook: Webhook, { organizationId, at }: FeedRow): Promise<Message> {
  const query = { organizationId, repositoryIds: webhook.repositoryIds, types: [DAILY_DIGEST], from: at, until: at };
  const rows = await app.store.feed.list({ ...query, order: 'ASC', limit: MAX_REPOSITORIES });
  const digests = rows
    .filter((row) => isInReach(webhook, row))
    .map((row) => ({ repositoryId: row.repositoryId as RepositoryId, event: viewEvent(row) }));
  const [only] = digests;
  const linkOf = await testLinks(app, webhook);
  const message = chatMessage((only as RepositoryDigest).event, null);
  const sections = toSections(digests, linkOf);
  if (digests.length === 1) return { ...message, sections };
  return { ...message, where: `${digests.length} repositories`, sentence: sayCounts(countAll(digests)), sections };
}

type LinkOf = (repositoryId: RepositoryId, testId: string) => string | undefined;

/** A server that does not know its own address has no links. */
async function testLinks({ publicUrl, store }: App, { organizationId }: Webhook): Promise<LinkOf> {
  const organization = await store.accounts.findOrganizationById(organizationId);
  if (publicUrl === undefined || organization === undefined) return () => undefined;
  const repositories = new Map<string, Repository>();
  for (const repository of await store.repositories.list(organizationId)) repositories.set(repository.id, repository);
  const links = { baseUrl: publicUrl, orgSlug: organization.slug };
  return (repositoryId, testId) => {
    const repository = repositories.get(repositoryId);
    return repository && testLink(testId, repository, links);
  };
}

function countAll(digests: readonly RepositoryDigest[]): Record<Group, number> {
  const counts = { flaky: 0, broken: 0, expiring: 0 };
  for (const { event } of digests) {
    const own = event.data['counts'] as typeof counts;
    for (const group of ['flaky', 'broken', 'expiring'] as const) counts[group] += own[group];
  }
  return counts;
}

/** By owner, so that the repositories of one owner follow each other. */
function toSections(digests: readonly RepositoryDigest[], linkOf: LinkOf): readonly Section[] {
  const owned = digests.flatMap((digest) =>
    (digest.event.data['owners'] as readonly OwnerDigest[]).map((own) => ({ digest, own })),
  );
  const sorted = owned.sort((a, b) => byOwner(a.own, b.own));
  let left = MAX_LINES;
  const sections = sorted.slice(0, MAX_SECTIONS).map(({ digest, own }): Section => {
    const { repo } = digest.event;
    const where = digests.length === 1 || repo === undefined ? '' : ` in ${repo.owner}/${repo.name}`;
    const all = linesOf(own, (testId) => linkOf(digest.repositoryId, testId));
    const lines = all.slice(0, Math.min(MAX_LINES_OF_OWNER, Math.max(1, left)));
    left -= lines.length;
    const total = own.counts.flaky + own.counts.broken + own.counts.expiring;
    const more = total > lines.length ? [{ text: `and ${total - lines.length} more` }] : [];
    return { title: `${own.owner ?? 'Without a code owner'}${where}`, lines: [...lines, ...more] };
  });
  const omitted = sorted.length - sections.length;
  return omitted === 0 ? sections : [...sections, { title: `and ${omitted} more code owners`, lines: [] }];
}

function linesOf({ flaky, broken, expiring }: OwnerDigest, linkOf: (testId: string) => string | undefined) {
  const line = ({ testId, name }: DigestTest, what: string) => {
    const short = name.length > MAX_NAME ? `${name.slice(0, MAX_NAME - 1)}…` : name;
    return { text: `${what}: ${short}`, url: linkOf(testId) };
  };
  return [
    ...broken.map((test) => line(test, 'Broken')),
    ...flaky.map((test) => line(test, 'Flaky')),
    ...expiring.map((test) => line(test, `Quarantine ends ${sayTime(test.expiresAt)}`)),
  ];
}

/** `2026-11-18 09:00 UTC` */
function sayTime(instant = ''): string {
  return `${instant.slice(0, 16).replace('T', ' ')} UTC`;
}
