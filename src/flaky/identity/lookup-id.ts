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
  /** The suites below `parentName` in which it failed; null or absent: unknown. */
  readonly suitePaths?: readonly string[] | null;
}

/**
 * `sent` is the client's own id, the only one it understands in an answer. `candidates` are the ids it may be stored
 * under.
 */
export interface LookupIds {
  readonly sent: string;
  readonly candidates: readonly string[];
}

/**
 * A client sends the raw `id` attribute of the report if there is one, and then ignores the variant; the stored id of
 * the test is made from that attribute. Without an attribute the client sends the test id itself, and the names give
 * the same one.
 */
export function createLookupIds(scope: Omit<TestScope, 'variant'>): (identifier: LookupIdentifier) => LookupIds {
  const byVariant = new Map<string, ReturnType<typeof createTestIds>>();
  return (identifier) => {
    const variant = cutVariant(identifier.variant);
    let ids = byVariant.get(variant);
    if (ids === undefined) {
      ids = createTestIds({ ...scope, variant });
      // A request has one variant in practice; the cap bounds the cache against a request with thousands.
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
