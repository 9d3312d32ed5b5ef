import { removeRepository as remove } from '../../app/repositories/remove-repository.ts';
import { removeRepository } from '../../contract/repositories.ts';
import { route } from '../core/route.ts';

export const removeRepositoryRoute = route(removeRepository, ({ app, caller }, { repo }) =>
  remove(app, caller, { repo }),
);
