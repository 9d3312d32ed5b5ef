import { ALARM_CODES } from '../../engine/model/effect.ts';
import { ENDED_STATES, type EntryState, LIVE_STATES, type Queue } from '../../engine/model/queue.ts';
import {
  formatExposition,
  type Gauge,
  gauge,
  type Histogram,
  type Labels,
  toHistogramSample,
} from '../../lib/exposition.ts';
import { valuesOf } from '../../lib/int-map.ts';
import type { TransitionRow } from '../../storage/queues.ts';
import type { RepositoryRef } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import type { FoundQueue } from '../core/find-queue.ts';
import { type Answer, isRefusal } from '../core/refusal.ts';
import { countByState, loadQueues, selectRepositories } from './list-queues.ts';
import { describeTests, describeTotals } from './queue-counters.ts';

const WINDOW_MS = 3_600_000;
const BOUNDS_SECONDS = [60, 300, 600, 900, 1800, 3600, 5400, 7200];

/** The main or bisection line of one queue, with its transitions of the last hour. */
interface MetricLine {
  readonly labels: Labels;
  /** Live entries by state, now. */
  readonly counts: Readonly<Record<string, number>>;
  readonly transitions: readonly TransitionRow[];
  readonly isIdle: boolean;
}

/** They need the queues in memory and the transitions of the last hour: their cost does not grow with the history. */
// SPEC M1
export async function getMergeQueueMetrics(
  app: App,
  caller: Caller,
  input: { readonly repo: RepositoryRef | undefined; readonly hasAlarms: boolean },
): Answer<string> {
  const repositories = await selectRepositories(app, caller, input.repo);
  if (isRefusal(repositories)) return repositories;
  const queues = await loadQueues(app, repositories);
  const now = app.clock.now();
  const queueIds = queues.map((found) => found.id);
  const transitions = await app.store.queueRecords.listTransitionsWithin({
    queueIds,
    from: now - WINDOW_MS,
    until: now,
  });
  const byQueue = Map.groupBy(transitions, (row) => row.queueId);
  const lines = queues.flatMap((found) => linesOf(found, byQueue.get(found.id) ?? []));
  const families = describe(lines);
  if (!input.hasAlarms) return formatExposition(families);
  const busy = new Set(queues.filter(({ id, queue }) => queue.entries.size > 0 || byQueue.has(id)).map(({ id }) => id));
  const counters = describeTotals(
    queues.map((found) => ({ ...found, labels: labelsOf(found), isIdle: !busy.has(found.id) })),
  );
  const tests = await describeTests(app, repositories);
  const alarms = await countAlarms(app, queues);
  return formatExposition([...families, alarms, ...gaugeStops(queues), ...counters, ...tests]);
}

function linesOf({ repository, queue }: FoundQueue, transitions: readonly TransitionRow[]): MetricLine[] {
  const labels = { repo: `${repository.owner}/${repository.name}`, branch: queue.branch };
  const host = { repo_host: repository.host };
  const bisected = countBisected(queue);
  const counts = Object.entries(countByState(queue));
  const main = {
    labels: { ...labels, queue_type: 'main', ...host },
    counts: Object.fromEntries(counts.map(([state, count]) => [state, count - (bisected[state] ?? 0)])),
    transitions: transitions.filter((row) => !row.isBisection),
  };
  const bisection = {
    labels: { ...labels, queue_type: 'bisection', ...host },
    counts: bisected,
    transitions: transitions.filter((row) => row.isBisection),
  };
  return [{ ...main, isIdle: !isBusy(main) }, ...(isBusy(bisection) ? [{ ...bisection, isIdle: false }] : [])];
}

// SPEC M12
function isBusy({ counts, transitions }: Pick<MetricLine, 'counts' | 'transitions'>): boolean {
  return transitions.length > 0 || Object.values(counts).some((count) => count > 0);
}

/** Entries that a failed batch took out of the line, until the search clears or blames them. */
function countBisected({ entries }: Queue): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { place, state } of valuesOf(entries)) {
    if (place.kind === 'search') counts[state] = (counts[state] ?? 0) + 1;
  }
  return counts;
}

/** Of an idle line, its depth alone is shown. */
function describe(all: readonly MetricLine[]): (Gauge | Histogram)[] {
  const lines = all.filter(({ isIdle }) => !isIdle);
  const admitted = LIVE_STATES.filter((state) => state !== 'NOT_READY');
  return [
    gauge('mq_depth_current', 'Pull requests in the queue now, without those not admitted yet.', all, (line) =>
      admitted.reduce((sum, state) => sum + (line.counts[state] ?? 0), 0),
    ),
    gauge(
      'mq_awaiting_mergeability',
      'Pull requests submitted and not ready to be admitted.',
      lines,
      (line) => line.counts.NOT_READY ?? 0,
    ),
    gauge('mq_testing_slots_active', 'Pull requests under test now.', lines, (line) => line.counts.TESTING ?? 0),
    conclusions(lines),
    gauge(
      'mq_pr_restarts_1h_total',
      'Pull requests whose test was abandoned and queued again, in the last hour.',
      lines,
      (line) => line.transitions.filter((row) => row.from === 'TESTING' && row.to === 'PENDING').length,
    ),
    histogram('mq_pr_wait_duration_1h_seconds', 'Waiting before a test began, in the last hour.', lines, (line) =>
      line.transitions.filter((row) => row.from === 'PENDING' && row.to === 'TESTING').map(durationSeconds),
    ),
    histogram(
      'mq_pr_test_duration_1h_seconds',
      'Time under test, for tests that ended in the last hour.',
      lines,
      (line) => line.transitions.filter((row) => row.from === 'TESTING').map(durationSeconds),
    ),
    timeInQueue(lines),
    stateDuration(lines),
  ];
}

// SPEC M3
function conclusions(lines: readonly MetricLine[]): Gauge {
  return gauge(
    'mq_pr_conclusions_1h_total',
    'Pull requests that left the queue in the last hour, by how.',
    lines.flatMap((line) => ENDED_STATES.map((state) => labelled(line, 'conclusion', state))),
    ({ state, transitions }) => transitions.filter((row) => row.to === state).length,
  );
}

function timeInQueue(lines: readonly MetricLine[]): Histogram {
  return histogram(
    'mq_pr_time_in_queue_1h_seconds',
    'Time from admission to leaving, for pull requests that left in the last hour, by how.',
    lines.flatMap((line) => ENDED_STATES.map((state) => labelled(line, 'conclusion', state))),
    ({ state, transitions }) =>
      transitions.filter((row) => row.to === state && row.inQueueMs !== null).map((row) => (row.inQueueMs ?? 0) / 1000),
  );
}

function stateDuration(lines: readonly MetricLine[]): Histogram {
  return histogram(
    'mq_pr_state_duration_1h_seconds',
    'Time spent in a state, for pull requests that left it in the last hour.',
    lines.flatMap((line) => LIVE_STATES.map((state) => labelled(line, 'state', state))),
    ({ state, transitions }) => transitions.filter((row) => row.from === state).map(durationSeconds),
  );
}

function labelled(line: MetricLine, label: 'conclusion' | 'state', state: EntryState) {
  return { ...line, labels: { ...line.labels, [label]: state.toLowerCase() }, state };
}

function durationSeconds(row: TransitionRow): number {
  return (row.durationMs ?? 0) / 1000;
}

function histogram<Line extends Pick<MetricLine, 'labels'>>(
  name: string,
  help: string,
  lines: readonly Line[],
  measure: (line: Line) => number[],
): Histogram {
  const samples = lines.flatMap((line) => {
    const values = measure(line);
    return values.length === 0 ? [] : [toHistogramSample(line.labels, BOUNDS_SECONDS, values)];
  });
  return { type: 'histogram', name, help, bounds: BOUNDS_SECONDS, samples, isTrimmed: true };
}

/** Every code has a series from the start, so that the first alarm shows as an increase. */
// SPEC M5, N8
async function countAlarms({ store }: App, queues: readonly FoundQueue[]): Promise<Gauge> {
  const rows = await store.alarms.count(queues.map(({ id }) => id));
  const counts = new Map(rows.map(({ queueId, code, count }) => [`${queueId} ${code}`, count]));
  const lines = queues.flatMap((found) =>
    ALARM_CODES.map((code) => ({
      labels: { ...labelsOf(found), code: code.toLowerCase() },
      key: `${found.id} ${code}`,
    })),
  );
  const help = 'Alarms that were raised, by code.';
  return gauge('mq_alarms_total', help, lines, ({ key }) => counts.get(key) ?? 0, 'counter');
}

// SPEC N13, M26
function gaugeStops(queues: readonly FoundQueue[]): readonly Gauge[] {
  const all = queues.map((found) => ({ labels: labelsOf(found), queue: found.queue }));
  return [
    gauge(
      'mq_queue_held',
      'Whether the queue holds because its target branch fails without any pull request, or its configuration cannot be used.',
      all,
      ({ queue }) => (queue.hold === undefined ? 0 : 1),
    ),
    gauge('sluice_queue_paused', 'Whether somebody paused the queue.', all, ({ queue }) =>
      queue.state === 'PAUSED' ? 1 : 0,
    ),
    gauge('sluice_queue_frozen', 'Whether a freeze keeps the queue from landing.', all, ({ queue }) =>
      queue.frozen === undefined ? 0 : 1,
    ),
  ];
}

function labelsOf({ repository, queue }: FoundQueue): Labels {
  return { repo: `${repository.owner}/${repository.name}`, branch: queue.branch, repo_host: repository.host };
}
