import type { Below, PrNumber, PullRequestFacts } from '../../engine/model/pull-request.ts';
import { type Entry, findEntry } from '../../engine/model/queue.ts';
import { entriesAbove } from '../../engine/model/stack.ts';
import type { PullRequestQuery } from '../../forge/forge.ts';
import { valuesOf } from '../../lib/int-map.ts';
import { present } from '../../lib/present.ts';
import type { Sha } from '../../lib/sha.ts';
import type { Repository } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { type FoundQueue, findQueue, getForge, toForgeRepository } from '../core/find-queue.ts';
import { type Answer, isRefusal } from '../core/refusal.ts';
import { hasLanded } from './find-entry.ts';
import { hideFrom, listOpenElsewhere } from './read-elsewhere.ts';

/**
 * The pull requests that one is built on, as they are now. A base chain is read anew. `known` is its entry: what a text
 * stated when it was submitted counts until it is submitted again, because everybody may edit a text.
 */
// SPEC O30
export async function withBelow(
  app: App,
  found: FoundQueue,
  pr: PullRequestFacts,
  known: Entry | undefined,
  submitter?: Caller,
): Promise<PullRequestFacts> {
  const isTextNew = known === undefined || submitter !== undefined;
  const stated = isTextNew ? pr.dependsOn : known.pr.dependsOn;
  const dependsOn = stated && submitter ? await hideFrom(app, found, submitter, stated) : stated;
  const isSameHead = known?.pr.headSha === pr.headSha;
  const chained = pr.baseBranch === found.queue.branch ? undefined : await findChain(app, found, pr, known);
  const numbers = [...(dependsOn ?? [])].flatMap((each) => ('number' in each ? each.number : []));
  const ancestors =
    isSameHead && !isTextNew
      ? known.pr.below?.filter(({ by }) => by === 'ancestor')
      : await findAncestors(app, found, pr);
  const drafts = [
    ...(chained === undefined ? [] : [{ number: chained, by: 'base' as const }]),
    ...numbers.filter((number) => number !== chained).map((number) => ({ number, by: 'stated' as const })),
  ].filter(({ number }) => number !== pr.number);
  const kept = pr.baseBranch === found.queue.branch ? keptBases(found, known) : [];
  const needed = new Set([...drafts, ...kept].map(({ number }) => number));
  const read = await Promise.all(drafts.map((draft) => readOne(app, found, draft, isSameHead ? known : undefined)));
  const others = (ancestors ?? []).filter(({ number }) => !needed.has(number));
  const below = [...read.map((each) => each.below), ...kept, ...others];
  const waitsFor = await listOpenElsewhere(app, found, dependsOn ?? []);
  const facts = { ...pr, ...present({ dependsOn }), ...(waitsFor.length > 0 && { waitsFor }) };
  if (below.length === 0) return facts;
  const isOnOthers = below.some(({ by }) => by !== 'ancestor');
  const isJudged = chained !== undefined || (isOnOthers && pr.blockReasons.includes('conflict'));
  const judged = isJudged ? { ...facts, ...(await judge(app, found, pr.number)) } : facts;
  return withRebase(app, found, { ...(isOnOthers ? clearConflict(judged) : judged), below }, read);
}

const LONGEST_CHAIN = 100;

/** The queue that a person means at a pull request: of its base, or of the base at the bottom of its stack. */
// SPEC O45
export async function findQueueBelow(
  app: App,
  caller: Caller,
  repository: Repository,
  { baseBranch }: Pick<PullRequestFacts, 'baseBranch'>,
): Answer<FoundQueue> {
  const forge = getForge(app, repository.host);
  const seen = new Set<string>();
  for (let targetBranch = baseBranch; seen.size < LONGEST_CHAIN; ) {
    const found = await findQueue(app, caller, { repo: repository, targetBranch });
    if (!isRefusal(found) || seen.has(targetBranch)) return found;
    seen.add(targetBranch);
    const where = toForgeRepository(repository);
    const number = await forge.hosting?.findByBranch(where, targetBranch);
    const below = number && (await forge.findPullRequest({ repository: where, number, targetBranch }));
    if (!below) return found;
    targetBranch = below.baseBranch;
  }
  return findQueue(app, caller, { repo: repository, targetBranch: baseBranch });
}

/** Its base becomes the target branch when those below it land. Their commits are in it all the same. */
function keptBases({ queue }: FoundQueue, known: Entry | undefined): readonly Below[] {
  const isKept = ({ number, by, isMerged }: Below) =>
    by === 'base' && (isMerged === true || findEntry(queue, number) !== undefined);
  return known?.pr.below?.filter(isKept) ?? [];
}

/** One that is closed, or merged into another branch than the target, is remembered. */
async function findChain(app: App, found: FoundQueue, { baseBranch }: PullRequestFacts, known: Entry | undefined) {
  const { hosting } = getForge(app, found.repository.host);
  const open = await hosting?.findByBranch(toForgeRepository(found.repository), baseBranch, found.queue.branch);
  const last = known?.pr.baseBranch === baseBranch ? known.pr.below?.find(({ by }) => by === 'base') : undefined;
  if (open !== undefined || last === undefined || last.isMerged) return open;
  const pr = await find(app, found, last.number);
  return pr?.status === 'merged' && pr.baseBranch === found.queue.branch ? undefined : last.number;
}

/** The forge judged it by the rules of its base, where there may be none, or named a conflict and no review. */
// SPEC O40
async function judge(app: App, { repository, queue }: FoundQueue, number: PrNumber) {
  const { hosting } = getForge(app, repository.host);
  return hosting?.judgeForTarget({ repository: toForgeRepository(repository), number, targetBranch: queue.branch });
}

/** It is applied to what is below it, where it need not conflict. */
function clearConflict(pr: PullRequestFacts): PullRequestFacts {
  const blockReasons = pr.blockReasons.filter((reason) => reason !== 'conflict');
  if (blockReasons.length === pr.blockReasons.length) return pr;
  return { ...pr, mergeability: blockReasons.length === 0 ? 'MERGEABLE' : 'NOT_MERGEABLE', blockReasons };
}

async function readOne(
  app: App,
  found: FoundQueue,
  draft: Pick<Below, 'number' | 'by'>,
  known: Entry | undefined,
): Promise<ReadBelow> {
  const before = known?.pr.below?.find(({ number }) => number === draft.number);
  const live = findEntry(found.queue, draft.number);
  const pr = live?.pr ?? (await find(app, found, draft.number));
  // Merged into another branch, its commits would come to the target with the one above, without its review.
  const isInTarget = pr?.status === 'merged' && pr.baseBranch === found.queue.branch;
  const isMerged =
    live === undefined &&
    (before?.isMerged === true || isInTarget || (pr !== undefined && (await hasLanded(app, found, pr))));
  const headSha = before?.headSha ?? pr?.headSha;
  const mergedInto = pr?.status === 'merged' && !isInTarget ? pr.baseBranch : undefined;
  return {
    below: { ...draft, ...present({ headSha, mergedInto }), ...(isMerged && { isMerged: true as const }) },
    now: pr?.headSha,
  };
}

interface ReadBelow {
  readonly below: Below;
  /** Its head, or the one that was merged. Undefined: it is gone. */
  readonly now: Sha | undefined;
}

function find(app: App, { repository, queue }: FoundQueue, number: PrNumber) {
  const query: PullRequestQuery = { repository: toForgeRepository(repository), number, targetBranch: queue.branch };
  return getForge(app, repository.host).findPullRequest(query);
}

/** On plain git, the live entries whose heads it contains. Elsewhere a base says what it is built on. */
// SPEC O41
async function findAncestors(app: App, { repository, queue }: FoundQueue, pr: PullRequestFacts): Promise<Below[]> {
  const forge = getForge(app, repository.host);
  if (forge.listOwnCommits === undefined || forge.hosting !== undefined || queue.head === undefined) return [];
  const numbers = new Map([...valuesOf(queue.entries)].map((entry) => [entry.pr.headSha, entry.prNumber]));
  if (numbers.size === 0) return [];
  const question = { repository: toForgeRepository(repository), head: pr.headSha, without: queue.head.sha };
  const commits = await forge.listOwnCommits(question);
  return commits.flatMap((headSha) => {
    const number = headSha === pr.headSha ? undefined : numbers.get(headSha);
    return number === undefined || number === pr.number ? [] : { number, by: 'ancestor' as const, headSha };
  });
}

/** The branch that it is based on was rewritten before anybody submitted it. One with newer commits than it contains is not. */
async function isBesideBase(
  app: App,
  { repository, queue }: FoundQueue,
  pr: PullRequestFacts,
  { below, now }: ReadBelow,
): Promise<boolean> {
  const forge = getForge(app, repository.host);
  const without = queue.head?.sha;
  if (below.by !== 'base' || below.isMerged === true || now === undefined || without === undefined) return false;
  const where = toForgeRepository(repository);
  const own = await forge.listOwnCommits?.({ repository: where, head: pr.headSha, without });
  if (own === undefined || own.length === 0 || own.includes(now)) return false;
  const theirs = (await forge.listOwnCommits?.({ repository: where, head: now, without })) ?? [];
  return theirs.length > 0 && !theirs.some((sha) => own.includes(sha));
}

/** A pull request below it was rewritten, also if it has landed since, and it contains the commits of before. */
// SPEC O43
async function withRebase(
  app: App,
  found: FoundQueue,
  pr: PullRequestFacts,
  read: readonly ReadBelow[],
): Promise<PullRequestFacts> {
  for (const each of read) {
    const { below, now } = each;
    if (await isBesideBase(app, found, pr, each)) return needsRebase(pr);
    const was = below.headSha;
    if (was === undefined || now === undefined || now === was) continue;
    if (await isRewritten(app, found, { pr, was, now })) return needsRebase(pr);
  }
  return pr;
}

function needsRebase(pr: PullRequestFacts): PullRequestFacts {
  return { ...pr, mergeability: 'NOT_MERGEABLE', blockReasons: ['stackNeedsRebase'] };
}

async function isRewritten(
  app: App,
  { repository }: FoundQueue,
  { pr, was, now }: { readonly pr: PullRequestFacts; readonly was: Sha; readonly now: Sha },
): Promise<boolean> {
  const forge = getForge(app, repository.host);
  const where = toForgeRepository(repository);
  const contains = (descendant: Sha) => forge.isAncestor({ repository: where, ancestor: was, descendant });
  return (await contains(pr.headSha)) && !(await contains(now));
}

/** Before a pull request is admitted at a new head, those that contain its former commits are told to rebase. */
// SPEC O43
export async function stopAbove(app: App, found: FoundQueue, pr: PullRequestFacts): Promise<void> {
  for (const above of entriesAbove(found.queue, pr.number)) {
    const was = above.pr.below?.find(({ number }) => number === pr.number)?.headSha;
    if (was === undefined || was === pr.headSha) continue;
    if (!(await isRewritten(app, found, { pr: above.pr, was, now: pr.headSha }))) continue;
    const facts = { prNumber: above.prNumber, pr: needsRebase(above.pr), targets: undefined };
    await app.queues.run(found.id, (queue) =>
      findEntry(queue, above.prNumber)?.submission === above.submission
        ? { kind: 'pull_request_observed', at: app.clock.now(), ...facts }
        : undefined,
    );
  }
}
