import type { getTestDetails as getTestDetailsContract } from '../../contract/flaky-tests.ts';
import type { RequestOf } from '../../contract/operation.ts';
import type { View } from '../../contract/schema.ts';
import type { TestDetails as TestDetailsSchema } from '../../contract/test-details.ts';
import type { Monitor } from '../../flaky/core/monitor.ts';
import { pathsOf, suiteNameOf } from '../../flaky/core/paths.ts';
import type { Flag, LabelSource, MonitorState, TestState } from '../../flaky/core/state.ts';
import { dayOf } from '../../flaky/daily-counts.ts';
import { formatInstant, type Instant, optionalInstant } from '../../lib/clock.ts';
import { present } from '../../lib/present.ts';
import type { Repository } from '../../storage/repositories.ts';
import { decodeState, overrideOf, quarantineBy, readTestSettings } from '../../storage/test-codec.ts';
import type { StoredTestSettings } from '../../storage/test-settings.ts';
import type { TestRow } from '../../storage/tests.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { findTestScope } from '../core/list-page.ts';
import { type Answer, isRefusal, type Refusal, refuse } from '../core/refusal.ts';
import {
  linksOf,
  type Place,
  type TestLinks,
  type TestView,
  viewEvidence,
  viewFigures,
  viewTests,
} from './test-view.ts';

export async function getTestDetails(
  app: App,
  caller: Caller,
  input: RequestOf<typeof getTestDetailsContract>,
  place: Place,
): Answer<{ readonly test: TestDetailsView }> {
  const repository = await findTestScope(app, caller, input);
  if (isRefusal(repository)) return repository;
  const { known } = await app.store.testIngest.load(repository.id, [input.test_id]);
  const [found] = known;
  if (found === undefined) return testNotFound(input.test_id);
  const { test, memory } = found;
  const links = linksOf(caller, place);
  const settings = await readTestSettings(app.store, repository);
  return { test: await viewTestDetails(app, { test, state: decodeState(memory.state), settings, repository, links }) };
}

export function testNotFound(testId: string): Refusal {
  return refuse('TEST_NOT_FOUND', `This repository has no test with the id ${testId}.`);
}

export type TestDetailsView = View<typeof TestDetailsSchema>;
type LabelView = TestDetailsView['labels'][number];
type TestMonitorView = TestDetailsView['monitors'][number];

export interface TestDetails {
  readonly repository: Repository;
  readonly test: TestRow;
  readonly state: TestState;
  readonly settings: StoredTestSettings;
  readonly links: TestLinks;
}

const NO_FIGURES = { days: [], pullRequests: 0, lastFailureAt: null };

// SPEC F57
export async function viewTestDetails(app: App, of: TestDetails): Promise<TestDetailsView> {
  const { repository, test, state, settings, links } = of;
  const [view] = await viewTests(app, { repository, tests: [test], links });
  const now = app.clock.now();
  const figures = await app.store.tests.getFigures(repository.id, test.no);
  return {
    ...(view as TestView),
    ...viewFigures(figures ?? NO_FIGURES, dayOf(now)),
    first_seen_at: formatInstant(test.firstSeenAt),
    suites: pathsOf(state).map(([path]) => suiteNameOf(test.parent, path)),
    ...present({
      quarantined_at: optionalInstant(test.quarantinedAt),
      quarantine_override: viewOverride(test, state, now),
      flag: state.flag && viewAct(state.flag),
    }),
    labels: viewLabels(state.labels),
    monitors: settings.monitors.flatMap((monitor) => viewTestMonitor(monitor, state.monitors[monitor.id])),
  };
}

/** An expired override counts as none, also before the stored test follows. */
function viewOverride(test: TestRow, state: TestState, now: Instant): TestDetailsView['quarantine_override'] {
  const override = overrideOf(test);
  if (override === null || test.override === null || (override.expiresAt ?? Infinity) <= now) return undefined;
  const { actor, at, reason } = test.override;
  const quarantine = quarantineBy(test, state, now);
  const suites = quarantine.by === 'person' ? quarantine.suites.map((path) => suiteNameOf(test.parent, path)) : [];
  return {
    setting: override.mode,
    actor,
    at: formatInstant(at),
    reason,
    ...present({ expires_at: optionalInstant(override.expiresAt), suites: suites.length > 0 ? suites : null }),
  };
}

function viewAct({ actor, at, reason }: Flag) {
  return { actor, at: formatInstant(at), ...present({ reason }) };
}

function viewLabels(labels: readonly LabelSource[]): LabelView[] {
  return [...Map.groupBy(labels, ({ label }) => label)]
    .map(([name, sources]) => ({ name, sources: sources.map(viewSource) }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

function viewSource({ source, since }: LabelSource): LabelView['sources'][number] {
  const who = source.kind === 'monitor' ? { monitor_id: source.id } : { actor: source.name };
  return { since: formatInstant(since), ...who };
}

/** Only monitors that are active or muted for the test. */
function viewTestMonitor(monitor: Monitor, own: MonitorState | undefined): TestMonitorView[] {
  if (own === undefined || (own.activeSince === null && own.mute === null)) return [];
  const { activeSince, reason, evidence, mute } = own;

  return [
    {
      monitor_id: monitor.id,
      type: monitor.type,
      name: monitor.name,
      is_active: activeSince !== null,
      ...(activeSince !== null && { active_since: formatInstant(activeSince), reason }),
      ...present({
        evidence: evidence && viewEvidence(evidence),
        mute: mute && { ...viewAct(mute), ...present({ until: optionalInstant(mute.until) }) },
      }),
    },
  ];
}
