import type { ReplyOf, RequestOf } from '../../contract/operation.ts';
import type * as uploaderContract from '../../contract/uploader.ts';
import { onlyPathOf } from '../../flaky/core/paths.ts';
import { isCovered, type QuarantinedFor } from '../../flaky/coverage.ts';
import { createLookupIds } from '../../flaky/identity/test-id.ts';
import { isSetupCase } from '../../junit/setup-case.ts';
import type { Repository } from '../../storage/repositories.ts';
import { readTestSettings } from '../../storage/test-codec.ts';
import type { App } from '../core/app.ts';
import { type Caller, maySee } from '../core/caller.ts';
import { organizationNotFound } from '../core/list-page.ts';
import type { Answer } from '../core/refusal.ts';
import { quarantinedFor } from './stored-test-settings.ts';

/** Which of the failing tests are quarantined. None for a repository without uploads. */
// SPEC U20
export async function getQuarantineConfig(
  app: App,
  caller: Caller,
  input: RequestOf<typeof uploaderContract.getQuarantineConfig>,
): Answer<ReplyOf<typeof uploaderContract.getQuarantineConfig>> {
  const { organization } = caller;
  if (input.orgUrlSlug !== organization.slug) return organizationNotFound(input.orgUrlSlug);
  const repository = await app.directory.findRepository(organization.id, input.repo);
  if (repository === undefined || !maySee(caller, repository)) return { isDisabled: false, testIds: [] };
  const [stored, { ids }] = await Promise.all([
    app.store.testSettings.find(repository.id),
    app.directory.findQuarantined(repository.id),
  ]);
  if (stored?.settings.quarantineEnabled === false) return { isDisabled: true, testIds: [] };
  if (ids.size === 0) return { isDisabled: false, testIds: [] };
  if (input.testIdentifiers.length === 0) {
    const covers = await loadCoverage(app, repository, [...ids]);
    return { isDisabled: false, testIds: [...ids].filter((id) => covers(id, null)) };
  }
  // Ids contain the repository's name as stored, whatever the case in the request.
  const lookUp = createLookupIds({ org: organization.slug, repository });
  const unknown = { className: null, file: null, variant: null };
  const asked = input.testIdentifiers.flatMap((test) => {
    const { sent, candidates } = lookUp({ ...unknown, ...test, parentName: test.parentName ?? '' });
    const id = candidates.find((each) => ids.has(each));
    return id === undefined ? [] : [{ sent, id, suitePaths: test.suitePaths ?? null }];
  });
  const covers = await loadCoverage(app, repository, [...new Set(asked.map(({ id }) => id))]);
  const found = asked.filter(({ id, suitePaths }) => covers(id, suitePaths)).map(({ sent }) => sent);
  return { isDisabled: false, testIds: [...new Set(found)] };
}

const LOAD_AT_ONCE = 1_000;

/** Whether the quarantine covers the suites in which the test failed. Null: unknown, so that all must be covered. */
type Covers = (testId: string, suitePaths: readonly string[] | null) => boolean;

async function loadCoverage(app: App, repository: Repository, ids: readonly string[]): Promise<Covers> {
  const tests = new Map<string, QuarantinedFor>();
  if (ids.length === 0) return () => false;
  const settings = await readTestSettings(app.store, repository);
  for (let from = 0; from < ids.length; from += LOAD_AT_ONCE) {
    const some = ids.slice(from, from + LOAD_AT_ONCE);
    const { known } = await app.store.testIngest.load(repository.id, some);
    for (const each of known) {
      // Earlier versions took errors before any test for tests.
      if (isSetupCase({ ...each.test, suite: each.test.parent ?? '', status: 'failure', outcome: null })) continue;
      tests.set(each.test.id, quarantinedFor(each, settings, app.clock.now()));
    }
  }
  return (testId, suitePaths) => {
    const test = tests.get(testId);
    return test !== undefined && (suitePaths ?? [null]).every((path) => holds(test, path));
  };
}

/** A test of one suite only is covered as a whole. */
function holds(test: QuarantinedFor, path: string | null): boolean {
  const { paths } = test.state;
  if (paths === undefined || paths.length === 0) return true;
  const only = onlyPathOf(test.state);
  return only !== null && (path === null || path === only) ? true : isCovered(test, path);
}
