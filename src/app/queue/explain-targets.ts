import type { ReplyOf } from '../../contract/operation.ts';
import type { explainImpactedTargets as operation } from '../../contract/pull-requests.ts';
import { findEntry } from '../../engine/model/queue.ts';
import { computedAll, type ImpactedTargets } from '../../engine/model/targets.ts';
import type { Placed, PlacedFile } from '../../lanes/lanes.ts';
import { fileCauseText, hitText, targetsText } from '../../words/lanes.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { type EntryRef, findQueue, getForge, toForgeRepository } from '../core/find-queue.ts';
import { type Answer, isRefusal } from '../core/refusal.ts';
import { computeTargets } from './compute-targets.ts';
import { findPullRequest, findTargets } from './forge-facts.ts';
import { listTargets } from './set-impacted-targets.ts';
import { pullRequestNotFound } from './submit-pull-request.ts';

type Explanation = ReplyOf<typeof operation>;

const SHOWN = 1_000;

// SPEC T18
export async function explainImpactedTargets(app: App, caller: Caller, input: EntryRef): Answer<Explanation> {
  const found = await findQueue(app, caller, input);
  if (isRefusal(found)) return found;
  const pr = await findPullRequest(app, found, input.prNumber);
  if (pr === undefined) return pullRequestNotFound(input);
  const { repository, queue } = found;
  const place = toForgeRepository(repository);
  // An empty queue does not follow its branch.
  const base = await getForge(app, place.host).findBranchHead(place, queue.branch);
  const head = pr.headSha;
  const placed = base && (await computeTargets(app, { repository, base }, { head, shown: SHOWN }));
  const entry = findEntry(queue, pr.number);
  const known = entry?.pr.headSha === head ? entry.targets : undefined;
  const uploaded = known ?? (await findTargets(app, found.id, { prNumber: pr.number, sha: head }));
  const counted = uploaded?.from === 'sluice' ? undefined : uploaded;
  return {
    prNumber: pr.number,
    prSha: head,
    ...viewCounted(counted, placed || undefined),
    ...viewPlaced(placed || undefined),
  };
}

type Counted = Pick<Explanation, 'source' | 'impactsAll' | 'targets' | 'count' | 'text'>;

function viewCounted(uploaded: ImpactedTargets | undefined, placed: Placed | undefined): Counted {
  if (uploaded === undefined && placed === undefined) {
    return { source: 'NONE', impactsAll: false, targets: [], count: 0, text: NOTHING };
  }
  const targets = uploaded ?? targetsOf(placed);
  const list = targets.kind === 'list' ? targets : { targets: [], count: 0 };
  const other = uploaded !== undefined && placed !== undefined ? ' They count, and not those of the files.' : '';
  return {
    source: uploaded === undefined ? 'COMPUTED' : 'UPLOADED',
    impactsAll: targets.kind === 'all',
    targets: list.targets.slice(0, SHOWN),
    count: list.count,
    text: `${targetsText(targets)}${other}`,
  };
}

const NOTHING = 'No targets are uploaded, and .sluice.yaml on the target branch has no section targets.';

/** A text in the entry's row. */
const MAX_CAUSE_LENGTH = 500;

/** As the entry of a queue has them. */
export function targetsOf(placed: Placed | undefined): ImpactedTargets {
  const { all } = placed ?? {};
  if (all !== undefined) return computedAll({ ...all, name: all.name.slice(0, MAX_CAUSE_LENGTH).toWellFormed() });
  return { ...listTargets(placed?.targets ?? []), from: 'sluice' };
}

function viewPlaced(placed: Placed | undefined): Pick<Explanation, 'fileCount' | 'files' | 'dependents'> {
  const { fileCount = 0, files = [], dependents = [] } = placed ?? {};
  return {
    fileCount,
    files: files.map(viewFile),
    dependents: dependents.map(({ target, names }) => ({ target, names: [...names] })),
  };
}

function viewFile({ path, all, hits }: PlacedFile): Explanation['files'][number] {
  const texts = [...(all === undefined ? [] : [fileCauseText(all)]), ...hits.map(hitText)];
  return {
    path,
    impactsAll: all !== undefined,
    targets: [...new Set(hits.map(({ target }) => target))],
    text: texts.length === 0 ? OTHERWISE : texts.join(', '),
  };
}

const OTHERWISE = 'nothing matches it: it has the targets of otherwise';
