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
  return isSame(event.repo, repo);
}

/** An event about the tests of this repository: their statuses, their quarantine, their uploads. */
export function touchesTests(repo: Repo, event: StreamEvent): boolean {
  return /^(?:test_case|upload)\./.test(event.type) && event.repo !== undefined && isSame(event.repo, repo);
}

export function isSame(one: Repo, other: Repo): boolean {
  return one.host === other.host && one.owner === other.owner && one.name === other.name;
}

export interface RepoPlace {
  readonly org: string;
  readonly repo: Repo;
}

/** The scope that operations on tests ask for. */
export function testScope({ org, repo }: RepoPlace): { repo: Repo; org_url_slug: string } {
  return { repo, org_url_slug: org };
}

export function repoKey({ org, repo }: RepoPlace): string {
  return [org, repo.host, repo.owner, repo.name].join('\n');
}

/** The page of a pull request, whichever branch it is for. */
export function pullRequestPath({ org, repo }: RepoPlace, prNumber: number): string {
  const query = new URLSearchParams({ repo: nameOf(repo), host: repo.host });
  return `/${encodeURIComponent(org)}/pull-requests/${prNumber}?${query}`;
}

export function nameOf({ owner, name }: Repo): string {
  return `${owner}/${name}`;
}
