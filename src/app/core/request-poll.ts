import type { PrNumber } from '../../engine/pull-request.ts';
import type { WebhookHint } from '../../forge/hosting.ts';
import type { Repository } from '../../storage/repositories.ts';
import type { App } from './app.ts';
import { encodeHint, encodePoll, firstPoll } from './hint-codec.ts';

/** A forge works out whether something can be merged when it is asked, and not at once. */
const SOON_MS = 2_000;

/** Nothing on plain git, which answers at once. */
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
  // One that waits keeps what it says.
  await app.store.hints.ensure(encodeHint(repository, hint, app.clock.now(), SOON_MS));
  app.hints.wake();
}

/** The whole repository, as soon as somebody can. */
export async function requestRepositoryPoll(app: App, { id, host }: Repository): Promise<void> {
  const now = app.clock.now();
  await app.store.hints.ensure(encodePoll(host, firstPoll(id, now), { now, dueAt: now }));
  app.hints.wake();
}
