import { isAncestor } from '../hosted/git.ts';
import type { PullRequestChanges } from './happening.ts';
import { unknown } from './mergeability.ts';
import type { BaseEvent, PullRequest, Repository, User, World } from './model.ts';
import { protectionOf } from './protection.ts';
import { branchHead, keepHead, openPullRequests } from './refs.ts';
import { invalid, notFound, Refused } from './refused.ts';
import { nodeId } from './world.ts';

export interface PullRequestDraft {
  readonly title: string;
  readonly body?: string | undefined;
  readonly headRepository: Repository;
  readonly headRef: string;
  readonly baseRef: string;
  readonly isDraft?: boolean | undefined;
}

const PULL_IDS = 2_500_000_000;

export async function openPullRequest(
  world: World,
  repository: Repository,
  author: User,
  draft: PullRequestDraft,
): Promise<PullRequest> {
  const { headRepository, headRef, baseRef } = draft;
  const headSha = branchHead(headRepository, headRef);
  const baseSha = branchHead(repository, baseRef);
  if (headSha === undefined) throw invalid({ resource: 'PullRequest', field: 'head', code: 'invalid' });
  if (baseSha === undefined) throw invalid({ resource: 'PullRequest', field: 'base', code: 'invalid' });
  checkUnique(repository, draft);
  const pr = build(world, repository, author, { ...draft, headSha, baseSha });
  await keepHead(pr, headSha);
  if (await isAncestor(repository.gitDir, headSha, baseSha))
    throw invalid({
      resource: 'PullRequest',
      code: 'custom',
      message: `No commits between ${baseRef} and ${headRef}`,
    });
  repository.pulls.set(pr.number, pr);
  world.announce({ event: 'pull_request', action: 'opened', repository, sender: author, pr });
  return pr;
}

function checkUnique(repository: Repository, { headRepository, headRef, baseRef }: PullRequestDraft): void {
  const twin = openPullRequests(repository).find(
    (pr) => pr.headRepository === headRepository && pr.headRef === headRef && pr.baseRef === baseRef,
  );
  if (twin === undefined) return;
  const message = `A pull request already exists for ${headRepository.owner.login}:${headRef}.`;
  throw invalid({ resource: 'PullRequest', code: 'custom', message });
}

function build(
  world: World,
  repository: Repository,
  author: User,
  draft: PullRequestDraft & { readonly headSha: string; readonly baseSha: string },
): PullRequest {
  const id = PULL_IDS + world.nextId();
  const { title, body, headRepository, headRef, headSha, baseRef, baseSha } = draft;
  return {
    id,
    nodeId: nodeId('PR', id),
    number: repository.nextNumber++,
    repository,
    author,
    createdAt: world.now(),
    title,
    body,
    headRepository,
    headOwner: headRepository.owner,
    headRef,
    headSha,
    baseRef,
    baseSha,
    isDraft: draft.isDraft ?? false,
    state: 'open',
    updatedAt: world.now(),
    closedAt: undefined,
    merged: undefined,
    isMerging: false,
    merge: unknown({ headSha }, baseSha),
    labels: [],
    timeline: [],
    comments: [],
    reviews: [],
  };
}

export function getPullRequest(repository: Repository, number: number): PullRequest {
  const pr = repository.pulls.get(number);
  if (pr === undefined) throw notFound();
  return pr;
}

export interface PullRequestEdit {
  readonly title?: string | undefined;
  readonly body?: string | undefined;
  readonly base?: string | undefined;
  /** GitHub changed the base itself, because the former one was deleted. */
  readonly isAutomatic?: boolean;
}

export function editPullRequest(world: World, pr: PullRequest, sender: User, edit: PullRequestEdit): void {
  const { repository } = pr;
  const changes: { -readonly [K in keyof PullRequestChanges]: PullRequestChanges[K] } = {};
  if (edit.title !== undefined && edit.title !== pr.title) {
    changes.title = { from: pr.title };
    pr.title = edit.title;
  }
  if (edit.body !== undefined && edit.body !== (pr.body ?? '')) {
    changes.body = { from: pr.body ?? '' };
    pr.body = edit.body;
  }
  if (edit.base !== undefined && edit.base !== pr.baseRef) {
    const baseSha = branchHead(repository, edit.base);
    if (baseSha === undefined) throw invalid({ resource: 'PullRequest', field: 'base', code: 'invalid' });
    changes.base = { ref: { from: pr.baseRef }, sha: { from: pr.baseSha } };
    const kind = edit.isAutomatic === true ? 'automatic_base_change_succeeded' : 'base_ref_changed';
    recordBase(world, pr, sender, { kind, to: edit.base });
    Object.assign(pr, { baseRef: edit.base, baseSha, merge: unknown(pr, baseSha) });
    dismissStale(pr);
  }
  if (Object.keys(changes).length === 0) return;
  pr.updatedAt = world.now();
  world.announce({ event: 'pull_request', action: 'edited', repository, sender, pr, changes });
}

/** Changes the base as its API does. */
export async function changeBase(world: World, pr: PullRequest, sender: User, base: string): Promise<void> {
  if (base === pr.baseRef) return;
  const refuse = (message: string) => invalid({ resource: 'PullRequest', field: 'base', code: 'custom', message });
  if (pr.state === 'closed') throw refuse('Cannot change the base branch of a closed pull request.');
  const { repository, headRepository, headRef, headSha } = pr;
  if (headRepository !== undefined)
    checkUnique(repository, { title: pr.title, headRepository, headRef, baseRef: base });
  const head = branchHead(repository, base);
  if (head !== undefined && (await isAncestor(repository.gitDir, headSha, head)))
    throw refuse(`There are no new commits between base branch '${base}' and head branch '${headRef}'`);
  editPullRequest(world, pr, sender, { base });
}

/** A new base is a new merge base, by which GitHub finds an approval stale. */
function dismissStale(pr: PullRequest): void {
  if (protectionOf(pr.repository, pr.baseRef)?.reviews?.dismissesStale !== true) return;
  for (const review of pr.reviews) if (review.state === 'APPROVED') review.state = 'DISMISSED';
}

function recordBase(
  world: World,
  pr: PullRequest,
  actor: User,
  { kind, to }: { readonly kind: BaseEvent['kind']; readonly to: string },
): void {
  const id = world.nextId();
  const prefix = kind === 'base_ref_changed' ? 'BRC' : 'ABC';
  pr.timeline.push({ id, nodeId: nodeId(prefix, id), kind, from: pr.baseRef, to, actor, at: world.now() });
}

export function setDraft(world: World, pr: PullRequest, sender: User, isDraft: boolean): void {
  if (pr.isDraft === isDraft) return;
  pr.isDraft = isDraft;
  pr.updatedAt = world.now();
  const action = isDraft ? 'converted_to_draft' : 'ready_for_review';
  world.announce({ event: 'pull_request', action, repository: pr.repository, sender, pr });
}

export async function reopenPullRequest(world: World, pr: PullRequest, sender: User): Promise<void> {
  if (pr.state === 'open') return;
  if (pr.merged !== undefined) throw new Refused(422, 'Validation Failed');
  const head = pr.headRepository === undefined ? undefined : branchHead(pr.headRepository, pr.headRef);
  if (head === undefined || branchHead(pr.repository, pr.baseRef) === undefined)
    throw invalid({ resource: 'PullRequest', code: 'custom', field: 'state', message: 'state cannot be changed.' });
  await keepHead(pr, head);
  Object.assign(pr, { headSha: head, state: 'open', closedAt: undefined, updatedAt: world.now() });
  world.announce({ event: 'pull_request', action: 'reopened', repository: pr.repository, sender, pr });
}
