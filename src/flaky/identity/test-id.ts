import { uuidV5 } from './uuid-v5.ts';

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
