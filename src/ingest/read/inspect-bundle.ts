import type { BundleLimits } from '../../bundle/read-bundle.ts';
import { readBundle, readCodeOwners } from '../../bundle/read-bundle.ts';
import { Unreadable } from '../../bundle/unreadable.ts';

/**
 * Goes through a bundle without reading what is in it, and answers the text of its CODEOWNERS, which uploaders write
 * last. Throws what would refuse all of the bundle; that it is cut off is noticed again by whoever reads it.
 */
export async function inspectBundle(
  open: () => AsyncIterable<Uint8Array>,
  limits: BundleLimits,
): Promise<string | undefined> {
  let owners: string | undefined;
  try {
    for await (const part of readBundle(open, { onIssue: () => {}, limits })) {
      if (part.kind === 'code-owners') owners = await readCodeOwners(part);
    }
  } catch (error) {
    if (!(error instanceof Unreadable && error.isPartlyUsable)) throw error;
  }
  return owners;
}
