import { formatInstant } from '../../lib/clock.ts';
import type { Repository, RepositoryRef, RunnerCheck } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';
import { explainBlockedChecks } from './checks-blocked.ts';

export interface RepositoryView {
  readonly repo: RepositoryRef;
  readonly git: string | null;
  readonly checks: readonly Required<RunnerCheck>[];
  readonly junit: readonly string[];
  readonly trustChecks: boolean;
  readonly checksBlocked: string | null;
  readonly runHooks: boolean;
  readonly createdAt: string;
  readonly updatedAt: string;
}

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
