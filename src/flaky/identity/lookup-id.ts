import { createTestIds, type TestScope } from './test-id.ts';
import { cutVariant } from './variant.ts';

/** A failing test as a client asks about it. */
export interface LookupIdentifier {
  readonly id: string;
  readonly name: string;
  readonly parentName: string;
  readonly className: string | null;
  readonly file: string | null;
  readonly variant: string | null;
  /** The suites below `parentName` in which it failed; null or absent: not told. */
  readonly suitePaths?: readonly string[] | null;
}

/** The id a client sent, which is the only one it understands in an answer, and those it may be known by here. */
export interface LookupIds {
  readonly sent: string;
  readonly candidates: readonly string[];
}

/**
 * A client sends the raw `id` attribute of the report where there is one, and ignores the variant then; the id of the same
 * test's runs is made from it. Without an attribute it sends the id itself, and the names give the same one.
 */
export function createLookupIds(scope: Omit<TestScope, 'variant'>): (identifier: LookupIdentifier) => LookupIds {
  const byVariant = new Map<string, ReturnType<typeof createTestIds>>();
  return (identifier) => {
    const variant = cutVariant(identifier.variant);
    let ids = byVariant.get(variant);
    if (ids === undefined) {
      ids = createTestIds({ ...scope, variant });
      // Requests have one variant; one with thousands is no reason to keep thousands.
      if (byVariant.size < 16) byVariant.set(variant, ids);
    }
    const names = {
      file: identifier.file ?? '',
      classname: identifier.className ?? '',
      parent: identifier.parentName,
      name: identifier.name,
    };
    const candidates = [identifier.id, ids({ ...names, infoId: '' }), ids({ ...names, infoId: identifier.id })];
    return { sent: identifier.id, candidates: [...new Set(candidates)] };
  };
}
