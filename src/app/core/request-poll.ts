import type { PrNumber } from '../../engine/model/pull-request.ts';
import type { WebhookHint } from '../../forge/hosting.ts';
import type { Repository } from '../../storage/repositories.ts';
import type { App } from './app.ts';
import { encodeHint, encodePoll, firstPoll } from './hint-codec.ts';

/** GitHub computes mergeability after the first read, within a few seconds. */
const SOON_MS = 2_000;

/** Stores a hint to read the pull request again. Plain git answers at once, so it needs no second poll. */
export async function requestPullRequestPoll(
  app: App,
  repository: Repository,
  number: PrNumber,
  why: { readonly isUndecided?: true } = {},
): Promise<void> {
  const { host, owner, name } = repository;
  if (app.forges.get(host)?.hosting === undefined) return;
  const key = `${owner}/${name} pull_request ${number}${why.isUndecided === true ? ' undecided' : ''}`;
  const hint: WebhookHint = { kind: 'pull_request', number, headSha: undefined, ...why, owner, name, key };
  // A hint that already waits keeps its due time.
  await app.store.hints.ensure(encodeHint(repository, hint, app.clock.now(), SOON_MS));
  app.hints.wake();
}

/** Makes the repository's next poll due now. */
export async function requestRepositoryPoll(app: App, { id, host }: Repository): Promise<void> {
  const now = app.clock.now();
  await app.store.hints.ensure(encodePoll(host, firstPoll(id, now), { now, dueAt: now }));
  app.hints.wake();
}
