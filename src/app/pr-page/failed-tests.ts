import type { TestRow } from '../../storage/tests.ts';
import { testLink } from '../tests/test-view.ts';
import type { FailedCheck, FailedTestFacts } from './page-facts.ts';
import type { PageHost } from './place.ts';

/** A comment shows fewer. */
const MAX_TESTS = 100;

const ORDER: readonly FailedTestFacts['kind'][] = ['failed', 'broken', 'flaky', 'quarantined'];

/** The failed tests of a candidate's check, as uploaded, the most important first. */
export async function collectFailedTests(
  { app, repository }: PageHost,
  candidateId: string,
  check: string,
): Promise<Pick<FailedCheck, 'tests' | 'failing'>> {
  const results = await app.store.testIngest.findCheckResults(repository.id, candidateId, check);
  const failing = results?.failing.length ?? 0;
  if (results === undefined || failing === 0) return { tests: [], failing };
  const ids = results.failing.slice(0, MAX_TESTS).map(({ testId }) => testId);
  const { known } = await app.store.testIngest.load(repository.id, ids);
  const organization = await app.store.accounts.findOrganizationById(repository.organizationId);
  const linkOf = (testId: string) =>
    app.publicUrl === undefined || organization === undefined
      ? undefined
      : testLink(testId, repository, { baseUrl: app.publicUrl, orgSlug: organization.slug });
  const tests = known.map(({ test }) => ({ name: fullName(test), kind: kindOf(test), url: linkOf(test.id) }));
  return { failing, tests: tests.toSorted((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind)) };
}

function kindOf({ quarantinedAt, status }: TestRow): FailedTestFacts['kind'] {
  if (quarantinedAt !== null) return 'quarantined';
  if (status === 'FLAKY') return 'flaky';
  return status === 'BROKEN' ? 'broken' : 'failed';
}

function fullName({ parent, name }: TestRow): string {
  return parent === null || parent === '' ? name : `${parent} › ${name}`;
}
