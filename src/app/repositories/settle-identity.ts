import type { RepositoryIdentity, RepositoryName, RepositoryRegister } from '../../forge/hosting.ts';
import { Fault } from '../../lib/fault.ts';
import { memo } from '../../lib/memo.ts';
import type { OrganizationId } from '../../storage/accounts.ts';
import type { Repository, RepositoryRef } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';
import { type Caller, hasScope } from '../core/caller.ts';
import { actEvent } from '../core/feed-event.ts';
import { describeRepository, formatRef, getForge } from '../core/find-queue.ts';
import { type Answer, type Refusal, refuse } from '../core/refusal.ts';

/**
 * Every poll, and every webhook about access, reads the id that is found under the name. If it is not the registered
 * one, or not ours to follow, the repository is blocked, and `toForgeRepository` refuses it until a later poll. Effects
 * do not read the identity, which would cost a call each. Landings are safe in between: they name commits that another
 * repository does not have. Returns whether the stored repository changed.
 */
// SPEC G109
export async function settleIdentity(
  app: App,
  hosting: RepositoryRegister,
  repository: Repository,
  seen: RepositoryIdentity,
): Promise<boolean> {
  const isReplaced = repository.forgeId !== null && repository.forgeId !== seen.forgeId;
  // SPEC G77
  const former = isReplaced ? hosting.findById(describeRepository(repository)) : seen;
  const present = await Promise.resolve(former).catch(async (error: unknown) => {
    // The forge does not tell what became of the registered one, and the name still belongs to another repository.
    await block(app, repository, replaced(repository, seen));
    throw error;
  });
  if (present === undefined) throw await block(app, repository, replaced(repository, seen));
  const reason = await findBlockedReason(app, repository, { present, isReplaced });
  if (reason !== undefined) throw await block(app, repository, reason);
  // SPEC G76
  if (repository.forgeId === null) {
    await app.store.repositories.identify(repository.id, present.forgeId);
    app.directory.forget();
  }
  const isRenamed = await followRename(app, repository, present);
  // It stays blocked until it has its own name again.
  if (repository.blockedReason === null || (isReplaced && !isRenamed)) return isRenamed;
  await unblock(app, repository);
  return true;
}

/** An upload knows the repository by a name, maybe the former one of another: it is identified at the forge first. */
export async function checkPlace(app: App, caller: Caller, repository: Repository): Answer<Repository> {
  const { hosting } = getForge(app, repository.host);
  const found = hosting === undefined || repository.forgeId !== null ? undefined : await hosting.identify(repository);
  const taken = await checkOwner(app, caller, { host: repository.host, ...(found ?? repository) });
  if (taken !== undefined) return taken;
  if (hosting === undefined || found === undefined) return repository;
  await settleIdentity(app, hosting, repository, found);
  return (await app.directory.findRepositoryById(repository.id)) ?? repository;
}

/** Returns the fault to throw. */
// SPEC G111
async function block(app: App, repository: Repository, reason: string): Promise<Fault> {
  const now = await app.directory.findRepositoryById(repository.id);
  // A registration meanwhile means the repository that has the name now.
  if (reason !== now?.blockedReason && repository.updatedAt === now?.updatedAt) {
    await app.store.repositories.bar(repository.id, reason, app.clock.now());
    app.directory.forget();
    app.log.error({ repository: formatRef(repository), reason }, 'repository blocked');
  }
  return new Fault('FORGE_UNAVAILABLE', reason);
}

async function unblock(app: App, repository: Repository): Promise<void> {
  await app.store.repositories.bar(repository.id, null, app.clock.now());
  app.directory.forget();
  app.log.warn({ repository: formatRef(repository) }, 'repository unblocked');
}

interface Found {
  readonly present: RepositoryIdentity;
  /** Another repository has its name. */
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

/** Repositories that were registered before names ignored case. The one with the forge id wins, or the older one. */
// SPEC G117
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

/** Renames the stored repository as at the forge, also when only the case differs. Returns whether it did. */
// SPEC G36, G116
async function followRename(app: App, repository: Repository, now: RepositoryName): Promise<boolean> {
  const { owner, name } = now;
  if (owner === repository.owner && name === repository.name) return false;
  const ref = { host: repository.host, owner, name };
  const renaming = {
    type: 'repository.renamed',
    actor: { kind: 'forge', name: repository.host } as const,
    text: `${formatRef(repository)} is called ${formatRef(ref)} now.`,
    data: { from: formatRef(repository), to: formatRef(ref) },
  };
  const feed = [actEvent(app.clock.now(), renaming, { repositoryId: repository.id })];
  const outcome = await app.store.repositories.rename(repository.id, ref, app.clock.now(), feed);
  app.directory.forget();
  const facts = { repository: repository.id, from: formatRef(repository), to: formatRef(ref) };
  if (outcome === 'renamed') app.log.warn(facts, 'repository renamed');
  if (outcome === 'taken' && isNews(app, `${facts.from} ${facts.to}`)) {
    app.log.error(facts, 'repository renamed at its forge to a name that another one has here');
  }
  return outcome === 'renamed';
}

/** Every poll finds it again, and it is logged once. */
const loggedBy = memo((_app: App) => new Set<string>());

function isNews(app: App, text: string): boolean {
  const known = loggedBy(app);
  if (known.has(text)) return false;
  known.add(text);
  return true;
}

// SPEC G112
function replaced(repository: Repository, { forgeId }: RepositoryIdentity): string {
  const name = formatRef(repository);
  return `${name} is another repository now (number ${forgeId} at its forge) than the one that was registered (number ${repository.forgeId}), which was deleted or is hidden from this server. Nothing is done there. To use the new one, cancel what is in its queues, delete them, and register ${name} again.`;
}

// SPEC G78
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

/** Undefined: the caller may. */
// SPEC G71
export async function checkOwner(
  app: App,
  caller: Caller,
  { host, owner }: RepositoryRef,
): Promise<Refusal | undefined> {
  if (app.forges.get(host)?.hosting === undefined || hasScope(caller, 'instance')) return undefined;
  if (!(await hasOthers(app, caller.organization.id, { host, owner }))) return undefined;
  return refuse(
    'INSUFFICIENT_SCOPE',
    `Another organization of this server has queues on repositories of ${host}/${owner}. To share them, use a token with the scope "instance".`,
  );
}

/** Whether another organization has queues on repositories of this owner. */
async function hasOthers(
  app: App,
  organizationId: OrganizationId,
  { host, owner }: Pick<RepositoryRef, 'host' | 'owner'>,
): Promise<boolean> {
  for (const repository of await app.directory.findRepositoriesAt({ host, owner, name: '*' })) {
    if (repository.organizationId === organizationId) continue;
    // An upload of test results also makes a repository, but reserves nothing.
    if ((await app.directory.listQueueIds(repository.id)).length > 0) return true;
  }
  return false;
}
