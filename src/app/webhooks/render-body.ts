import { DAILY_DIGEST } from '../../contract/events.ts';
import type { PrNumber } from '../../engine/model/pull-request.ts';
import type { FeedRow } from '../../storage/feed.ts';
import type { RepositoryId } from '../../storage/repositories.ts';
import type { Delivery, Webhook } from '../../storage/webhooks.ts';
import type { App } from '../core/app.ts';
import { type FeedEvent, viewEvent } from '../core/feed-event.ts';
import { findPageLink } from '../core/page-link.ts';
import { viewTests } from '../tests/test-view.ts';
import { chatBody, chatMessage } from './chat-message.ts';
import { digestMessage } from './digest-message.ts';
import { type BodyFacts, standardBody } from './standard-body.ts';

interface Rendered {
  readonly event: FeedRow;
  readonly delivery: Pick<Delivery, 'type' | 'prNumbers'>;
}

/** Undefined if the event is about something that is gone. */
export async function renderBody(
  app: App,
  webhook: Webhook,
  { event: row, delivery }: Rendered,
): Promise<object | undefined> {
  const event = viewEvent(row);
  if (webhook.format !== 'STANDARD') {
    const message =
      row.type === DAILY_DIGEST ? await digestMessage(app, webhook, row) : chatMessage(event, delivery.prNumbers);
    return chatBody(webhook.format, message);
  }
  const test = delivery.type.includes('test_case.') ? await findTest(app, row) : undefined;
  if (test === undefined && delivery.type.includes('test_case.')) return undefined;
  return standardBody(delivery.type, event, {
    detailsUrl: await findDetailsUrl(app, row, event),
    testBranch: testBranchOf(app, event),
    test,
  });
}

// SPEC X52
async function findDetailsUrl(app: App, { organizationId }: FeedRow, event: FeedEvent): Promise<string> {
  const { data, repo, prNumber = 0, targetBranch: branch = '' } = event;
  if (typeof data['url'] === 'string' && URL.canParse(data['url'])) return data['url'];
  // Receivers need an address even of a server that does not know its own.
  const { publicUrl = NOWHERE } = app;
  if (repo === undefined) return publicUrl;
  const link = await findPageLink({ ...app, publicUrl }, { repository: { organizationId, ...repo }, branch, prNumber });
  return link ?? publicUrl;
}

const NOWHERE = 'http://localhost';

function testBranchOf({ forges }: App, { data, repo, candidateId }: FeedEvent): string | undefined {
  const forge = repo && forges.get(repo.host);
  if (forge === undefined || candidateId === undefined) return undefined;
  const prNumber = data['namedFor'] as PrNumber | undefined;
  const isBisection = data['isBisection'] === true;
  const isProbe = data['isProbe'] === true && { isProbe: true as const };
  return forge.testBranchOf({ candidateId, isBisection, prNumber, ...isProbe });
}

async function findTest(app: App, { repositoryId, testId }: FeedRow): Promise<BodyFacts['test']> {
  if (repositoryId === null || testId === null) return undefined;
  const repository = await app.directory.findRepositoryById(repositoryId as RepositoryId);
  const { known } = await app.store.testIngest.load(repositoryId as RepositoryId, [testId]);
  const organization = repository && (await app.store.accounts.findOrganizationById(repository.organizationId));
  if (repository === undefined || organization === undefined) return undefined;
  const links = { baseUrl: app.publicUrl ?? NOWHERE, orgSlug: organization.slug };
  const [view] = await viewTests(app, { repository, tests: known.map(({ test }) => test), links });
  return view && { view, repositoryId };
}
