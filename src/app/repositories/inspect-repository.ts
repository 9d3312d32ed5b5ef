import type { ReplyOf } from '../../contract/operation.ts';
import type * as repositoriesContract from '../../contract/repositories.ts';
import type { SetupFinding } from '../../forge/hosting.ts';
import type { Repository } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { findRepository, getForge, type QueueRef, toForgeRepository } from '../core/find-queue.ts';
import { type Answer, isRefusal } from '../core/refusal.ts';
import { checkPlace } from './settle-identity.ts';

type Inspection = ReplyOf<typeof repositoriesContract.inspectRepository>;
type FindingView = Inspection['findings'][number];

/** Lists what is missing for a queue on this branch. The queue need not exist yet. */
export async function inspectRepository(
  app: App,
  caller: Caller,
  { repo, targetBranch }: QueueRef,
): Answer<Inspection> {
  const known = await findRepository(app, caller, repo);
  if (isRefusal(known)) return known;
  const repository = await checkPlace(app, caller, known);
  if (isRefusal(repository)) return repository;
  const { hosting } = getForge(app, repository.host);
  const place = await app.directory.findQueue(caller.organization.id, repo, targetBranch);
  const found = place && (await app.queues.find(place.queueId));
  const findings =
    hosting === undefined
      ? await inspectPlain(app, repository, targetBranch)
      : await hosting.inspect(toForgeRepository(repository), targetBranch, found?.queue.settings);
  return { findings: findings.map(({ level, code, text }) => ({ level: upper(level), code, text })) };
}

/** Plain git has no rules and permissions to check. */
async function inspectPlain(app: App, repository: Repository, branch: string): Promise<readonly SetupFinding[]> {
  const forge = getForge(app, repository.host);
  const trouble = await forge.checkAccess(toForgeRepository(repository));
  if (trouble !== undefined) return [{ level: 'error', code: 'NOT_REACHABLE', text: trouble }];
  const head = await forge.findBranchHead(toForgeRepository(repository), branch);
  return head === undefined
    ? [
        {
          level: 'error',
          code: 'BRANCH_NOT_FOUND',
          text: `There is no branch ${branch}. Push it first, or check its spelling.`,
        },
      ]
    : [{ level: 'ok', code: 'REACHABLE', text: `The repository can be read, and has the branch ${branch}.` }];
}

function upper(level: SetupFinding['level']): FindingView['level'] {
  return level.toUpperCase() as FindingView['level'];
}
