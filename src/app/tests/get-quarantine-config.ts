import type { ReplyOf } from '../../contract/operation.ts';
import type * as uploaderContract from '../../contract/uploader.ts';
import { createLookupIds, type LookupIdentifier } from '../../flaky/identity/test-id.ts';
import type { RepositoryRef } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';
import { type Caller, maySee } from '../core/caller.ts';
import { organizationNotFound } from '../core/list-page.ts';
import type { Refusal } from '../core/refusal.ts';
import { loadCoverage } from './quarantine-coverage.ts';

export interface GetQuarantineConfig {
  readonly repo: RepositoryRef;
  readonly orgUrlSlug: string;
  /** Empty: every quarantined test. */
  readonly tests: readonly LookupIdentifier[];
}

/** Which of the failing tests are quarantined. None for a repository without uploads. */
export async function getQuarantineConfig(
  app: App,
  caller: Caller,
  input: GetQuarantineConfig,
): Promise<ReplyOf<typeof uploaderContract.getQuarantineConfig> | Refusal> {
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
  if (input.tests.length === 0) {
    const covers = await loadCoverage(app, repository, [...ids]);
    return { isDisabled: false, testIds: [...ids].filter((id) => covers(id, null)) };
  }
  // Ids contain the repository's name as stored, whatever the case in the request.
  const lookUp = createLookupIds({ org: organization.slug, repository });
  const asked = input.tests.flatMap((test) => {
    const { sent, candidates } = lookUp(test);
    const id = candidates.find((each) => ids.has(each));
    return id === undefined ? [] : [{ sent, id, suitePaths: test.suitePaths ?? null }];
  });
  const covers = await loadCoverage(app, repository, [...new Set(asked.map(({ id }) => id))]);
  const found = asked.filter(({ id, suitePaths }) => covers(id, suitePaths)).map(({ sent }) => sent);
  return { isDisabled: false, testIds: [...new Set(found)] };
}
