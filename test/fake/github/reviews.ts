import type { PullRequest, Review, User, World } from './model.ts';

export function addReview(world: World, pr: PullRequest, author: User, state: Review['state']): Review {
  const review: Review = { id: world.nextId(), author, sha: pr.headSha, at: world.now(), state };
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
