import type { FeedDraft } from '../../storage/feed-draft.ts';
import type { RepositoryRef } from '../../storage/repositories.ts';
import type { App } from './app.ts';
import type { EventBody } from './feed-event.ts';
import { formatRef } from './find-queue.ts';

/** The same sentences as in the feed. Only the server that stored a commit is told of it. */
// SPEC N20
export function keepOperatorLog(app: App): void {
  app.queues.listen(({ repositoryId }, { feed }) => {
    const notable = feed.filter(isNotable);
    // Most commits have nothing for this log, and the repository of those need not be read.
    if (notable.length === 0) return;
    const found = app.directory.findRepositoryById(repositoryId).catch(() => undefined);
    void found.then((repository) => logEvents(app, repository && formatRef(repository), notable));
  });
}

const NOTABLE = /^queue\.|^pull_request\.(?:merged|failed|canceled|queued)$/;

export function isNotable(draft: FeedDraft): boolean {
  if (!NOTABLE.test(draft.type)) return false;
  if (draft.type !== 'pull_request.queued') return true;
  return ['TARGET_BRANCH_AT_FAULT', 'FAILED_TESTS_FLAKY'].includes(String(bodyOf(draft).data['reason']));
}

function bodyOf({ body }: FeedDraft): EventBody {
  return JSON.parse(body) as EventBody;
}

// SPEC N21
export function logQueueAct(app: App, repository: RepositoryRef, feed: readonly FeedDraft[]): void {
  logEvents(app, formatRef(repository), feed);
}

function logEvents({ log }: App, repository: string | undefined, feed: readonly FeedDraft[]): void {
  for (const draft of feed) {
    const { actor, text, data } = bodyOf(draft);
    const { type: event, targetBranch: branch, prNumber } = draft;
    const pullRequest = prNumber ?? undefined;
    const where = repository ?? draft.repositoryId;
    const line = pullRequest === undefined ? `${where}: ${text}` : `${where} ${text}`;
    log.info({ event, repository: where, branch, pullRequest, actor: actor.name, ...data }, line);
  }
}
