import { inspectRepository as inspect } from '../../app/repositories/inspect-repository.ts';
import { inspectRepository } from '../../contract/repositories.ts';
import { route } from '../core/route.ts';

export const inspectRepositoryRoute = route(inspectRepository, ({ app, caller }, { repo, targetBranch }) =>
  inspect(app, caller, { repo, targetBranch }),
);
