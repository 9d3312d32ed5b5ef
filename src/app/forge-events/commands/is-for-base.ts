import type { Person, Retarget } from '../../../forge/hosting.ts';
import type { Instant } from '../../../lib/clock.ts';

/**
 * What somebody said is about the base that the pull request had then. Its author can choose another one afterwards, and
 * so another queue; whoever said it and chose that base themselves means it. Forges tell whole seconds: of the same
 * second, nobody knows what came first.
 */
export function isForBase(
  retarget: Retarget | undefined,
  said: { readonly by: Person; readonly at: Instant },
): boolean {
  if (retarget === undefined || retarget.at < said.at) return true;
  return retarget.by?.login.toLowerCase() === said.by.login.toLowerCase();
}
