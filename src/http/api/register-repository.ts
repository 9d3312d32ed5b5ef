import { registerRepository as register } from '../../app/repositories/register-repository.ts';
import { registerRepository } from '../../contract/repositories.ts';
import { route } from '../core/route.ts';

export const registerRepositoryRoute = route(
  registerRepository,
  ({ app, caller }, { repo, git, checks, junit, trustChecks, runHooks }) =>
    register(app, caller, {
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
);
