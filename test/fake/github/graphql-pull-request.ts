import { mergeStateOf } from './blocks.ts';
import { readChanges } from './changes.ts';
import { neededApprovals, refNode } from './graphql-branch.ts';
import { commitNode, rollupNode } from './graphql-checks.ts';
import { actorNode, at, connection, type Node, narrow, type PageArgs, type Scope, webUrl } from './graphql-node.ts';
import { commitsOf, readStat } from './known-commits.ts';
import { askMergeability } from './mergeability.ts';
import type { BaseEvent, Comment, Label, PullRequest, Review, TimelineEvent } from './model.ts';
import { branchHead } from './refs.ts';
import { opinionsOf } from './reviews.ts';
import { hasRole } from './world.ts';

export function pullRequestNode(scope: Scope, pr: PullRequest): Node {
  return { ...plainFields(scope, pr), ...mergeFields(scope, pr), ...linkFields(scope, pr), ...listFields(scope, pr) };
}

export function stateOf(pr: PullRequest): 'OPEN' | 'CLOSED' | 'MERGED' {
  if (pr.merged !== undefined) return 'MERGED';
  return pr.state === 'open' ? 'OPEN' : 'CLOSED';
}

function plainFields(scope: Scope, pr: PullRequest): Node {
  const url = webUrl(scope, pr.repository, 'pull', pr.number);
  return {
    __typename: 'PullRequest',
    id: pr.nodeId,
    databaseId: narrow(pr.id),
    fullDatabaseId: String(pr.id),
    number: pr.number,
    title: pr.title,
    body: pr.body ?? '',
    bodyText: pr.body ?? '',
    state: stateOf(pr),
    closed: pr.state === 'closed',
    isDraft: pr.isDraft,
    locked: pr.isLocked,
    url,
    permalink: url,
    createdAt: at(pr.createdAt),
    updatedAt: at(pr.updatedAt),
    closedAt: at(pr.closedAt),
    headRefName: pr.headRef,
    headRefOid: pr.headSha,
    baseRefName: pr.baseRef,
    baseRefOid: pr.baseSha,
    isCrossRepository: pr.headRepository !== pr.repository,
    isInMergeQueue: false,
    isMergeQueueEnabled: false,
    autoMergeRequest: null,
    maintainerCanModify: pr.headRepository !== pr.repository,
  };
}

function mergeFields(scope: Scope, pr: PullRequest): Node {
  const { repository, merged } = pr;
  return {
    merged: merged !== undefined,
    mergedAt: at(merged?.at),
    mergedBy: () => (merged === undefined ? null : actorNode(merged.by)),
    mergeCommit: () => (merged === undefined ? null : commitNode(scope, repository, merged.sha)),
    mergeable: async () => MERGEABLE[(await askMergeability(scope.world, pr)).kind],
    mergeStateStatus: async () => mergeStateOf(pr, await askMergeability(scope.world, pr), scope.caller).toUpperCase(),
    potentialMergeCommit: async () => {
      const { sha } = await askMergeability(scope.world, pr);
      return sha === undefined ? null : commitNode(scope, repository, sha);
    },
    reviewDecision: () => reviewDecisionOf(pr),
    additions: async () => (await readStat(pr)).additions,
    deletions: async () => (await readStat(pr)).deletions,
    changedFiles: async () => (await readStat(pr)).files,
  };
}

function reviewDecisionOf(pr: PullRequest): string | null {
  const needed = neededApprovals(pr.repository, pr.baseRef);
  const opinions = [...opinionsOf(pr).values()].filter(({ author }) => hasRole(pr.repository, author, 'write'));
  if (opinions.some(({ state }) => state === 'CHANGES_REQUESTED')) return 'CHANGES_REQUESTED';
  const approvals = opinions.filter(({ state }) => state === 'APPROVED').length;
  if (approvals > 0 && approvals >= needed) return 'APPROVED';
  return needed > 0 ? 'REVIEW_REQUIRED' : null;
}

const MERGEABLE = { unknown: 'UNKNOWN', clean: 'MERGEABLE', conflict: 'CONFLICTING' } as const;

function linkFields(scope: Scope, pr: PullRequest): Node {
  const { repository, headRepository } = pr;
  const headRef = headRepository === undefined ? undefined : branchHead(headRepository, pr.headRef);
  return {
    author: () => actorNode(pr.author),
    repository: () => scope.repositoryNode(repository),
    baseRepository: () => scope.repositoryNode(repository),
    headRepository: () => (headRepository === undefined ? null : scope.repositoryNode(headRepository)),
    headRepositoryOwner: () => actorNode(pr.headOwner),
    headRef: () =>
      headRepository === undefined || headRef === undefined ? null : refNode(scope, headRepository, pr.headRef),
    baseRef: () => (branchHead(repository, pr.baseRef) === undefined ? null : refNode(scope, repository, pr.baseRef)),
    statusCheckRollup: () => rollupNode(scope, repository, pr.headSha),
  };
}

interface TimelineArgs extends PageArgs {
  readonly itemTypes?: readonly string[];
  readonly since?: string;
}

function listFields(scope: Scope, pr: PullRequest): Node {
  return {
    labels: (args: PageArgs) => connection(pr.labels, args, labelNode),
    comments: (args: PageArgs) => connection(pr.comments, args, (comment) => commentNode(scope, pr, comment)),
    // The fake has no line comments.
    reviewThreads: (args: PageArgs) => connection([], args, (thread) => thread),
    reviews: (args: PageArgs) => connection(pr.reviews, args, reviewNode),
    latestOpinionatedReviews: (args: PageArgs) => connection([...opinionsOf(pr).values()], args, reviewNode),
    reviewRequests: (args: PageArgs) =>
      connection(pr.requestedReviewers, args, (user) => ({
        __typename: 'ReviewRequest',
        id: `RR_${pr.number}_${user.id}`,
        asCodeOwner: false,
        pullRequest: () => pullRequestNode(scope, pr),
        requestedReviewer: () => actorNode(user),
      })),
    assignees: (args: PageArgs) => connection([], args, (user) => user),
    files: async (args: PageArgs) =>
      connection(await readChanges(pr.repository.gitDir, pr.baseSha, pr.headSha), args, (file) => ({
        __typename: 'PullRequestChangedFile',
        path: file.path,
        additions: file.additions,
        deletions: file.deletions,
        changeType: CHANGE_TYPES[file.status],
      })),
    commits: async (args: PageArgs) =>
      connection(await commitsOf(pr), args, (sha) => ({
        __typename: 'PullRequestCommit',
        id: `PURC_${pr.number}_${sha}`,
        commit: () => commitNode(scope, pr.repository, sha),
        pullRequest: () => pullRequestNode(scope, pr),
      })),
    timelineItems: (args: TimelineArgs) => {
      const items = pr.timeline.filter((event) => isAsked(event, args));
      return { ...connection(items, args, timelineNode), filteredCount: items.length, updatedAt: at(pr.updatedAt) };
    },
  };
}

const CHANGE_TYPES = { added: 'ADDED', removed: 'DELETED', modified: 'MODIFIED' } as const;

function isAsked({ kind, at: happenedAt }: TimelineEvent, { itemTypes, since }: TimelineArgs): boolean {
  if (since !== undefined && since !== null && happenedAt < Date.parse(since)) return false;
  return itemTypes?.includes(`${kind.toUpperCase()}_EVENT`) ?? true;
}

const EVENT_TYPES = {
  labeled: 'LabeledEvent',
  unlabeled: 'UnlabeledEvent',
  base_ref_changed: 'BaseRefChangedEvent',
  automatic_base_change_succeeded: 'AutomaticBaseChangeSucceededEvent',
} as const;

function timelineNode(event: TimelineEvent): Node {
  return {
    __typename: EVENT_TYPES[event.kind],
    id: event.nodeId,
    actor: () => actorNode(event.actor),
    createdAt: at(event.at),
    ...('label' in event ? { label: () => labelNode(event.label) } : baseFields(event)),
  };
}

function baseFields({ kind, from, to }: BaseEvent): Node {
  return kind === 'base_ref_changed' ? { previousRefName: from, currentRefName: to } : { oldBase: from, newBase: to };
}

export function labelNode(label: Label): Node {
  const { nodeId, name, color, description } = label;
  return { __typename: 'Label', id: nodeId, name, color, description: description ?? null };
}

function reviewNode(review: Review): Node {
  return {
    __typename: 'PullRequestReview',
    id: review.nodeId,
    databaseId: narrow(review.id),
    author: () => actorNode(review.author),
    state: review.state,
    body: review.body,
    submittedAt: at(review.at),
  };
}

export function commentNode(scope: Scope, pr: PullRequest, comment: Comment): Node {
  return {
    __typename: 'IssueComment',
    id: comment.nodeId,
    databaseId: narrow(comment.id),
    fullDatabaseId: String(comment.id),
    author: () => actorNode(comment.author),
    body: comment.body,
    bodyText: comment.body,
    createdAt: at(comment.createdAt),
    publishedAt: at(comment.createdAt),
    updatedAt: at(comment.updatedAt),
    lastEditedAt: comment.isEdited ? at(comment.updatedAt) : null,
    includesCreatedEdit: comment.isEdited,
    isMinimized: false,
    url: `${webUrl(scope, pr.repository, 'pull', pr.number)}#issuecomment-${comment.id}`,
    viewerDidAuthor: comment.author === scope.caller.user,
    repository: () => scope.repositoryNode(pr.repository),
    pullRequest: () => pullRequestNode(scope, pr),
    issue: () => ({ __typename: 'Issue', number: pr.number, id: pr.nodeId }),
  };
}
