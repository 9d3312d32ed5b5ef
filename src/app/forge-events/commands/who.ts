import type { QueueSettings } from '../../../engine/settings.ts';
import type { Permission, Person } from '../../../forge/hosting.ts';
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

/** Makes a person at the forge a caller of the use cases. */
export async function toCaller(app: Pick<App, 'store'>, repository: Repository, { login }: Person): Promise<Caller> {
  const organization = await app.store.accounts.findOrganizationById(repository.organizationId);
  if (organization === undefined) throw new Fault('STORE_UNAVAILABLE', 'The organization of a repository is missing.');
  return {
    organization,
    tokenId: '',
    name: `@${login}`,
    scopes: new Set(['submit']),
    repositoryIds: new Set([repository.id]),
    isPerson: true,
  };
}
