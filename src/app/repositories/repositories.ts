import type { RunnerCheck } from '../../checks/check.ts';
import type { ReplyOf } from '../../contract/operation.ts';
import type * as repositoriesContract from '../../contract/repositories.ts';
import { formatInstant } from '../../lib/clock.ts';
import type { Repository, RepositoryRef } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';
import { type Caller, maySee } from '../core/caller.ts';
import { actEvent, actorFor } from '../core/feed-event.ts';
import { findRepository, formatRef } from '../core/find-queue.ts';
import { type Answer, isRefusal, refuse } from '../core/refusal.ts';

export async function listRepositories(
  app: App,
  caller: Caller,
): Promise<{ readonly repositories: readonly RepositoryView[] }> {
  const all = await app.directory.listRepositories(caller.organization.id);
  const seen = all.filter((repository) => maySee(caller, repository));
  return { repositories: seen.map((repository) => viewRepository(app, repository)) };
}

export async function removeRepository(
  app: App,
  caller: Caller,
  input: { readonly repo: RepositoryRef },
): Answer<Record<string, never>> {
  const repository = await findRepository(app, caller, input.repo);
  if (isRefusal(repository)) return repository;
  const removal = {
    type: 'repository.removed',
    actor: actorFor(caller),
    text: `${caller.name} removed ${formatRef(repository)}.`,
    data: { repositoryId: repository.id, repo: input.repo },
  };
  const feed = [actEvent(app.clock.now(), removal, { organizationId: caller.organization.id })];
  const outcome = await app.store.repositories.remove(repository.id, feed);
  app.feed.wake();
  app.directory.forget();
  if (outcome === 'removed') {
    // SPEC R88
    const { caches } = app.checkRunner;
    for (const cache of await caches.list(repository.id)) await caches.remove(cache);
    return {};
  }
  return refuse('REPOSITORY_HAS_QUEUES', `${formatRef(input.repo)} still has queues. Delete them first.`);
}

export type RepositoryView = ReplyOf<typeof repositoriesContract.listRepositories>['repositories'][number];

export function viewRepository(app: Pick<App, 'checkRunner'>, repository: Repository): RepositoryView {
  const { host, owner, name, git, checks, junit, fileChecks, trustChecks, runHooks } = repository;
  return {
    repo: { host, owner, name },
    git: git === null ? null : withoutCredentials(git),
    checks: checks.map(viewCheck),
    junit,
    fileChecks,
    trustChecks,
    checksBlocked: checks.length === 0 && fileChecks === null ? null : (explainBlockedChecks(app, repository) ?? null),
    runHooks,
    createdAt: formatInstant(repository.createdAt),
    updatedAt: formatInstant(repository.updatedAt),
  };
}

function viewCheck(check: RunnerCheck): RepositoryView['checks'][number] {
  const {
    name,
    command,
    timeoutMinutes,
    network,
    userNamespaces,
    prepare = null,
    tools = [],
    cache,
    selects = null,
  } = check;
  return {
    ...{ name, command, timeoutMinutes, prepare, tools, selects },
    network: network === true,
    userNamespaces: userNamespaces === true,
    cache: cache === undefined ? null : { verified: false, result: false, ...cache },
  };
}

function withoutCredentials(git: string): string {
  return git.replace(/^(https:\/\/)[^/@]*@/, '$1');
}

/** Why this server does not run the checks of a repository, and the remedy. Undefined where it does run them. */
// SPEC R29
export function explainBlockedChecks(
  { checkRunner }: Pick<App, 'checkRunner'>,
  repository: Pick<Repository, 'host' | 'owner' | 'name' | 'trustChecks' | 'fileChecks'>,
): string | undefined {
  // SPEC R63
  if (repository.fileChecks !== null && checkRunner.safety.protection === 'none')
    return `${checkRunner.safety.sentence} So checks that the file of a repository chooses wait until the operator installs bubblewrap or allows user namespaces and restarts the server.`;
  if (checkRunner.safety.runsUntrusted || repository.trustChecks) return undefined;
  const trust = `sluice repo add ${formatRef(repository)} --trust-checks`;
  return `${checkRunner.safety.sentence} So checks wait until the operator installs bubblewrap or allows user namespaces and restarts the server, or trusts everybody who can open a pull request: ${trust}`;
}
