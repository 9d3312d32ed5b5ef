import type { KeptCache } from '../../check-runner/runner.ts';
import type { clearCaches as clearing, listCaches as listing } from '../../contract/caches.ts';
import type { ReplyOf, RequestOf } from '../../contract/operation.ts';
import { formatInstant, type Instant } from '../../lib/clock.ts';
import type { Repository } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';
import { type Caller, maySee } from '../core/caller.ts';
import { findRepository } from '../core/find-queue.ts';
import { type Answer, isRefusal } from '../core/refusal.ts';

interface Found {
  readonly repository: Repository;
  readonly cache: KeptCache;
}

// SPEC R91
export async function listCaches(
  app: App,
  caller: Caller,
  input: RequestOf<typeof listing>,
): Answer<ReplyOf<typeof listing>> {
  const found = await findCaches(app, caller, input);
  if (isRefusal(found)) return found;
  return { caches: found.map(viewCache), limitBytes: app.checkRunner.caches.limitBytes };
}

// SPEC R91
export async function clearCaches(
  app: App,
  caller: Caller,
  input: RequestOf<typeof clearing>,
): Answer<ReplyOf<typeof clearing>> {
  const found = await findCaches(app, caller, input);
  if (isRefusal(found)) return found;
  for (const { cache } of found) await app.checkRunner.caches.remove(cache);
  return { caches: found.map(viewCache) };
}

async function findCaches(
  app: App,
  caller: Caller,
  { repo, check }: RequestOf<typeof listing>,
): Answer<readonly Found[]> {
  const named = repo === undefined ? undefined : await findRepository(app, caller, repo);
  if (named !== undefined && isRefusal(named)) return named;
  const all = named === undefined ? await app.directory.listRepositories(caller.organization.id) : [named];
  const lists = all
    .filter((repository) => maySee(caller, repository))
    .map(async (repository) =>
      (await app.checkRunner.caches.list(repository.id)).map((cache) => ({ repository, cache })),
    );
  return (await Promise.all(lists))
    .flat()
    .filter(({ cache }) => check === undefined || cache.check === check)
    .toSorted((a, b) => b.cache.usedAt.getTime() - a.cache.usedAt.getTime());
}

function viewCache({ repository, cache }: Found): ReplyOf<typeof listing>['caches'][number] {
  const { host, owner, name } = repository;
  const { branch, check, key, sizeBytes, entries, createdAt, usedAt } = cache;
  return {
    repo: { host, owner, name },
    ...{ targetBranch: branch, check, key, sizeBytes, entries },
    createdAt: formatInstant(createdAt.getTime() as Instant),
    usedAt: formatInstant(usedAt.getTime() as Instant),
  };
}
