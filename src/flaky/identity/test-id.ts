import { hash } from 'node:crypto';
import { cutBytes } from '../../lib/text.ts';

/** The names of one test, as its report has them. Missing values are empty. */
export interface TestNames {
  readonly file: string;
  readonly classname: string;
  /** The outermost suite. */
  readonly parent: string;
  readonly name: string;
  /** The raw `id` attribute of the report. */
  readonly infoId: string;
}

export interface TestScope {
  /** The organization's slug, as the client typed it. */
  readonly org: string;
  readonly repository: { readonly host: string; readonly owner: string; readonly name: string };
  /** Empty: no variant. */
  readonly variant: string;
}

/** Makes the ids of the tests of one upload. */
export type TestIds = (test: TestNames) => string;

const UUID_V5 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const KIND = 'JUNIT_TESTCASE';

// SPEC U1
export function createTestIds({ org, repository, variant }: TestScope): TestIds {
  const { host, owner, name } = repository;
  const ofRepository = `${org}#${host}/${owner}/${name}#`;
  const suffix = variant === '' ? '' : `#${variant}`;
  const first: TestIds = (test) => {
    if (test.infoId.startsWith('trunk:')) return uuidV5(ofRepository + test.infoId + suffix);
    if (isUuidV5(test.infoId)) return variant === '' ? test.infoId : uuidV5(test.infoId + suffix);
    return uuidV5(`${ofRepository}${test.file}#${test.classname}#${test.parent}#${test.name}#${KIND}${suffix}`);
  };
  // With a variant the uploader hashes twice: the first result is a version 5 UUID, which is hashed again with the
  // variant.
  return variant === '' ? first : (test) => uuidV5(first(test) + suffix);
}

function isUuidV5(text: string): boolean {
  return (text.length === 36 || text.length === 32) && UUID_V5.test(text);
}

/** The namespace of URLs (RFC 9562): the uploader uses it for every text. */
const NAMESPACE = Buffer.from('6ba7b8119dad11d180b400c04fd430c8', 'hex');

// SPEC U50
export function uuidV5(text: string): string {
  const hex = hash('sha1', Buffer.concat([NAMESPACE, Buffer.from(text)]), 'hex');
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

const MAX_VARIANT_BYTES = 64;

/** Cuts a variant as the uploader does: 64 bytes of UTF-8, never within a character. */
// SPEC U2
export function cutVariant(variant: string | null | undefined): string {
  return cutBytes(variant ?? '', MAX_VARIANT_BYTES);
}

/** A longer path ends in a digest, so that two long paths stay different. */
const MAX_LENGTH = 300;

/**
 * The suites around a case below the outermost one, which is part of the test's id already. Tests of one name in nested
 * suites share an id, and their paths tell them apart. Empty if there is no inner suite.
 */
// SPEC F35
export function suitePathOf(suites: readonly string[]): string {
  if (suites.length < 2) return '';
  // Doubling the sign inside names keeps the separator unambiguous.
  const path = suites
    .slice(1)
    .map((name) => name.replaceAll('>', '>>').replaceAll('\0', ''))
    .join(' > ')
    .toWellFormed();
  return path.length <= MAX_LENGTH ? path : `${path.slice(0, MAX_LENGTH).toWellFormed()} ${uuidV5(path)}`;
}

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
interface LookupIds {
  readonly sent: string;
  readonly candidates: readonly string[];
}

/**
 * A client sends the raw `id` attribute of the report if there is one, and then ignores the variant; the stored id of
 * the test is made from that attribute. Without an attribute the client sends the test id itself, and the names give
 * the same one.
 */
// SPEC U3
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
