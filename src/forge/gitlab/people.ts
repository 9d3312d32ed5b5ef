import type { ForgeRepository } from '../forge.ts';
import { instantOf } from '../hosted/forge-text.ts';
import type { Permission, Person, Retarget } from '../hosting.ts';
import type { GitlabClient } from './api/client.ts';
import type { NoteData, UserData } from './api/data.ts';

export function personOf(user: UserData | null, own: UserData): Person {
  return { login: user?.username ?? 'ghost', isBot: user === null || isBot(user), isOwn: user?.id === own.id };
}

/** Accounts of access tokens have such names. */
function isBot({ bot, username }: UserData): boolean {
  return bot === true || /^(?:project|group)_\d+_bot(?:_[0-9a-f]+)?$/.test(username);
}

const ROLES: readonly (readonly [number, Permission])[] = [
  [50, 'admin'],
  [40, 'maintain'],
  [30, 'write'],
  [20, 'triage'],
  [10, 'read'],
];

export async function permissionOf(
  client: GitlabClient,
  repository: ForgeRepository,
  user: Pick<UserData, 'id'> | null,
): Promise<Permission> {
  if (user === null) return 'none';
  const path = `/members/all/${user.id}`;
  const member = await client.find<{ readonly access_level: number; readonly state?: string }>({ repository, path });
  if (member === undefined || (member.state ?? 'active') !== 'active') return 'none';
  return ROLES.find(([level]) => member.access_level >= level)?.[1] ?? 'none';
}

/** With the id, another account that has the login by now has none. */
export async function findPermission(
  client: GitlabClient,
  repository: ForgeRepository,
  login: string,
  accountId?: string,
): Promise<Permission> {
  if (login === '') return 'none';
  const { data } = await client.request<readonly UserData[]>({ path: '/users', query: { username: login } });
  const user = data.find(({ username }) => username.toLowerCase() === login.toLowerCase());
  if (user === undefined || (accountId !== undefined && String(user.id) !== accountId)) return 'none';
  return permissionOf(client, repository, user);
}

const RETARGETED = /^(?:changed target branch from `|deleted the `.*` branch\. This merge request now targets the `)/;

/** GitLab tells of a changed target in a note of its own. `notes` are newest first. */
export function retargetIn(notes: readonly NoteData[], own: UserData): { readonly retarget?: Retarget } {
  const last = notes.find(({ system, body }) => system && RETARGETED.test(body));
  if (last === undefined) return {};
  // A time that cannot be parsed counts as just now.
  const at = instantOf(last.created_at) ?? Number.POSITIVE_INFINITY;
  const isByItself = last.body.startsWith('deleted');
  return { retarget: { at, by: isByItself || last.author === null ? undefined : personOf(last.author, own) } };
}
