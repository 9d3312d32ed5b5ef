import { onlyPathOf } from '../../flaky/core/paths.ts';
import { isCovered, type QuarantinedFor } from '../../flaky/coverage.ts';
import type { Repository } from '../../storage/repositories.ts';
import { decodeState } from '../../storage/test-codec.ts';
import type { KnownTest } from '../../storage/test-ingest.ts';
import type { StoredTestSettings } from '../../storage/test-settings.ts';
import type { App } from '../core/app.ts';
import { getTestSettings } from './test-settings.ts';

const LOAD_AT_ONCE = 1_000;

/**
 * Whether the quarantine of a test covers the suites in which it failed. Null: unknown suites, so that all must be
 * covered.
 */
export type Covers = (testId: string, suitePaths: readonly string[] | null) => boolean;

export async function loadCoverage(app: App, repository: Repository, ids: readonly string[]): Promise<Covers> {
  const tests = new Map<string, QuarantinedFor>();
  if (ids.length === 0) return () => false;
  const settings = await getTestSettings(app, repository);
  for (let from = 0; from < ids.length; from += LOAD_AT_ONCE) {
    const some = ids.slice(from, from + LOAD_AT_ONCE);
    const { known } = await app.store.testIngest.load(repository.id, some);
    for (const each of known) tests.set(each.test.id, describeQuarantine(each, settings));
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

function describeQuarantine({ test, memory }: KnownTest, settings: StoredTestSettings): QuarantinedFor {
  const isBehind = memory.settingsVersion !== settings.version;
  const isAlways = test.quarantineOverride === 'ALWAYS_QUARANTINE';
  return {
    state: decodeState(memory.state),
    monitors: isBehind ? settings.appliedMonitors : settings.monitors,
    alwaysSince: isAlways ? (test.override?.at ?? null) : null,
  };
}
