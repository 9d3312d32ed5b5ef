import { mergeStateOf } from './blocks.ts';
import { commitNode } from './graphql-checks.ts';
import { actorNode, at, connection, type Node, type PageArgs, type Scope, webUrl } from './graphql-node.ts';
import { commitsOf } from './known-commits.ts';
import { askMergeability } from './mergeability.ts';
import type { Comment, Label, PullRequest, Repository, Review, TimelineEvent } from './model.ts';
import { protectionOf, rulesOf } from './protection.ts';
import { branchHead } from './refs.ts';
import { opinionsOf } from './reviews.ts';
import { hasRole } from './world.ts';

export function pullRequestNode(scope: Scope, pr: PullRequest): Node {
  const { repository, headRepository } = pr;
  const ask = () => askMergeability(scope.world, pr);
  return {
    __typename: 'PullRequest',
    id: pr.nodeId,
    number: pr.number,
    title: pr.title,
    body: pr.body ?? '',
    state: stateOf(pr),
    isDraft: pr.isDraft,
    url: webUrl(scope, repository, 'pull', pr.number),
    updatedAt: at(pr.updatedAt),
    headRefName: pr.headRef,
    headRefOid: pr.headSha,
    baseRefName: pr.baseRef,
    isCrossRepository: headRepository !== repository,
    mergeable: async () => MERGEABLE[(await ask()).kind],
    mergeStateStatus: async () => mergeStateOf(pr, await ask(), scope.caller).toUpperCase(),
    reviewDecision: () => reviewDecisionOf(pr),
    author: () => actorNode(pr.author),
    headRepository: headRepository === undefined ? null : { id: headRepository.nodeId },
    headRef: () => refNode(scope, headRepository, pr.headRef),
    baseRef: () => refNode(scope, repository, pr.baseRef),
    labels: (args: PageArgs) => connection(pr.labels, args, labelNode),
    comments: (args: PageArgs) => connection(pr.comments, args, (comment) => commentNode(pr, comment)),
    // The fake has no line comments.
    reviewThreads: (args: PageArgs) => connection([], args, (thread) => thread),
    latestOpinionatedReviews: (args: ReviewArgs) =>
      connection(lastOpinions(pr, args), args, ({ state, sha }) => ({
        state,
        commit: () => commitNode(scope, repository, sha),
      })),
    commits: async (args: PageArgs) =>
      connection(await commitsOf(pr), args, (sha) => ({ commit: () => commitNode(scope, repository, sha) })),
    timelineItems: (args: TimelineArgs) => connection(eventsOf(pr, args), args, timelineNode),
  };
}

interface ReviewArgs extends PageArgs {
  readonly writersOnly: boolean;
}

function lastOpinions(pr: PullRequest, { writersOnly }: ReviewArgs): readonly Review[] {
  const isMeant = ({ author }: Review) => !writersOnly || hasRole(pr.repository, author, 'write');
  return [...opinionsOf(pr).values()].filter(isMeant);
}

export function stateOf(pr: PullRequest): 'OPEN' | 'CLOSED' | 'MERGED' {
  if (pr.merged !== undefined) return 'MERGED';
  return pr.state === 'open' ? 'OPEN' : 'CLOSED';
}

const MERGEABLE = { unknown: 'UNKNOWN', clean: 'MERGEABLE', conflict: 'CONFLICTING' } as const;

function reviewDecisionOf(pr: PullRequest): string | null {
  const needed = neededApprovals(pr);
  const opinions = [...opinionsOf(pr).values()].filter(({ author }) => hasRole(pr.repository, author, 'write'));
  if (opinions.some(({ state }) => state === 'CHANGES_REQUESTED')) return 'CHANGES_REQUESTED';
  const approvals = opinions.filter(({ state }) => state === 'APPROVED').length;
  if (approvals > 0 && approvals >= needed) return 'APPROVED';
  return needed > 0 ? 'REVIEW_REQUIRED' : null;
}

/** Combines both kinds of rules. */
function neededApprovals({ repository, baseRef }: PullRequest): number {
  const ofRules = rulesOf(repository, baseRef).map((rule) => (rule.type === 'pull_request' ? rule.approvals : 0));
  return Math.max(protectionOf(repository, baseRef)?.reviews?.count ?? 0, ...ofRules);
}

/** Null when the branch or its repository was deleted. */
function refNode(scope: Scope, repository: Repository | undefined, name: string): Node | null {
  const head = repository && branchHead(repository, name);
  return head === undefined ? null : { name, target: () => commitNode(scope, repository as Repository, head) };
}

interface TimelineArgs extends PageArgs {
  readonly itemTypes: readonly string[];
}

function eventsOf({ timeline }: PullRequest, { itemTypes }: TimelineArgs): readonly TimelineEvent[] {
  return timeline.filter(({ kind }) => itemTypes.includes(`${kind.toUpperCase()}_EVENT`));
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
    ...('label' in event ? { label: labelNode(event.label) } : {}),
  };
}

function labelNode({ name }: Label): Node {
  return { name };
}

export function commentNode(pr: PullRequest, comment: Comment): Node {
  return {
    __typename: 'IssueComment',
    id: comment.nodeId,
    fullDatabaseId: String(comment.id),
    author: () => actorNode(comment.author),
    body: comment.body,
    createdAt: at(comment.createdAt),
    lastEditedAt: comment.isEdited ? at(comment.updatedAt) : null,
    includesCreatedEdit: comment.isEdited,
    pullRequest: { id: pr.nodeId },
  };
}
