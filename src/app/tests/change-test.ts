/**
 * Results that arrive meanwhile win: the act is applied again to the new state. Stored counts may lack recent passes,
 * which ingest has counted only in memory. Active monitors are always complete.
 */

import type { Monitor } from '../../flaky/core/monitor.ts';
import type { TestState } from '../../flaky/core/state.ts';
import { recordTest } from '../../flaky/test-record.ts';
import type { Instant } from '../../lib/clock.ts';
import type { Repository } from '../../storage/repositories.ts';
import {
  encodeState,
  eventRowOf,
  nextCheckOf,
  overrideOf,
  quarantineSettingsOf,
  readTestSettings,
} from '../../storage/test-codec.ts';
import type { KnownTest } from '../../storage/test-ingest.ts';
import type { StoredTestSettings } from '../../storage/test-settings.ts';
import type { TestRow } from '../../storage/tests.ts';
import type { App } from '../core/app.ts';
import { betweenResults } from '../core/between-results.ts';
import type { Caller } from '../core/caller.ts';
import { findTestScope, type TestScope } from '../core/list-page.ts';
import { type Answer, isRefusal, type Refusal } from '../core/refusal.ts';
import { type TestDetails, type TestDetailsView, testNotFound, viewTestDetails } from './get-test-details.ts';
import { quarantinedFor } from './stored-test-settings.ts';
import type { Place } from './test-view.ts';

interface FoundTest {
  readonly test: TestRow;
  readonly state: TestState;
  /** The monitors that the stored state follows; the settings have the latest ones. */
  readonly monitors: readonly Monitor[];
  readonly settings: StoredTestSettings;
  readonly at: Instant;
}

export interface ActedTest {
  readonly test: TestRow;
  readonly state: TestState;
  readonly events: readonly { readonly kind: string; readonly at: Instant; readonly actor: string | null }[];
}

export interface ChangedTest {
  readonly test: TestDetailsView;
}

export async function changeTest(
  app: App,
  caller: Caller,
  { baseUrl, ...input }: TestScope & Place & { readonly test_id: string },
  act: (found: FoundTest) => ActedTest | Refusal,
): Answer<ChangedTest> {
  const repository = await findTestScope(app, caller, input);
  if (isRefusal(repository)) return repository;
  const links = { baseUrl, orgSlug: caller.organization.slug };
  const of = { repository, testId: input.test_id, actor: caller.name };
  const changed = await betweenResults(app, () => tryChange(app, of, act));
  if (isRefusal(changed)) return changed;
  return { test: await viewTestDetails(app, { ...changed, repository, links }) };
}

/** Undefined: another writer committed first. */
// SPEC F54
async function tryChange(
  app: App,
  of: { readonly repository: Repository; readonly testId: string; readonly actor: string },
  act: (found: FoundTest) => ActedTest | Refusal,
): Promise<Omit<TestDetails, 'repository' | 'links'> | Refusal | undefined> {
  const { repository, testId, actor } = of;
  const settings = await readTestSettings(app.store, repository);
  const { seq, known: all } = await app.store.testIngest.load(repository.id, [testId]);
  const [known] = all;
  if (known === undefined) return testNotFound(testId);
  const found = findTest(known, settings, app.clock.now());
  const acted = act(found);
  if (isRefusal(acted)) return acted;
  if (acted.events.length === 0) return { test: known.test, state: found.state, settings };
  const change = record(known, acted, { settings, at: found.at, actor });
  const stored = await app.store.testIngest.commit(
    { repositoryId: repository.id, expectedSeq: seq, failures: [], ...change },
    found.at,
  );
  return stored === undefined ? undefined : { test: change.tests[0], state: acted.state, settings };
}

function findTest(known: KnownTest, settings: StoredTestSettings, at: Instant): FoundTest {
  // The step that brings the test up to the latest settings compares with the monitors it follows now.
  const { state, monitors } = quarantinedFor(known, settings, at);
  return { test: known.test, state, monitors, settings, at };
}

// SPEC F24
function record(
  known: KnownTest,
  { test, state, events }: ActedTest,
  of: { readonly settings: StoredTestSettings; readonly at: Instant; readonly actor: string },
) {
  const { record, event } = recordTest(state, {
    override: overrideOf(test),
    settings: quarantineSettingsOf(of.settings.settings),
    quarantinedAt: known.test.quarantinedAt,
    at: of.at,
    actor: of.actor,
  });
  const row: TestRow = { ...test, ...record };
  const all = event === undefined ? events : [...events, event];
  return {
    tests: [row] as const,
    // The sequence number of the memory stays: nothing new was counted.
    memories: [{ ...known.memory, state: encodeState(state), nextCheckAt: nextCheckOf(row, state) }],
    events: all.map((each) => eventRowOf(test.id, each)),
  };
}
