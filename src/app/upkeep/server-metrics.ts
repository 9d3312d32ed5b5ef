import { monitorEventLoopDelay } from 'node:perf_hooks';
import { formatExposition, type Gauge, gauge, type Histogram, type Labels } from '../../lib/exposition.ts';
import { memo } from '../../lib/memo.ts';
import type { App } from '../core/app.ts';
import { boundProbe } from './readiness.ts';

// SPEC M16
export async function describeServer(app: App, ofHttp: Serving | Promise<Serving>): Promise<string> {
  const [stored, serving] = await Promise.all([storedSeriesOf(app).read(), ofHttp]);
  const attempts: Gauge = {
    ...{ type: 'counter', name: 'sluice_webhook_attempts_total' },
    help: 'Attempts of this server since it started, by their result.',
    samples: by('result', app.webhooks.attempts),
  };
  const own = [attempts, ...describeIngest(app), ...describeBackups(app), ...describeTraces(app)];
  return formatExposition([...describeProcess(), ...serving, ...stored, ...own]);
}

/** The series of the part that serves requests. */
type Serving = readonly (Gauge | Histogram)[];

const storedSeriesOf = memo((app: App) => new StoredSeries(app));

// SPEC M41
class StoredSeries {
  readonly #app: App;
  readonly #ask: () => Promise<readonly Gauge[]>;
  #last: readonly Gauge[] = [];
  #readAt: number;

  constructor(app: App) {
    this.#app = app;
    this.#readAt = app.clock.now();
    this.#ask = boundProbe(app.clock, 'The store', () => describeStored(app), 0);
  }

  async read(): Promise<readonly Gauge[]> {
    const { clock, log } = this.#app;
    const askedAt = clock.now();
    try {
      this.#last = await this.#ask();
      this.#readAt = clock.now();
    } catch (error) {
      log.debug({ err: error }, 'metrics of the store are not read');
    }
    const age = this.#readAt >= askedAt ? 0 : (clock.now() - this.#readAt) / 1_000;
    return [
      ...this.#last,
      one('sluice_store_reading_age_seconds', 'How old the values are that come from the store.', age),
    ];
  }
}

async function describeStored(app: App): Promise<readonly Gauge[]> {
  const described = [describeStore(app), describeWebhooks(app), describeHints(app), describeOutages(app)];
  return (await Promise.all(described)).flat();
}

function one(name: string, help: string, value: number, type: Gauge['type'] = 'gauge'): Gauge {
  return gauge(name, help, [{ labels: {} }], () => value, type);
}

const delays = monitorEventLoopDelay({ resolution: 20 });

// SPEC M17
function describeProcess(): readonly Gauge[] {
  const { rss, heapUsed } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  return [
    one('process_start_time_seconds', 'When the server started.', Math.round(Date.now() / 1_000 - process.uptime())),
    one('process_cpu_seconds_total', 'CPU time of all threads.', (user + system) / 1_000_000, 'counter'),
    one('process_resident_memory_bytes', 'Memory that the server takes.', rss),
    one('sluice_heap_used_bytes', 'Memory of JavaScript objects in the main thread.', heapUsed),
    describeLag(),
  ];
}

/** The delay beyond the timer's own period, since the metrics were last read. The first reading begins to measure. */
function describeLag(): Gauge {
  const seconds = (nanoseconds: number) => (Number.isFinite(nanoseconds) ? Math.max(0, nanoseconds / 1e9 - 0.02) : 0);
  const quantiles = [0.5, 0.99, 1].map((quantile) => ({
    labels: { quantile: String(quantile) },
    value: delays.count === 0 ? 0 : seconds(delays.percentile(quantile * 100)),
  }));
  delays.enable();
  delays.reset();
  const help = 'How late the event loop of the server was, since the metrics were last read.';
  return { type: 'gauge', name: 'sluice_event_loop_lag_seconds', help, samples: quantiles };
}

// SPEC M18
async function describeStore({ store, clock }: App): Promise<readonly Gauge[]> {
  const now = clock.now();
  const age = (since: number | null) => (since === null ? 0 : Math.max(0, now - since) / 1_000);
  const size = await store.measureSize();
  const uploads = await store.uploadWork.measure();
  const effects = await store.effects.measure();
  return [
    one('sluice_store_size_bytes', 'Size of the database.', size),
    one('sluice_server_uploads_waiting', 'Uploads of all organizations that are not processed yet.', uploads.waiting),
    one('sluice_server_uploads_oldest_seconds', 'How long the oldest of them has waited.', age(uploads.oldestAt)),
    one('sluice_effects_waiting', 'Effects of all queues that are not done, parked ones too.', effects.waiting),
    one('sluice_effects_parked', 'Effects that were given up and wait for an operator.', effects.parked),
    one('sluice_effects_oldest_due_seconds', 'How long the oldest effect has been due.', age(effects.oldestDueAt)),
  ];
}

/** Of the process beside this server, as seen from outside: a stuck one cannot tell. */
// SPEC M39
function describeIngest({ ingest }: App): readonly Gauge[] {
  const watched = ingest.watched?.();
  if (watched === undefined) return [];
  const { residentBytes, silentMs, kills } = watched;
  const samples = Object.entries(kills).map(([reason, value]) => ({ labels: { reason }, value }));
  const help = 'How often this server ended its ingest process, by the reason.';
  return [
    one('sluice_ingest_resident_memory_bytes', 'Memory that the ingest process takes; 0 if none runs.', residentBytes),
    one(
      'sluice_ingest_silent_seconds',
      'How long the ingest process has made no step; 0 if none runs.',
      silentMs / 1_000,
    ),
    { type: 'counter', name: 'sluice_ingest_kills_total', help, samples },
  ];
}

// SPEC X49
async function describeWebhooks({ store, clock }: App): Promise<readonly Gauge[]> {
  const { untried, retrying, oldestAt } = await store.webhookDeliveries.measure();
  const age = oldestAt === null ? 0 : Math.max(0, clock.now() - oldestAt) / 1_000;
  return [
    {
      ...{ type: 'gauge', name: 'sluice_webhook_deliveries_waiting' },
      help: 'Deliveries of all webhooks that wait, before their first attempt and after it.',
      samples: by('state', { untried, retrying }),
    },
    one('sluice_webhook_deliveries_oldest_seconds', 'How long the oldest of them has waited.', age),
  ];
}

function by(label: string, counts: Readonly<Record<string, number>>): Gauge['samples'] {
  return Object.entries(counts).map(([name, value]) => ({ labels: { [label]: name } satisfies Labels, value }));
}

/** Of the server that answers. On PostgreSQL, which may be backed up by other means, only if it is meant to make backups. */
// SPEC M10
function describeBackups({ store, backups, clock }: App): readonly Gauge[] {
  const { isChosen, isScheduled } = backups.place;
  if (store.snapshots === undefined && !isChosen && isScheduled !== true) return [];
  const help = 'Scheduled backups that failed since the server started.';
  const failures = one('mq_backup_failures_total', help, backups.failures, 'counter');
  const { last } = backups;
  if (last === undefined) return [failures];
  const age = Math.max(0, clock.now() - last.at) / 1_000;
  return [
    failures,
    one('mq_backup_age_seconds', 'Time since the last good backup began.', age),
    one('mq_backup_size_bytes', 'Size of the last good backup.', last.sizeBytes),
  ];
}

/** Polls that fail are repeated within a minute, by any of the servers. */
const OUTAGE_MS = 3 * 60_000;

// SPEC M27
async function describeOutages({ store, forges, outages, clock }: App): Promise<readonly Gauge[]> {
  const seen = outages.listSeen(clock.now() - OUTAGE_MS);
  const repositories = seen.size === 0 ? [] : await store.repositories.listAll();
  const unread = repositories.filter(({ id }) => seen.has(id));
  const hosts = [...forges.keys()].map((host) => ({ labels: { repo_host: host } }));
  const countAt = (host: string) => unread.filter((repository) => repository.host === host).length;
  const help = 'Repositories that this server cannot read now, by their host.';
  return [gauge('sluice_forge_outages', help, hosts, ({ labels }) => countAt(labels.repo_host))];
}

function describeTraces({ tracing }: App): readonly Gauge[] {
  if (tracing === undefined) return [];
  const { sent, dropped } = tracing.counts;
  const help = 'Spans of traces that the receiver took, and that were dropped.';
  return [{ type: 'counter', name: 'sluice_trace_spans_total', help, samples: by('result', { sent, dropped }) }];
}

/** Shows whether the workers keep up with webhooks. None if no hosted forge is connected. */
// SPEC M4
async function describeHints(app: App): Promise<readonly Gauge[]> {
  const hosts = [...app.forges].flatMap(([host, { hosting }]) => (hosting === undefined ? [] : [host]));
  if (hosts.length === 0) return [];
  const now = app.clock.now();
  const due = new Map((await app.store.hints.countDue(now)).map((each) => [each.host, each]));
  const lines = hosts.map((host) => ({
    labels: { repo_host: host },
    ...(due.get(host) ?? { count: 0, oldestDueAt: now }),
  }));
  return [
    gauge('mq_notices_waiting', 'Hints of the forge that are due.', lines, ({ count }) => count),
    gauge(
      'mq_notices_oldest_due_seconds',
      'For how long the oldest of them has been due.',
      lines,
      ({ oldestDueAt }) => Math.max(0, now - oldestDueAt) / 1_000,
    ),
  ];
}
