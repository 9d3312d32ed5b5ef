/** Pull requests of other repositories that a text names with `Depends-On`. */
import type { Dependency, PrNumber, PullRequestFacts } from '../../engine/model/pull-request.ts';
import type { OrganizationId } from '../../storage/accounts.ts';
import type { Repository } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';
import { type Caller, maySee } from '../core/caller.ts';
import { type FoundQueue, getForge, toForgeRepository } from '../core/find-queue.ts';
import { hasLanded } from './find-entry.ts';

/** Absent and forbidden read alike. */
// SPEC O42
export async function listOpenElsewhere(
  app: App,
  { repository }: FoundQueue,
  dependsOn: readonly Dependency[],
): Promise<readonly string[]> {
  const elsewhere = dependsOn.flatMap((each) => ('url' in each ? each : []));
  const isOpen = await Promise.all(
    elsewhere.map(async ({ url, isHidden }) => {
      const { other, number, host } = await findElsewhere(app, repository.organizationId, url);
      if (isHidden || other === undefined || other.blockedReason !== null) return true;
      const question = { repository: toForgeRepository(other), number, targetBranch: '' };
      const pr = await getForge(app, host).findPullRequest(question);
      return pr?.status !== 'merged' && (pr === undefined || !(await hasLandedThere(app, other, pr)));
    }),
  );
  return elsewhere.flatMap(({ url }, index) => (isOpen[index] ? url : []));
}

async function hasLandedThere(app: App, repository: Repository, pr: PullRequestFacts): Promise<boolean> {
  for (const id of await app.directory.listQueueIds(repository.id)) {
    const found = await app.queues.find(id);
    if (found !== undefined && (await hasLanded(app, { ...found, repository }, pr))) return true;
  }
  return false;
}

async function findElsewhere(app: App, organizationId: OrganizationId, url: string) {
  const { host, pathname } = new URL(url);
  const [, owner = '', name = '', , number] = pathname.split('/');
  const other = await app.directory.findRepository(organizationId, { host, owner, name });
  return { other, number: Number(number) as PrNumber, host };
}

/** It is read again and again without its submitter, so that what that may not read is marked. */
export function hideFrom(
  app: App,
  { repository }: FoundQueue,
  caller: Caller,
  dependsOn: readonly Dependency[],
): Promise<readonly Dependency[]> {
  const mayRead = async (other: Repository) =>
    maySee(caller, other) || (other.host === repository.host && (await mayReadThere(app, caller, other)));
  return Promise.all(
    dependsOn.map(async (each) => {
      if (!('url' in each)) return each;
      const { other } = await findElsewhere(app, repository.organizationId, each.url);
      return other === undefined || (await mayRead(other)) ? each : { ...each, isHidden: true as const };
    }),
  );
}

/** A person at the forge, whom a command shows in one repository only. */
async function mayReadThere(app: App, { tokenId, name }: Caller, other: Repository): Promise<boolean> {
  const { hosting } = getForge(app, other.host);
  if (hosting === undefined || tokenId !== '' || !name.startsWith('@')) return false;
  return (await hosting.findPermission(toForgeRepository(other), name.slice(1))) !== 'none';
}
