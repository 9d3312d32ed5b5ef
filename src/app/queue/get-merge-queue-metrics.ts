import { ALARM_CODES } from '../../engine/effect.ts';
import { ENDED_STATES, type EntryState, LIVE_STATES, type Queue } from '../../engine/queue.ts';
import { formatExposition, type Gauge, type Histogram, type Labels } from '../../lib/exposition.ts';
import { valuesOf } from '../../lib/int-map.ts';
import type { TransitionRow } from '../../storage/queues.ts';
import type { Repository, RepositoryRef } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import type { FoundQueue } from '../core/find-queue.ts';
import { type Answer, isRefusal } from '../core/refusal.ts';
import { countByState, loadQueues, selectRepositories } from './list-queues.ts';

const WINDOW_MS = 3_600_000;
const BOUNDS_SECONDS = [60, 300, 600, 900, 1800, 3600, 5400, 7200];

/** The main or bisection line of one queue, with its transitions of the last hour. */
interface MetricLine {
  readonly labels: Labels;
  /** Live entries by state, now. */
  readonly counts: Readonly<Record<string, number>>;
  readonly transitions: readonly TransitionRow[];
}

/**
 * The nine families that existing clients know, and our own (alarms, hints). They need the queues in memory and the
 * transitions of the last hour, so that their cost does not grow with the history.
 */
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
  const transitions = await app.store.queues.listTransitionsWithin({ queueIds, from: now - WINDOW_MS, until: now });
  const byQueue = Map.groupBy(transitions, (row) => row.queueId);
  const families = describe(queues.flatMap((found) => linesOf(found, byQueue.get(found.id) ?? [])));
  if (!input.hasAlarms) return formatExposition(families);
  const [alarms, hints] = await Promise.all([countAlarms(app, queues), countHints(app, repositories)]);
  return formatExposition([...families, alarms, gaugeHolds(queues), ...hints, ...describeBackups(app)]);
}

function linesOf({ repository, queue }: FoundQueue, transitions: readonly TransitionRow[]): MetricLine[] {
  const labels = { repo: `${repository.owner}/${repository.name}`, branch: queue.branch };
  const host = { repo_host: repository.host };
  const bisected = countBisected(queue);
  const counts = Object.entries(countByState(queue));
  return [
    {
      labels: { ...labels, queue_type: 'main', ...host },
      counts: Object.fromEntries(counts.map(([state, count]) => [state, count - (bisected[state] ?? 0)])),
      transitions: transitions.filter((row) => !row.isBisection),
    },
    {
      labels: { ...labels, queue_type: 'bisection', ...host },
      counts: bisected,
      transitions: transitions.filter((row) => row.isBisection),
    },
  ];
}

/** Entries that a failed batch took out of the line, until the search clears or blames them. */
function countBisected({ entries }: Queue): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { bisection, state } of valuesOf(entries)) {
    if (bisection !== undefined) counts[state] = (counts[state] ?? 0) + 1;
  }
  return counts;
}

function describe(lines: readonly MetricLine[]): (Gauge | Histogram)[] {
  const admitted = LIVE_STATES.filter((state) => state !== 'NOT_READY');
  return [
    gauge('mq_depth_current', 'Pull requests in the queue now, without those not admitted yet.', lines, (line) =>
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

/** The series of one state. */
function labelled(line: MetricLine, label: 'conclusion' | 'state', state: EntryState) {
  return { ...line, labels: { ...line.labels, [label]: state.toLowerCase() }, state };
}

function durationSeconds(row: TransitionRow): number {
  return (row.durationMs ?? 0) / 1000;
}

interface Labelled {
  readonly labels: Labels;
}

function gauge<Line extends Labelled>(
  name: string,
  help: string,
  lines: readonly Line[],
  measure: (line: Line) => number,
): Gauge {
  return { type: 'gauge', name, help, samples: lines.map((line) => ({ labels: line.labels, value: measure(line) })) };
}

function histogram<Line extends Labelled>(
  name: string,
  help: string,
  lines: readonly Line[],
  measure: (line: Line) => number[],
): Histogram {
  const samples = lines.map((line) => ({ labels: line.labels, values: measure(line) }));
  return { type: 'histogram', name, help, bounds: BOUNDS_SECONDS, samples };
}

/** Every code has a series from the start, so that the first alarm shows as an increase. */
// SPEC M5, N8
async function countAlarms({ store }: App, queues: readonly FoundQueue[]): Promise<Gauge> {
  const rows = await store.alarms.count(queues.map(({ id }) => id));
  const counts = new Map(rows.map(({ queueId, code, count }) => [`${queueId} ${code}`, count]));
  return {
    type: 'counter',
    name: 'mq_alarms_total',
    help: 'Alarms that were raised, by code.',
    samples: queues.flatMap((found) =>
      ALARM_CODES.map((code) => ({
        labels: { ...labelsOf(found), code: code.toLowerCase() },
        value: counts.get(`${found.id} ${code}`) ?? 0,
      })),
    ),
  };
}

// SPEC N13
function gaugeHolds(queues: readonly FoundQueue[]): Gauge {
  return gauge(
    'mq_queue_held',
    'Whether the queue holds because its target branch fails without any pull request, or its configuration cannot be used.',
    queues.map((found) => ({ labels: labelsOf(found), queue: found.queue })),
    ({ queue }) => (queue.hold === undefined ? 0 : 1),
  );
}

function labelsOf({ repository, queue }: FoundQueue): Labels {
  return { repo: `${repository.owner}/${repository.name}`, branch: queue.branch, repo_host: repository.host };
}

/** Of the server that answers. None on PostgreSQL, which is backed up by other means. */
// SPEC M10
function describeBackups({ store, backups, clock }: App): readonly Gauge[] {
  if (store.snapshots === undefined) return [];
  const one = [{ labels: {} }];
  const failures: Gauge = {
    type: 'counter',
    name: 'mq_backup_failures_total',
    help: 'Scheduled backups that failed since the server started.',
    samples: [{ labels: {}, value: backups.failures }],
  };
  const { last } = backups;
  if (last === undefined) return [failures];
  const age = Math.max(0, clock.now() - last.at) / 1000;
  return [
    failures,
    gauge('mq_backup_age_seconds', 'Time since the last good backup began.', one, () => age),
    gauge('mq_backup_size_bytes', 'Size of the last good backup.', one, () => last.sizeBytes),
  ];
}

/** Shows whether the workers keep up with webhooks. None where no repository is on a hosted forge. */
// SPEC M4
async function countHints(app: App, repositories: readonly Repository[]): Promise<readonly Gauge[]> {
  const hosts = [...new Set(repositories.map(({ host }) => host))];
  const hosted = hosts.filter((host) => app.forges.get(host)?.hosting !== undefined);
  if (hosted.length === 0) return [];
  const now = app.clock.now();
  const due = new Map((await app.store.hints.countDue(now)).map((each) => [each.host, each]));
  const lines = hosted.map((host) => ({ labels: { repo_host: host }, due: due.get(host) }));
  return [
    gauge(
      'mq_notices_waiting',
      'What the forge told of and is due to be looked at now.',
      lines,
      (line) => line.due?.count ?? 0,
    ),
    gauge(
      'mq_notices_oldest_due_seconds',
      'For how long the oldest of them has been due.',
      lines,
      (line) => Math.max(0, now - (line.due?.oldestDueAt ?? now)) / 1000,
    ),
  ];
}
