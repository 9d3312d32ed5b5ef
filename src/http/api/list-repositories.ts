import { listRepositories as list } from '../../app/repositories/list-repositories.ts';
import { listRepositories } from '../../contract/repositories.ts';
import { route } from '../core/route.ts';

export const listRepositoriesRoute = route(listRepositories, ({ app, caller }) => list(app, caller));
