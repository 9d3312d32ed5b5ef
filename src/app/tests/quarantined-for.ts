import { suiteNameOf } from '../../flaky/core/paths.ts';
import { coveredPaths, type QuarantinedFor } from '../../flaky/coverage.ts';
import type { Instant } from '../../lib/clock.ts';
import type { Repository } from '../../storage/repositories.ts';
import { decodeState, quarantineBy } from '../../storage/test-codec.ts';
import type { KnownTest } from '../../storage/test-ingest.ts';
import type { StoredTestSettings } from '../../storage/test-settings.ts';
import type { TestRow } from '../../storage/tests.ts';
import type { App } from '../core/app.ts';
import { getTestSettings } from './stored-test-settings.ts';

/** An expired decision counts as none, also before the stored test follows. */
export function quarantinedFor(
  { test, memory }: KnownTest,
  settings: StoredTestSettings,
  now: Instant,
): QuarantinedFor {
  const isBehind = memory.settingsVersion !== settings.version;
  const state = decodeState(memory.state);
  const monitors = isBehind ? settings.appliedMonitors : settings.monitors;
  return { state, monitors, quarantine: quarantineBy(test, state, now) };
}

interface QuarantinedSuites {
  readonly quarantined_suites?: readonly string[];
}

/** No field where the test is not quarantined, or no results named a suite. */
// SPEC F83
export function viewSuites(test: TestRow, of: QuarantinedFor): QuarantinedSuites {
  if (test.quarantinedAt === null) return {};
  const names = coveredPaths(of).map((path) => suiteNameOf(test.parent, path));
  return names.length === 0 ? {} : { quarantined_suites: names };
}

/** The same for a page of tests, by test id. Only those of quarantined tests are read. */
export async function loadSuites(
  app: App,
  repository: Repository,
  tests: readonly TestRow[],
): Promise<ReadonlyMap<string, QuarantinedSuites>> {
  const ids = tests.flatMap(({ id, quarantinedAt }) => (quarantinedAt === null ? [] : [id]));
  if (ids.length === 0) return new Map();
  const settings = await getTestSettings(app, repository);
  const { known } = await app.store.testIngest.load(repository.id, ids);
  const now = app.clock.now();
  return new Map(known.map((each) => [each.test.id, viewSuites(each.test, quarantinedFor(each, settings, now))]));
}
