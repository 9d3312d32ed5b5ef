import type { PrNumber } from '../../engine/pull-request.ts';
import type { Notice } from '../../forge/hosting.ts';
import type { Repository } from '../../storage/repositories.ts';
import type { App } from '../app.ts';
import { encodeLook, encodeNotice } from './notice-codec.ts';

/** A forge works out whether something can be merged when it is asked, and not at once. */
const SOON_MS = 2_000;

/** Nothing on plain git, which answers at once. */
export async function lookAgainSoon(app: App, repository: Repository, number: PrNumber): Promise<void> {
  const { host, owner, name } = repository;
  if (app.forges.get(host)?.hosting === undefined) return;
  const key = `${owner}/${name} pull_request ${number}`;
  const notice: Notice = { kind: 'pull_request', number, headSha: undefined, owner, name, key };
  // One that waits keeps what it says.
  await app.store.notices.ensure(encodeNotice(repository, notice, app.clock.now(), SOON_MS));
  app.notices.wake();
}

/** The whole repository, as soon as somebody can. What changed after now is new to it, where it was never looked at. */
export async function lookAroundSoon(app: App, { id, host }: Repository): Promise<void> {
  const now = app.clock.now();
  await app.store.notices.ensure(encodeLook(host, { repositoryId: id, since: now }, { now, dueAt: now }));
  app.notices.wake();
}
