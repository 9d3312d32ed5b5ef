import type { Check } from '../../engine/model/check.ts';
import type { RepositoryId } from '../../storage/repositories.ts';
import type { App } from './app.ts';

/** Adds to a report of passed checks that the repository has uploads: without any, no reports are waited for. */
// SPEC V58
export async function uploadsOf(
  { store }: Pick<App, 'store'>,
  repositoryId: RepositoryId,
  checks: readonly Pick<Check, 'conclusion'>[],
): Promise<Pick<Check, 'hasUploads'>> {
  if (!checks.some(({ conclusion }) => conclusion === 'SUCCESS')) return {};
  return (await store.uploads.getWatermark(repositoryId)) === 0 ? {} : { hasUploads: true };
}
