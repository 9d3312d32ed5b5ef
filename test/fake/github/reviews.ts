import type { PullRequest, Review, User, World } from './model.ts';
import { protectionOf } from './protection.ts';
import { nodeId } from './world.ts';

export interface ReviewDraft {
  readonly state: Review['state'];
  readonly body?: string;
  /** Default: the present head. */
  readonly sha?: string;
}

export function addReview(world: World, pr: PullRequest, author: User, draft: ReviewDraft): Review {
  const id = world.nextId();
  const review: Review = {
    id,
    nodeId: nodeId('PRR', id),
    author,
    body: draft.body ?? '',
    sha: draft.sha ?? pr.headSha,
    at: world.now(),
    state: draft.state,
  };
  pr.reviews.push(review);
  pr.requestedReviewers = pr.requestedReviewers.filter((user) => user !== author);
  pr.updatedAt = world.now();
  const { repository } = pr;
  world.announce({ event: 'pull_request_review', action: 'submitted', repository, sender: author, pr, review });
  return review;
}

/** A push dismisses approvals if the protection says so. */
export function dismissStaleReviews(world: World, pr: PullRequest, sender: User): void {
  if (protectionOf(pr.repository, pr.baseRef)?.reviews?.dismissesStale !== true) return;
  for (const review of pr.reviews) {
    if (review.state === 'APPROVED') dismissReview(world, pr, sender, review);
  }
}

export function dismissReview(world: World, pr: PullRequest, sender: User, review: Review): void {
  const { repository } = pr;
  review.state = 'DISMISSED';
  pr.updatedAt = world.now();
  world.announce({ event: 'pull_request_review', action: 'dismissed', repository, sender, pr, review });
}

export function requestReview(world: World, pr: PullRequest, user: User): void {
  if (pr.requestedReviewers.includes(user)) return;
  pr.requestedReviewers = [...pr.requestedReviewers, user];
  pr.updatedAt = world.now();
}

export function withdrawRequest(world: World, pr: PullRequest, user: User): void {
  pr.requestedReviewers = pr.requestedReviewers.filter((other) => other !== user);
  pr.updatedAt = world.now();
}

/** The last opinion of each reviewer. Plain comments are no opinion. */
export function opinionsOf(pr: PullRequest): ReadonlyMap<User, Review> {
  const opinions = new Map<User, Review>();
  for (const review of pr.reviews) if (review.state !== 'COMMENTED') opinions.set(review.author, review);
  return opinions;
}
