import type { Person, Retarget } from '../../../forge/hosting.ts';
import type { Instant } from '../../../lib/clock.ts';

/**
 * A command is about the base that the pull request had then. Its author can change the base afterwards, and so choose
 * another queue. A person who changed the base themselves means the new one. Forges give whole seconds: within the same
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
