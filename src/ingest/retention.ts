import type { Instant } from '../lib/clock.ts';
import type { Repository } from '../storage/repositories.ts';
import type { Store } from '../storage/store.ts';
import { readTestSettings } from '../storage/test-codec.ts';

const DAY_MS = 86_400_000;
/** Rows per transaction. */
const FORGET_AT_ONCE = 2_000;

export interface KeepLimits {
  /** How long the bodies of uploads are kept for reprocessing. */
  readonly uploadKeepDays: number;
  readonly uploadKeepBytes: number;
}

/** Removes runs older than each repository's retention; `onForgotten` gets the repositories whose tests may be gone. */
// SPEC U36
export async function forgetOldRuns(
  store: Store,
  repositories: readonly Repository[],
  {
    now,
    step,
    onForgotten,
  }: {
    readonly now: Instant;
    readonly step: () => Promise<void>;
    readonly onForgotten: (repository: Repository) => void;
  },
): Promise<number> {
  let forgotten = 0;
  for (const repository of repositories) {
    const { settings } = await readTestSettings(store, repository);
    for (let count = -1; count !== 0; forgotten += count) {
      await step();
      count = await store.testUpkeep.forget(repository.id, now - settings.retentionDays * DAY_MS, FORGET_AT_ONCE);
      if (count > 0) onForgotten(repository);
    }
  }
  for (let count = -1; count !== 0; forgotten += count) {
    await step();
    count = await store.testUpkeep.purge(FORGET_AT_ONCE);
  }
  return forgotten;
}

/** The repository with the longest retention decides how long uploads are listed. */
// SPEC U36
export async function tidyUploads(
  store: Store,
  repositories: readonly Repository[],
  { now, limits }: { readonly now: Instant; readonly limits: KeepLimits },
): Promise<number> {
  const all = await Promise.all(repositories.map((repository) => readTestSettings(store, repository)));
  const days = Math.max(limits.uploadKeepDays, ...all.map(({ settings }) => settings.retentionDays));
  return store.uploadWork.tidy({
    now,
    bodiesBefore: now - limits.uploadKeepDays * DAY_MS,
    maxBytes: limits.uploadKeepBytes,
    uploadsBefore: now - days * DAY_MS,
  });
}
