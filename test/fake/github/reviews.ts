import type { PullRequest, Review, User, World } from './model.ts';
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
  pr.updatedAt = world.now();
  const { repository } = pr;
  world.announce({ event: 'pull_request_review', action: 'submitted', repository, sender: author, pr, review });
  return review;
}

/** The last opinion of each reviewer. Plain comments are no opinion. */
export function opinionsOf(pr: PullRequest): ReadonlyMap<User, Review> {
  const opinions = new Map<User, Review>();
  for (const review of pr.reviews) if (review.state !== 'COMMENTED') opinions.set(review.author, review);
  return opinions;
}
