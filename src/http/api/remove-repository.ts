import { removeRepository as remove } from '../../app/remove-repository.ts';
import { removeRepository } from '../contract/repositories.ts';
import { route } from '../route.ts';

export const removeRepositoryRoute = route(removeRepository, ({ app, caller }, { repo }) =>
  remove(app, caller, { repo }),
);
