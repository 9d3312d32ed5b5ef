import type { PullRequest, User, World } from './model.ts';

export function closePullRequest(world: World, pr: PullRequest, sender: User): void {
  if (pr.state === 'closed') return;
  pr.state = 'closed';
  pr.closedAt = world.now();
  pr.updatedAt = world.now();
  world.announce({ event: 'pull_request', action: 'closed', repository: pr.repository, sender, pr });
}

export function markMerged(world: World, pr: PullRequest, by: User, sha: string): void {
  pr.merged = { at: world.now(), by, sha };
  closePullRequest(world, pr, by);
}
