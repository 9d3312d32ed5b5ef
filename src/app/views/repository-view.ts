import { formatInstant } from '../../lib/clock.ts';
import type { Repository, RepositoryRef, RunnerCheck } from '../../storage/repositories.ts';

export interface RepositoryView {
  readonly repo: RepositoryRef;
  readonly git: string | null;
  readonly checks: readonly RunnerCheck[];
  readonly junit: readonly string[];
  readonly createdAt: string;
  readonly updatedAt: string;
}

export function viewRepository(repository: Repository): RepositoryView {
  const { host, owner, name, git, checks, junit } = repository;
  return {
    repo: { host, owner, name },
    git: git === null ? null : withoutCredentials(git),
    checks,
    junit,
    createdAt: formatInstant(repository.createdAt),
    updatedAt: formatInstant(repository.updatedAt),
  };
}

function withoutCredentials(git: string): string {
  return git.replace(/^(https:\/\/)[^/@]*@/, '$1');
}
