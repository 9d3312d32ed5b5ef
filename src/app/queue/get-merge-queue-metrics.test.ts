import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { madeForEach } from '../../../test/helpers/made.ts';
import { PageWorld } from '../../../test/worlds/shell/page-world.ts';
import { toCaller } from '../forge-events/commands/who.ts';
import { describeServer } from '../upkeep/server-metrics.ts';
import { getMergeQueueMetrics } from './get-merge-queue-metrics.ts';

const HOUR_MS = 3_600_000;
const SAMPLE = /^([a-zA-Z_:][\w:]*)\{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*",?)*)\} (-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/;

/** Reads the text format strictly: each family once and in one piece, each series once, buckets that only rise. */
function readStrictly(text: string): Map<string, number> {
  const series = new Map<string, number>();
  const families = new Map<string, string>();
  let family = '';
  assert.ok(text.endsWith('\n'));
  for (const line of text.slice(0, -1).split('\n')) {
    const [, help] = /^# HELP ([a-zA-Z_:][\w:]*) \S.*$/.exec(line) ?? [];
    const [, typed, type = ''] = /^# TYPE (\S+) (counter|gauge|histogram)$/.exec(line) ?? [];
    if (help !== undefined) {
      assert.ok(!families.has(help), `${help} occurs twice`);
      family = help;
    } else if (typed !== undefined) {
      assert.equal(typed, family);
      families.set(typed, type);
    } else {
      const [, name = '', labels = '', value] = SAMPLE.exec(line) ?? [];
      const base = families.get(family) === 'histogram' ? name.replace(/_(bucket|sum|count)$/, '') : name;
      assert.equal(base, family, line);
      if (families.get(family) === 'counter') assert.match(name, /_total$/);
      const key = `${name}{${labels}}`;
      assert.ok(!series.has(key), `${key} occurs twice`);
      series.set(key, Number(value));
    }
  }
  assertBuckets(series);
  return series;
}

function assertBuckets(series: ReadonlyMap<string, number>): void {
  const buckets = [...series].filter(([key]) => key.includes('_bucket{'));
  const grouped = Map.groupBy(buckets, ([key]) => key.replace(/,?le="[^"]*"/, ''));
  for (const [key, group] of grouped) {
    const counts = group.map(([, count]) => count);
    assert.deepEqual(
      counts,
      counts.toSorted((a, b) => a - b),
      key,
    );
    assert.match(group.at(-1)?.[0] ?? '', /le="\+Inf"/);
    assert.equal(series.get(key.replace('_bucket{', '_count{')), counts.at(-1));
  }
}

const world = madeForEach(() => PageWorld.create());

async function reader() {
  const repository = await world.repository();
  const caller = { ...(await toCaller(world.app, repository, { login: 'ada', isBot: false, isOwn: false })) };
  const read = async (hasAlarms = true) => {
    const text = await getMergeQueueMetrics(world.app, caller, { repo: undefined, hasAlarms });
    assert.ok(typeof text === 'string');
    return readStrictly(text);
  };
  const find = (series: ReadonlyMap<string, number>, part: string) =>
    Object.fromEntries(
      [...series]
        .filter(([key]) => key.startsWith(part))
        .map(([key, value]) => [key.replace(/(repo|branch|repo_host)="[^"]*",?/g, ''), value]),
    );
  return { repository, read, find };
}

describe('the metrics of queues', () => {
  it('count for good what happened, with reasons and times [M13] [M14]', async () => {
    const { read, find } = await reader();
    await world.submit();
    await world.enter(world.open(), undefined, undefined, { id: 'fixer', name: 'fixer', isAgent: true });
    await world.pass(120_000);
    await world.report(1, 'ci', 'SUCCESS');
    await world.report(2, 'ci', 'FAILURE');
    const series = await read();
    assert.deepEqual(find(series, 'sluice_pull_requests_total'), {
      'sluice_pull_requests_total{conclusion="merged",reason="merge_graph_merge",submitter="person"}': 1,
      'sluice_pull_requests_total{conclusion="failed",reason="test_run_required_status_failed",submitter="agent"}': 1,
    });
    assert.deepEqual(find(series, 'sluice_candidates_total'), {
      'sluice_candidates_total{kind="main",conclusion="passed"}': 1,
      'sluice_candidates_total{kind="main",conclusion="failed"}': 1,
    });
    assert.ok((find(series, 'sluice_ci_seconds_total')['sluice_ci_seconds_total{}'] ?? 0) >= 240);
    const times = find(series, 'sluice_time_in_queue_seconds');
    assert.equal(times['sluice_time_in_queue_seconds_bucket{le="60"}'], 0);
    assert.equal(times['sluice_time_in_queue_seconds_bucket{le="300"}'], 2);
    assert.equal(times['sluice_time_in_queue_seconds_count{}'], 2);
  });

  it('have at most 25 lines for an idle queue, and no empty series [M12] [M14]', async () => {
    const { read, find } = await reader();
    assert.ok((await read()).size <= 25);
    await world.submit();
    await world.submit();
    await world.report(1, 'ci', 'SUCCESS');
    await world.report(2, 'ci', 'FAILURE');
    const busy = await read();
    assert.ok(busy.size > 40 && busy.size <= 150, String(busy.size));
    assert.ok([...busy.keys()].every((key) => !key.includes('queue_type="bisection"')));
    await world.pass(HOUR_MS + 60_000);
    const idle = await read();
    assert.ok(idle.size <= 25, [...idle.keys()].join('\n'));
    assert.deepEqual(find(idle, 'mq_depth_current'), { 'mq_depth_current{queue_type="main",}': 0 });
    assert.deepEqual(find(idle, 'sluice_pull_requests_total'), find(busy, 'sluice_pull_requests_total'));
    assert.deepEqual(
      [...(await read(false)).keys()].filter((key) => key.startsWith('sluice_')),
      [],
    );
  });

  it('have the tests of a repository by status, and its uploads that wait [M15]', async () => {
    const { read, find } = await reader();
    await world.submit();
    assert.deepEqual(find(await read(), 'sluice_tests'), {});
    await world.storeFailures(1, 'ci', [{ name: 'opens the door', status: 'FLAKY' }]);
    const series = await read();
    assert.equal(find(series, 'sluice_tests')['sluice_tests{status="flaky"}'], 1);
    assert.deepEqual(find(series, 'sluice_flaky_tests'), { 'sluice_flaky_tests{}': 1 });
    assert.deepEqual(find(series, 'sluice_uploads_waiting'), { 'sluice_uploads_waiting{}': 0 });
  });
});

describe('the metrics of a server', () => {
  it('describe process, store, effects and uploads [M17] [M18]', async () => {
    const series = readStrictly(await describeServer(world.app, []));
    const value = (name: string) => series.get(`${name}{}`) ?? Number.NaN;
    assert.ok(value('process_resident_memory_bytes') > 10_000_000);
    assert.ok(value('process_cpu_seconds_total') > 0);
    assert.ok(value('sluice_store_size_bytes') > 10_000);
    for (const name of ['sluice_effects_waiting', 'sluice_effects_parked', 'sluice_server_uploads_waiting'])
      assert.ok(value(name) >= 0, name);
    assert.ok((series.get('sluice_event_loop_lag_seconds{quantile="0.99"}') ?? -1) >= 0);
  });

  it('count the repositories of each host that cannot be read now [M27]', async () => {
    const repository = await world.repository();
    const { app } = world;
    const unread = async () =>
      readStrictly(await describeServer(app, [])).get(`sluice_forge_outages{repo_host="${repository.host}"}`);
    assert.equal(await unread(), 0);
    app.outages.begin(repository.id, new Error('no answer'), world.now);
    app.outages.begin('an entry', new Error('no answer'), world.now);
    assert.equal(await unread(), 1);
    app.outages.end(repository.id, world.now);
    assert.equal(await unread(), 0);
    // Another server reads the repository by now.
    app.outages.begin(repository.id, new Error('no answer'), world.now - 200_000);
    assert.equal(await unread(), 0);
  });

  it('count the hints that are due on each forge, with the age of the oldest [M4]', async () => {
    const { repository, read } = await reader();
    const { host } = repository;
    const { now } = world;
    const hint = (key: string, dueAt: number, at = host) => ({
      ...{ key, host: at, kind: 'unheard-of', body: '{}', receivedAt: now, dueAt },
    });
    const hints = async () => {
      const series = readStrictly(await describeServer(world.app, []));
      return ['waiting', 'oldest_due_seconds'].map((name) => series.get(`mq_notices_${name}{repo_host="${host}"}`));
    };
    assert.deepEqual(await hints(), [0, 0]);
    await world.store.hints.add([
      hint('a', now - 90_000),
      hint('b', now),
      hint('later', now + 60_000),
      hint('elsewhere', now - 500_000, 'other.test'),
    ]);
    assert.deepEqual(await hints(), [2, 90]);
    assert.ok(![...(await read()).keys()].some((key) => key.startsWith('mq_notices_')));
  });
});
