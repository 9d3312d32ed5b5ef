import { hasMode, protectionOf, type Repository, type User } from './model.ts';

/** Whether the protection of a branch lets this account push to it, forward. */
export function mayPush(repository: Repository, branch: string, user: User): boolean {
  const rule = protectionOf(repository, branch)?.rule;
  if (rule === undefined) return hasMode(repository, user, 'write');
  if (rule['enable_push'] !== true) return false;
  if (rule['enable_push_whitelist'] !== true) return hasMode(repository, user, 'write');
  return (rule['push_whitelist_usernames'] as readonly string[]).includes(user.login);
}

export function mayMerge(repository: Repository, branch: string, user: User): boolean {
  const rule = protectionOf(repository, branch)?.rule;
  if (rule?.['enable_merge_whitelist'] !== true) return hasMode(repository, user, 'write');
  return (rule['merge_whitelist_usernames'] as readonly string[]).includes(user.login);
}
