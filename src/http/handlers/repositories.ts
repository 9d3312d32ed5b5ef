import { inspectRepository } from '../../app/repositories/inspect-repository.ts';
import { listRepositories } from '../../app/repositories/list-repositories.ts';
import { registerRepository } from '../../app/repositories/register-repository.ts';
import { removeRepository } from '../../app/repositories/remove-repository.ts';
import * as repositoriesContract from '../../contract/repositories.ts';
import { type Route, route } from '../core/route.ts';

export const REPOSITORIES_ROUTES: readonly Route[] = [
  route(
    repositoriesContract.registerRepository,
    ({ app, caller }, { repo, git, checks, junit, trustChecks, runHooks }) =>
      registerRepository(app, caller, {
        repo,
        git,
        checks: checks?.map(({ name, command, timeoutMinutes, network }) => ({
          name,
          command,
          timeoutMinutes: timeoutMinutes ?? null,
          ...(network === true ? { network } : {}),
        })),
        junit,
        trustChecks,
        runHooks,
      }),
  ),
  route(repositoriesContract.listRepositories, ({ app, caller }) => listRepositories(app, caller)),
  route(repositoriesContract.inspectRepository, ({ app, caller }, { repo, targetBranch }) =>
    inspectRepository(app, caller, { repo, targetBranch }),
  ),
  route(repositoriesContract.removeRepository, ({ app, caller }, { repo }) => removeRepository(app, caller, { repo })),
];
