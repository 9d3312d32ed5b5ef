import type { ReplyOf } from '../../contract/operation.ts';
import type * as repositoriesContract from '../../contract/repositories.ts';
import type { Queue } from '../../engine/model/queue.ts';
import { requiredChecks } from '../../engine/model/required.ts';
import { DEFAULT_SETTINGS, type QueueSettings } from '../../engine/model/settings.ts';
import type { SetupFinding } from '../../forge/hosting.ts';
import type { Repository } from '../../storage/repositories.ts';
import { readTestSettings } from '../../storage/test-codec.ts';
import { tellChange } from '../../words/reasons.ts';
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
  const settings = found?.queue.settings;
  const findings =
    hosting === undefined
      ? await inspectPlain(app, repository, { targetBranch, settings })
      : await hosting.inspect(toForgeRepository(repository), targetBranch, settings);
  const all = [...findings, ...(await inspectReports(app, repository, found?.queue))];
  return {
    findings: all.map(({ level, code, text }) => ({
      level: level.toUpperCase() as FindingView['level'],
      code,
      text,
    })),
  };
}

// SPEC F84
async function inspectReports(app: App, repository: Repository, queue: Queue | undefined): Promise<SetupFinding[]> {
  const { autoQuarantine } = (await readTestSettings(app.store, repository)).settings;
  if (queue === undefined || (!autoQuarantine && queue.settings.honorQuarantine !== 'ON')) return [];
  const how = 'Let CI upload them, also on test branches: docs/uploading.md has a workflow to copy.';
  if ((await app.store.uploads.getWatermark(repository.id)) === 0) {
    const text = `Quarantine is on, and no test results have been uploaded. ${how}`;
    return [{ level: 'warning', code: 'NO_REPORTS', text }];
  }
  const hasSome = (name: string) =>
    queue.reportDelays.some(({ check, delaysMs }) => check === name && delaysMs.some((ms) => ms !== null));
  const names = queue.lastPasses.flatMap(({ check, isFailFast }) => (isFailFast ? [] : check));
  if (names.length === 0) return [];
  const text = names.some(hasSome)
    ? `Test results of ${names.filter(hasSome).join(', ')} come with its runs, so that quarantine counts.`
    : `Quarantine is on, and no test results came with the last landed runs of ${names.join(', ')}. ${how}`;
  return [{ level: names.some(hasSome) ? 'ok' : 'warning', code: 'REPORTS', text }];
}

interface InspectedQueue {
  readonly targetBranch: string;
  /** Undefined before the queue is created. */
  readonly settings: QueueSettings | undefined;
}

// SPEC Q41
async function inspectPlain(
  app: App,
  repository: Repository,
  { targetBranch: branch, settings = DEFAULT_SETTINGS }: InspectedQueue,
): Promise<readonly SetupFinding[]> {
  const forge = getForge(app, repository.host);
  const place = toForgeRepository(repository);
  const trouble = await forge.checkAccess(place);
  if (trouble !== undefined) return [{ level: 'error', code: 'NOT_REACHABLE', text: trouble }];
  const head = await forge.findBranchHead(place, branch);
  if (head === undefined) {
    const text = `There is no branch ${branch}. Push it first, or check its spelling.`;
    return [{ level: 'error', code: 'BRANCH_NOT_FOUND', text }];
  }
  const text = `The repository can be read, and has the branch ${branch}.`;
  const reachable: SetupFinding = { level: 'ok', code: 'REACHABLE', text };
  const sources = await forge.findRequired?.(place, head);
  const required = sources === undefined ? undefined : requiredChecks(settings, sources, []);
  if (typeof required !== 'string') return [reachable];
  const told = tellChange({ to: 'FAILED', branch, because: { reason: required } });
  const why = `${told.text} Every pull request would be removed at its start.`;
  return [reachable, { level: 'error', code: 'NO_REQUIRED_CHECKS', text: why }];
}
