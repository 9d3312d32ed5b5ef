import { changeMonitors, monitorsToRefold } from '../flaky/acts.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../flaky/core/detector.ts';
import type { Monitor } from '../flaky/core/monitor.ts';
import { onlyPathOf } from '../flaky/core/paths.ts';
import type { UploadFacts } from '../flaky/core/run.ts';
import { expire } from '../flaky/evaluate.ts';
import { fold, scopeOf } from '../flaky/observe.ts';
import type { Instant } from '../lib/clock.ts';
import type { Store } from '../storage/store.ts';
import { eventRowOf, quarantineSettingsOf, uploadFactsOf } from '../storage/test-codec.ts';
import type { StoredRun, TestMemory } from '../storage/test-ingest.ts';
import type { StoredTestSettings } from '../storage/test-settings.ts';
import type { TestEventRow, TestRow } from '../storage/tests.ts';
import { type KeptTest, type KeptTests, showState, takeMemory } from './kept-tests.ts';

/** Tests per transaction. */
export const SETTINGS_SLICE = 256;

export interface SettingsToApply {
  readonly kept: KeptTests;
  readonly settings: StoredTestSettings;
  /** The monitors of an older version that a test may still follow. */
  readonly monitorsOf: (version: number) => Promise<readonly Monitor[]>;
  readonly at: Instant;
  readonly step: () => Promise<void>;
}

/** Applies the settings to a slice of tests; returns the size of the slice. */
// SPEC F34
export async function applySettings(store: Store, to: SettingsToApply): Promise<number> {
  const { kept, settings, at } = to;
  const repositoryId = kept.repository.id;
  const testIds = await store.testUpkeep.listBehind(repositoryId, settings.version, SETTINGS_SLICE);
  if (testIds.length === 0) return 0;
  // These tests still follow the applied settings, and unmerged runs are counted under those.
  await kept.load(testIds, settings.appliedMonitors);
  const tests = testIds.flatMap((id) => kept.byId.get(id) ?? []);
  const events: TestEventRow[] = [];
  const begun = new Map<KeptTest, readonly Monitor[]>();
  for (const test of tests) {
    const before = await to.monitorsOf(test.settingsVersion);
    const changed = changeMonitors(test.state, { before, next: settings.monitors, actor: actorOf(settings), at });
    test.state = changed.state;
    for (const event of changed.events) events.push(eventRowOf(test.row.id, event));
    const beginning = monitorsToRefold(before, settings.monitors);
    if (beginning.length > 0) begun.set(test, beginning);
  }
  await countFromRuns(to, begun, events);
  await kept.commit({ ...show(tests, to, events), events }, at);
  return tests.length;
}

function show(
  tests: readonly KeptTest[],
  { kept, settings, at }: SettingsToApply,
  events: TestEventRow[],
): { readonly tests: readonly TestRow[]; readonly memories: readonly TestMemory[] } {
  const acting = { settings: quarantineSettingsOf(settings.settings), at, actor: actorOf(settings) };
  const shown = tests.filter((test) => showState(test, events, acting));
  const memories = tests.map((test) => {
    test.settingsVersion = settings.version;
    test.isDirty = false;
    return takeMemory(test, kept.seq + 1);
  });
  return { tests: shown.map(({ row }) => row), memories };
}

/** New monitors, and monitors that count other runs now, count the stored runs. */
async function countFromRuns(
  { kept, settings, at, step }: SettingsToApply,
  begun: ReadonlyMap<KeptTest, readonly Monitor[]>,
  events: TestEventRow[],
): Promise<void> {
  if (begun.size === 0) return;
  const since = at - Math.max(...[...begun.values()].flat().map(windowMsOf));
  const testNos = [...begun.keys()].map(({ row }) => row.no);
  for await (const { batches } of kept.readRuns({ testNos, since }, step)) {
    for (const { facts, runs } of batches) {
      if (facts.flaw !== null) continue;
      for (const [no, own] of Map.groupBy(runs, (run) => run.testNo)) {
        const test = kept.byNo[no];
        const monitors = test === undefined ? undefined : begun.get(test);
        if (test !== undefined && monitors !== undefined)
          countRuns(test, { upload: uploadFactsOf(facts, kept), runs: own, monitors, at });
      }
    }
  }
  for (const test of begun.keys()) {
    const looked = expire(test.state, settings.monitors, at);
    test.state = looked.state;
    for (const event of looked.events) events.push(eventRowOf(test.row.id, event));
  }
}

function countRuns(
  test: KeptTest,
  {
    upload,
    runs,
    monitors,
    at,
  }: {
    readonly upload: UploadFacts;
    readonly runs: readonly StoredRun[];
    readonly monitors: readonly Monitor[];
    readonly at: Instant;
  },
): void {
  const { looking } = scopeOf(upload, monitors, at);
  const path = onlyPathOf(test.state);
  const observed = runs.map((run) => ({ ...run, attempt: null, rerunOf: null, path }));
  test.state = fold(test.state, { upload, runs: observed, earlier: [], at }, looking);
}

function windowMsOf(monitor: Monitor): number {
  switch (monitor.type) {
    case 'failure_rate':
    case 'timeout_inflation':
      return monitor.parameters.windowHours * HOUR_MS;
    case 'failure_count':
    case 'skipped_test':
    case 'slow_test':
      return monitor.parameters.windowMinutes * MINUTE_MS;
    case 'pass_on_retry':
    case 'new_test':
      return DAY_MS;
  }
}

function actorOf({ actor }: StoredTestSettings): string {
  return actor ?? 'settings';
}
