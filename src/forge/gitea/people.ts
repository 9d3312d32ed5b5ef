import type { PrNumber } from '../../engine/model/pull-request.ts';
import type { Instant } from '../../lib/clock.ts';
import { formatInstant } from '../../lib/clock.ts';
import type { ForgeRepository } from '../forge.ts';
import { instantOf } from '../hosted/forge-text.ts';
import type { Permission, Person, Retarget } from '../hosting.ts';
import type { GiteaClient } from './api/client.ts';
import type { AccountData, TimelineData } from './api/data.ts';

/** Deleted accounts and Gitea Actions have numbers below one. */
export function isAccount(account: AccountData | null | undefined): account is AccountData {
  return account !== null && account !== undefined && account.id > 0;
}

export function personOf(account: AccountData | null | undefined, own: AccountData): Person {
  return {
    login: account?.login ?? 'ghost',
    isBot: !isAccount(account),
    isOwn: account?.id === own.id,
  };
}

const PERMISSIONS: Readonly<Record<string, Permission>> = {
  none: 'none',
  read: 'read',
  write: 'write',
  admin: 'admin',
  owner: 'admin',
};

// SPEC G19
export async function findPermission(
  client: GiteaClient,
  repository: ForgeRepository,
  login: string,
): Promise<Permission> {
  if (login === '') return 'none';
  const { status, data } = await client.request<{ readonly permission?: string }>({
    repository,
    path: `/collaborators/${encodeURIComponent(login)}/permission`,
    accept: [404, 422],
  });
  const { permission = '' } = status < 300 ? data : {};
  return Object.hasOwn(PERMISSIONS, permission) ? (PERMISSIONS[permission] ?? 'none') : 'none';
}

const MAX_PAGES = 40;

/** Events of a pull request since an instant, oldest first. */
export function readTimeline(
  client: GiteaClient,
  repository: ForgeRepository,
  number: PrNumber,
  since: Instant | undefined,
): Promise<readonly TimelineData[]> {
  const query = since === undefined ? {} : { since: formatInstant(since) };
  return client.list<TimelineData>({ repository, path: `/issues/${number}/timeline`, query }, MAX_PAGES);
}

export function retargetIn(events: readonly TimelineData[], own: AccountData): { readonly retarget?: Retarget } {
  const last = events.findLast(({ type }) => type === 'change_target_branch');
  if (last === undefined) return {};
  // A time that cannot be parsed counts as just now.
  const at = instantOf(last.created_at) ?? Number.POSITIVE_INFINITY;
  return { retarget: { at, by: isAccount(last.user) ? personOf(last.user, own) : undefined } };
}
