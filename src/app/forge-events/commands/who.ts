import type { QueueSettings } from '../../../engine/model/settings.ts';
import type { Permission, Person, Retarget } from '../../../forge/hosting.ts';
import type { Instant } from '../../../lib/clock.ts';
import { Fault } from '../../../lib/fault.ts';
import type { Repository } from '../../../storage/repositories.ts';
import type { App } from '../../core/app.ts';
import type { Caller } from '../../core/caller.ts';

const WRITERS: readonly Permission[] = ['write', 'maintain', 'admin'];

// SPEC G54
export function mayWrite(permission: Permission): boolean {
  return WRITERS.includes(permission);
}

/** Apps have no such permission: the queue's settings name the bots that may give commands. */
export function mayCommand(who: Person, permission: Permission, settings: QueueSettings): boolean {
  return who.isBot ? isAllowedBot(who, settings) : mayWrite(permission);
}

/** `name` and `name[bot]` are the same bot. */
// SPEC G137
export function isAllowedBot({ login }: Person, { allowedBotSubmitters }: QueueSettings): boolean {
  const plain = (name: string) => name.toLowerCase().replace(/\[bot\]$/, '');
  return allowedBotSubmitters.some((allowed) => plain(allowed) === plain(login));
}

export async function toCaller(
  app: Pick<App, 'store'>,
  repository: Repository,
  { login, isBot }: Person,
): Promise<Caller> {
  const organization = await app.store.accounts.findOrganizationById(repository.organizationId);
  if (organization === undefined) throw new Fault('STORE_UNAVAILABLE', 'The organization of a repository is missing.');
  return {
    organization,
    tokenId: '',
    name: `@${login}`,
    scopes: new Set(['submit']),
    repositoryIds: new Set([repository.id]),
    isPerson: true,
    ...(isBot ? { isAgent: true } : {}),
  };
}

/**
 * The author can change the base afterwards, and so choose another queue. Forges give whole seconds: within the same
 * second the order is unknown, so that the command does not count.
 */
// SPEC G81
export function isForBase(
  retarget: Retarget | undefined,
  said: { readonly by: Person; readonly at: Instant },
): boolean {
  if (retarget === undefined || retarget.at < said.at) return true;
  return retarget.by?.login.toLowerCase() === said.by.login.toLowerCase();
}
