import type { ReplyOf } from '../../contract/operation.ts';
import type { listRepositories } from '../../contract/repositories.ts';
import { formatInstant } from '../../lib/clock.ts';
import type { Repository } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';
import { explainBlockedChecks } from './checks-blocked.ts';

export type RepositoryView = ReplyOf<typeof listRepositories>['repositories'][number];

export function viewRepository(app: Pick<App, 'checkRunner'>, repository: Repository): RepositoryView {
  const { host, owner, name, git, checks, junit, trustChecks, runHooks } = repository;
  return {
    repo: { host, owner, name },
    git: git === null ? null : withoutCredentials(git),
    checks: checks.map((check) => ({ ...check, network: check.network === true })),
    junit,
    trustChecks,
    checksBlocked: checks.length === 0 ? null : (explainBlockedChecks(app, repository) ?? null),
    runHooks,
    createdAt: formatInstant(repository.createdAt),
    updatedAt: formatInstant(repository.updatedAt),
  };
}

function withoutCredentials(git: string): string {
  return git.replace(/^(https:\/\/)[^/@]*@/, '$1');
}
