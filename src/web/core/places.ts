import type { QueuePlace, Repo } from './route.ts';
import type { StreamEvent } from './stream-connection.ts';

export function queueBody({ repo, branch }: QueuePlace): { repo: Repo; targetBranch: string } {
  return { repo, targetBranch: branch };
}

export function keyOf({ org, repo, branch }: QueuePlace): string {
  return [org, repo.host, repo.owner, repo.name, branch].join('\n');
}

/** An event of this queue, or of its repository. */
export function touches({ repo, branch }: QueuePlace, event: StreamEvent): boolean {
  if (event.repo === undefined || (event.targetBranch !== undefined && event.targetBranch !== branch)) return false;
  return event.repo.host === repo.host && event.repo.owner === repo.owner && event.repo.name === repo.name;
}

export function nameOf({ owner, name }: Repo): string {
  return `${owner}/${name}`;
}
