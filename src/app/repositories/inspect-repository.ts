import type { ReplyOf } from '../../contract/operation.ts';
import type * as repositoriesContract from '../../contract/repositories.ts';
import type { Queue } from '../../engine/queue.ts';
import type { SetupFinding } from '../../forge/hosting.ts';
import type { Repository } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { findRepository, getForge, type QueueRef, toForgeRepository } from '../core/find-queue.ts';
import { type Answer, isRefusal } from '../core/refusal.ts';
import { getTestSettings } from '../tests/stored-test-settings.ts';
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
  const all = [...findings, ...(await inspectReports(app, repository, found?.queue))];
  return { findings: all.map(({ level, code, text }) => ({ level: upper(level), code, text })) };
}

/** Where quarantine decides something, reports must come with the runs of required checks. */
// SPEC F84
async function inspectReports(app: App, repository: Repository, queue: Queue | undefined): Promise<SetupFinding[]> {
  const { autoQuarantine } = (await getTestSettings(app, repository)).settings;
  if (queue === undefined || (!autoQuarantine && queue.settings.honorQuarantine !== 'ON')) return [];
  const how = 'Let CI upload them, also on test branches: docs/uploading.md has a workflow to copy.';
  if ((await app.store.uploads.getWatermark(repository.id)) === 0) {
    const text = `Quarantine is on, and no test results have been uploaded. ${how}`;
    return [{ level: 'warning', code: 'NO_REPORTS', text }];
  }
  const hasSome = (name: string) =>
    queue.reportDelays.some(({ check, delaysMs }) => check === name && delaysMs.some((ms) => ms !== null));
  const names = queue.lastPasses.map(({ check }) => check);
  if (names.length === 0) return [];
  const text = names.some(hasSome)
    ? `Test results of ${names.filter(hasSome).join(', ')} come with its runs, so that quarantine counts.`
    : `Quarantine is on, and no test results came with the last landed runs of ${names.join(', ')}. ${how}`;
  return [{ level: names.some(hasSome) ? 'ok' : 'warning', code: 'REPORTS', text }];
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
