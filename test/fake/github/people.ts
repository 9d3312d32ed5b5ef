import type { Person } from '../hosted/git.ts';
import type { User } from './model.ts';

/** The committer of merges on GitHub's pages and API. */
export const WEB_FLOW = { name: 'GitHub', email: 'noreply@github.com' };

export function personOf({ id, login, name }: User, at: number): Person {
  return { name, email: `${id}+${login}@users.noreply.github.com`, at };
}
