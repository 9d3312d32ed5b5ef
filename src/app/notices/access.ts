import type { RepositoryName } from '../../forge/hosting.ts';
import type { Repository } from '../../storage/repositories.ts';
import type { App } from '../app.ts';
import { formatRef, toForgeRepository } from '../find-queue.ts';
import { lookAroundSoon } from './look-again.ts';
import type { NoticeAnswer, NoticeRun } from './notice-run.ts';

/**
 * It was renamed, given to somebody else or deleted, or we may do there other things than before. Where we may do nothing
 * any more, that is an outage like any other: nothing is lost, and looks go on until one is answered again.
 */
export async function lookAtAccess({ app, hosting, repository }: NoticeRun): Promise<NoticeAnswer> {
  hosting.forget(repository.owner, repository.name);
  try {
    const name = await hosting.findName(toForgeRepository(repository));
    if (name !== undefined) await followRename(app, repository, name);
  } catch (error) {
    app.outages.begin(repository.id, error, app.clock.now());
  }
  await lookAroundSoon(app, repository);
  return 'done';
}

/** The repository stays what it is, under its new name; answers whether it has one. Larger letters are no other name. */
export async function followRename(app: App, repository: Repository, now: RepositoryName): Promise<boolean> {
  const { owner, name } = now;
  if (isSameName(repository, now)) return false;
  const ref = { host: repository.host, owner, name };
  const outcome = await app.store.repositories.rename(repository.id, ref, app.clock.now());
  app.directory.forget();
  const facts = { repository: repository.id, from: formatRef(repository), to: formatRef(ref) };
  if (outcome === 'renamed') app.log.warn(facts, 'a repository has another name at its forge, and here now too');
  if (outcome === 'taken' && isNews(app, `${facts.from} ${facts.to}`)) {
    app.log.error(facts, 'a repository has another name at its forge, under which another one is registered here');
  }
  return outcome === 'renamed';
}

/** Every look finds it again. */
const toldOf = new WeakMap<App, Set<string>>();

function isNews(app: App, text: string): boolean {
  const told = toldOf.get(app) ?? new Set();
  toldOf.set(app, told);
  if (told.has(text)) return false;
  told.add(text);
  return true;
}

function isSameName(a: RepositoryName, b: RepositoryName): boolean {
  return a.owner.toLowerCase() === b.owner.toLowerCase() && a.name.toLowerCase() === b.name.toLowerCase();
}
