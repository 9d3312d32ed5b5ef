import { listRepositories as list } from '../../app/list-repositories.ts';
import { listRepositories } from '../contract/repositories.ts';
import { route } from '../route.ts';

export const listRepositoriesRoute = route(listRepositories, ({ app, caller }) => list(app, caller));
