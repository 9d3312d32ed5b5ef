import { mergeStateOf } from '../blocks.ts';
import type {
  Caller,
  Comment,
  Label,
  Mergeability,
  PullRequest,
  Reaction,
  Repository,
  Review,
  User,
} from '../model.ts';
import { appView, maybeTime, timeView, userView } from './account-view.ts';
import { repositoryView } from './repository-view.ts';

/** The form in lists. */
export function pullRequestView(pr: PullRequest) {
  const { repository } = pr;
  return {
    id: pr.id,
    node_id: pr.nodeId,
    number: pr.number,
    state: pr.state,
    title: pr.title,
    user: userView(pr.author),
    body: pr.body ?? null,
    labels: pr.labels.map(labelView),
    created_at: timeView(pr.createdAt),
    updated_at: timeView(pr.updatedAt),
    closed_at: maybeTime(pr.closedAt),
    merged_at: maybeTime(pr.merged?.at),
    merge_commit_sha: pr.merged?.sha ?? pr.merge.sha ?? null,
    head: endView(pr.headRepository, { owner: pr.headOwner, ref: pr.headRef, sha: pr.headSha }),
    base: endView(repository, { owner: repository.owner, ref: pr.baseRef, sha: pr.baseSha }),
    author_association: 'NONE',
    draft: pr.isDraft,
  };
}

/** The form of one pull request, as the viewer sees it. */
export function fullPullRequestView(pr: PullRequest, merge: Mergeability, viewer?: Caller) {
  return {
    ...pullRequestView(pr),
    merged: pr.merged !== undefined,
    mergeable: merge.kind === 'unknown' ? null : merge.kind === 'clean',
    mergeable_state: mergeStateOf(pr, merge, viewer),
    merged_by: pr.merged === undefined ? null : userView(pr.merged.by),
    comments: pr.comments.length,
  };
}

function endView(
  repository: Repository | undefined,
  { owner, ref, sha }: { readonly owner: User; readonly ref: string; readonly sha: string },
) {
  const repo = repository === undefined ? null : repositoryView(repository);
  return { label: `${owner.login}:${ref}`, ref, sha, user: userView(owner), repo };
}

export function labelView({ name }: Label) {
  return { name };
}

export function reviewView(review: Review) {
  return {
    id: review.id,
    user: userView(review.author),
    state: review.state,
    submitted_at: timeView(review.at),
    commit_id: review.sha,
  };
}

export function commentView(comment: Comment) {
  return {
    id: comment.id,
    node_id: comment.nodeId,
    user: userView(comment.author),
    created_at: timeView(comment.createdAt),
    updated_at: timeView(comment.updatedAt),
    body: comment.body,
    performed_via_github_app: comment.app === undefined ? null : appView(comment.app),
  };
}

export function reactionView({ id, user, content }: Reaction) {
  return { id, user: userView(user), content };
}
