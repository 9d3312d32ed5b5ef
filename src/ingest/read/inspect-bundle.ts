import type { BundleLimits } from '../../bundle/read-bundle.ts';
import { readBundle, readCodeOwners } from '../../bundle/read-bundle.ts';
import { Unreadable } from '../../bundle/unreadable.ts';

/**
 * Walks through a bundle without parsing its files, and returns the text of its CODEOWNERS, which uploaders write last.
 * Throws if the whole bundle must be refused. A truncated bundle is no error here, because the reader reports it again.
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
