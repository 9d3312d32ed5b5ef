/** Converts between stored tests and the types of the pure rooms. */

import { pathsKnownAt } from '../flaky/core/paths.ts';
import type { UploadFacts } from '../flaky/core/run.ts';
import type { TestState } from '../flaky/core/state.ts';
import type { Quarantine, QuarantineOverride, QuarantineSettings } from '../flaky/quarantine.ts';
import { DEFAULT_TEST_SETTINGS, defaultMonitors, type TestSettings } from '../flaky/settings.ts';
import type { Instant } from '../lib/clock.ts';
import type { Repository } from './repositories.ts';
import type { BatchFacts } from './test-ingest.ts';
import type { StoredTestSettings, TestSettingsStore } from './test-settings.ts';
import type { TestEventRow, TestRow } from './tests.ts';

export async function readTestSettings(
  { testSettings }: { readonly testSettings: Pick<TestSettingsStore, 'find'> },
  repository: Pick<Repository, 'id' | 'createdAt'>,
): Promise<StoredTestSettings> {
  return currentTestSettings(repository, await testSettings.find(repository.id));
}

/** The settings of a repository. If they were never changed, these are the defaults, which are version 0. */
export function currentTestSettings(
  repository: Pick<Repository, 'id' | 'createdAt'>,
  stored: StoredTestSettings | undefined,
): StoredTestSettings {
  if (stored !== undefined && stored.appliedVersion > 0) return stored;
  const defaults = defaultMonitors(repository.id, repository.createdAt);
  if (stored !== undefined) return { ...stored, appliedMonitors: defaults };
  return {
    version: 0,
    settings: DEFAULT_TEST_SETTINGS,
    monitors: defaults,
    appliedVersion: 0,
    appliedMonitors: defaults,
    actor: null,
    changedAt: null,
  };
}

export function quarantineSettingsOf({ quarantineEnabled, autoQuarantine }: TestSettings): QuarantineSettings {
  return { isEnabled: quarantineEnabled, isAutomatic: autoQuarantine };
}

export function overrideOf(test: Pick<TestRow, 'quarantineOverride' | 'override'>): QuarantineOverride | null {
  const { quarantineOverride: mode, override } = test;
  return mode === 'UNSPECIFIED' ? null : { mode, expiresAt: override?.expiresAt ?? null };
}

// SPEC F82
export function quarantineBy({ quarantineOverride, override }: TestRow, state: TestState, now: Instant): Quarantine {
  if (quarantineOverride !== 'ALWAYS_QUARANTINE' || override === null) return { by: 'auto' };
  const { at, expiresAt, suites = pathsKnownAt(state, at) } = override;
  return (expiresAt ?? Number.POSITIVE_INFINITY) <= now ? { by: 'auto' } : { by: 'person', at, suites };
}

/** When the test must be evaluated without a new run. An override that has ended stays due until it is removed. */
export function nextCheckOf(test: Pick<TestRow, 'override'>, state: TestState): Instant | null {
  const end = test.override?.expiresAt ?? null;
  if (end === null || state.nextCheckAt === null) return state.nextCheckAt ?? end;
  return Math.min(end, state.nextCheckAt);
}

export function uploadFactsOf(
  { uploadId, branch, sha, tree, candidateId, job, jobAttempt, prNumber, flaw }: BatchFacts,
  { testBranchPrefix }: { readonly testBranchPrefix: string },
): UploadFacts {
  const isTestBranch = branch.startsWith(`${testBranchPrefix}/`);
  return { id: uploadId, branch, isTestBranch, sha, tree, candidateId, job, jobAttempt, prNumber, flaw };
}

export function decodeState(text: string): TestState {
  return JSON.parse(text) as TestState;
}

export function encodeState(state: TestState): string {
  return JSON.stringify(state);
}

/** Instant, kind and actor have columns of their own; the rest of an event is its detail. */
export function eventRowOf(
  testId: string,
  event: { readonly kind: string; readonly at: Instant; readonly actor: string | null },
): TestEventRow {
  const { kind, at, actor, ...detail } = event;
  return { testId, kind, at, actor, detail: JSON.stringify(detail) };
}
