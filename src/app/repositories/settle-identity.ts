import type { Hosting, RepositoryIdentity, RepositoryName } from '../../forge/hosting.ts';
import { Fault } from '../../lib/fault.ts';
import type { Repository } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';
import { describeRepository, formatRef } from '../core/find-queue.ts';
import { hasOthers } from './check-owner.ts';

/**
 * A repository is the one with its forge's id, whatever it is called. Every look, and every delivery about access, tells
 * what is found under its name: here that becomes what is stored. Where it is not the one that was registered, or not
 * ours to follow, it is barred, and nothing asks or acts there any more (`toForgeRepository`); later looks go on, and
 * lift it. Acts ask for no identity of their own, which would be a call more for each: for the minute between two looks, if
 * nothing is delivered, a comment or a test branch may still go by the name. What lands is safe even then: it names
 * commits that another repository does not have.
 *
 * Answers whether what is stored of it is another now.
 */
export async function settleIdentity(
  app: App,
  hosting: Hosting,
  repository: Repository,
  seen: RepositoryIdentity,
): Promise<boolean> {
  const isReplaced = repository.forgeId !== null && repository.forgeId !== seen.forgeId;
  const present = isReplaced ? await findFormer(app, hosting, repository, seen) : seen;
  if (present === undefined) throw await block(app, repository, replaced(repository, seen));
  const barrier = await findBlockedReason(app, repository, { present, isReplaced });
  if (barrier !== undefined) throw await block(app, repository, barrier);
  if (repository.forgeId === null) await storeForgeId(app, repository, present);
  const isRenamed = await followRename(app, repository, present);
  // Not before it has its own name again.
  if (repository.blockedReason === null || (isReplaced && !isRenamed)) return isRenamed;
  await unblock(app, repository);
  return true;
}

/** Where nobody says what became of it, what is under its name is another one all the same. */
async function findFormer(
  app: App,
  hosting: Hosting,
  repository: Repository,
  seen: RepositoryIdentity,
): Promise<RepositoryIdentity | undefined> {
  try {
    return await hosting.findById(describeRepository(repository));
  } catch (error) {
    await block(app, repository, replaced(repository, seen));
    throw error;
  }
}

/** Answers what to throw. */
async function block(app: App, repository: Repository, barrier: string): Promise<Fault> {
  const now = await app.directory.findRepositoryById(repository.id);
  // Somebody who registered it meanwhile meant what is there.
  if (barrier !== now?.blockedReason && repository.updatedAt === now?.updatedAt) {
    await app.store.repositories.bar(repository.id, barrier);
    app.directory.forget();
    app.log.error({ repository: repository.id, why: barrier }, 'a repository is not used any more');
  }
  return new Fault('FORGE_UNAVAILABLE', barrier);
}

async function unblock(app: App, repository: Repository): Promise<void> {
  await app.store.repositories.bar(repository.id, null);
  app.directory.forget();
  app.log.warn({ repository: repository.id, name: formatRef(repository) }, 'a repository is used again');
}

async function storeForgeId(app: App, { id }: Repository, { forgeId }: RepositoryIdentity): Promise<void> {
  await app.store.repositories.identify(id, forgeId);
  app.directory.forget();
}

interface Found {
  /** The one that was registered. */
  readonly present: RepositoryIdentity;
  /** Another one has its name. */
  readonly isReplaced: boolean;
}

async function findBlockedReason(app: App, repository: Repository, found: Found): Promise<string | undefined> {
  const { present, isReplaced } = found;
  const { organizationId, host, owner } = repository;
  const directory = app.directory;
  const isElsewhere = present.owner.toLowerCase() !== owner.toLowerCase();
  if (
    isElsewhere &&
    (await hasQueues(app, repository)) &&
    (await hasOthers(app, organizationId, { host, ...present }))
  ) {
    return transferred(repository, present);
  }
  const namesake = isReplaced ? await directory.findRepository(organizationId, { host, ...present }) : undefined;
  if (namesake !== undefined && namesake.id !== repository.id) return nameTaken(repository, namesake);
  const twin = await findDuplicate(app, repository, present);
  return twin === undefined ? undefined : duplicate(repository, twin);
}

/** Registered in other letters before letters did not count. One of the two goes on: that which has its id, or is older. */
async function findDuplicate(
  app: App,
  repository: Repository,
  { forgeId }: RepositoryIdentity,
): Promise<Repository | undefined> {
  const all = await app.directory.listRepositories(repository.organizationId);
  const twins = all.filter(
    ({ id, host, ...other }) => host === repository.host && other.forgeId === forgeId && id !== repository.id,
  );
  const isBehind = (twin: Repository) => repository.forgeId === null || ageOf(twin) < ageOf(repository);
  for (const twin of twins) if (isBehind(twin) && (await hasQueues(app, twin))) return twin;
  return undefined;
}

function ageOf({ createdAt, id }: Repository): string {
  return `${String(createdAt).padStart(16, '0')} ${id}`;
}

async function hasQueues(app: App, { id }: Repository): Promise<boolean> {
  return (await app.directory.listQueueIds(id)).length > 0;
}

/** The repository stays what it is, under its new name; answers whether it has one, if only in other letters. */
async function followRename(app: App, repository: Repository, now: RepositoryName): Promise<boolean> {
  const { owner, name } = now;
  if (owner === repository.owner && name === repository.name) return false;
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

function replaced(repository: Repository, { forgeId }: RepositoryIdentity): string {
  const name = formatRef(repository);
  return `${name} is another repository now (number ${forgeId} at its forge) than the one that was registered (number ${repository.forgeId}), which was deleted or is hidden from this server. Nothing is done there. To use the new one, cancel what is in its queues, delete them, and register ${name} again.`;
}

function transferred(repository: Repository, present: RepositoryName): string {
  const { host } = repository;
  const now = formatRef({ host, ...present });
  return `${formatRef(repository)} was transferred and is ${now} now, and another organization of this server has queues on repositories of ${host}/${present.owner}. Nothing is done there until ${now} is registered with a token with the scope "instance", or its queues are removed.`;
}

function nameTaken(repository: Repository, namesake: Repository): string {
  const name = formatRef(repository);
  return `${name} is called ${formatRef(namesake)} now, under which another repository is registered here, and ${name} is another one. Nothing is done there. Remove what is registered as ${formatRef(namesake)}, and this one goes on under that name.`;
}

function duplicate(repository: Repository, twin: Repository): string {
  return `${formatRef(repository)} is the repository that has queues here as ${formatRef(twin)} too, and two queues would land against each other. Remove the queues of one of them.`;
}
