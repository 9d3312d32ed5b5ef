// deploy/prometheus and deploy/grafana: they ask only for metrics that Sluice has, and every alert has its line in the runbook.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { ALARM_CODES } from '../src/engine/model/effect.ts';
import { ROOT, readPage } from './helpers/doc-pages.ts';

interface Rule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly labels?: { readonly severity: string };
  readonly annotations?: Readonly<Record<string, string>>;
}

const RULES = 'deploy/prometheus/rules.yml';
const { groups } = parse(readPage(RULES)) as { readonly groups: readonly { readonly rules: readonly Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
const alerts = rules.filter((rule) => rule.alert !== undefined);
const dashboard = JSON.parse(readPage('deploy/grafana/sluice.json')) as {
  readonly panels: readonly { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }[];
  readonly templating: { readonly list: readonly { readonly definition?: string }[] };
};

/** Names in the sources of the metrics, with the series of a histogram. */
const sources = globSync('src/{app/{queue,upkeep},http/core}/*.ts', { cwd: ROOT }).filter(
  (file) => !/\.test\./.test(file),
);
const names = sources.flatMap((file) =>
  [...readPage(file).matchAll(/'((?:mq|sluice|process)_[a-z\d_]+)'/g)].map(([, name = '']) => name),
);
const known = new Set([
  ...names.flatMap((name) => [name, `${name}_bucket`, `${name}_sum`, `${name}_count`]),
  ...rules.flatMap(({ record = [] }) => record),
]);
const unknownIn = (expression: string) =>
  [...expression.matchAll(/\b(?:mq|sluice|process)[_:][a-z\d_:]+/g)]
    .map(([name]) => name)
    .filter((name) => !known.has(name));

const promtool = (...args: string[]) =>
  promisify(execFile)('promtool', args).then(
    (ran) => ({ code: 0, ...ran }),
    (error: { code: unknown; stdout: string; stderr: string }) => error,
  );

const RUNBOOK = 'docs/operating/alarms-and-alerts.md';

describe('the alerts', () => {
  for (const { alert, record, expr } of rules) {
    test(`${alert ?? record} asks for metrics that exist`, () => assert.deepEqual(unknownIn(expr), []));
  }

  test('each has a summary, a description, a severity and a line in the runbook', () => {
    const page = readPage(RUNBOOK);
    const told = [...page.matchAll(/^\| <a id="(\w+)"><\/a>`(\w+)` \| .+ \| .+ \|$/gm)].map(([, id, name]) => [
      id,
      name,
    ]);
    assert.deepEqual(told.sort(), alerts.map(({ alert }) => [alert, alert]).sort());
    for (const { alert, labels, annotations } of alerts) {
      assert.match(labels?.severity ?? '', /^(?:critical|warning)$/, alert);
      assert.deepEqual(Object.keys(annotations ?? {}), ['summary', 'description', 'runbook_url'], alert);
      assert.equal(annotations?.['runbook_url'], `${RUNBOOK}#${alert}`);
    }
  });

  test('every alarm of a queue has a line in the runbook, and an alert or a hold', () => {
    const page = readPage(RUNBOOK);
    const asked = alerts.map(({ expr }) => expr).join();
    const index = readPage('docs/troubleshooting.md');
    for (const code of ALARM_CODES) {
      assert.ok(index.includes(`\`${code}\``), code);
      assert.match(page, new RegExp(`^\\| \`${code}\` \\| .+ \\| .+ \\|$`, 'm'));
      const holds = ['RED_TARGET', 'BROKEN_CONFIGURATION'].includes(code);
      assert.equal(asked.includes(code.toLowerCase()), !holds, code);
    }
  });

  test('each is told in the tests of promtool, which pass where it is installed', async (t) => {
    const tests = readPage('deploy/prometheus/rules.test.yml');
    for (const { alert } of alerts) assert.ok(tests.includes(`alertname="${alert}"`), alert);
    const { code, stdout } = await promtool('test', 'rules', `${ROOT}deploy/prometheus/rules.test.yml`);
    if (code === 'ENOENT') return t.skip('promtool is not installed');
    assert.equal(code, 0, stdout);
  });
});

test('the dashboard asks for metrics that exist', () => {
  const asked = dashboard.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));
  const variables = dashboard.templating.list.flatMap(({ definition = [] }) => definition);
  assert.ok(asked.length > 30);
  assert.deepEqual([...asked.map(({ expr }) => expr), ...variables].flatMap(unknownIn), []);
  // Recorded names are for the alerts: the dashboard works without them.
  assert.doesNotMatch(asked.map(({ expr }) => expr).join(), /sluice:/);
});

test('promtool understands the queries of the dashboard, where it is installed', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-promtool-'));
  t.after(() => rm(folder, { recursive: true }));
  const asked = dashboard.panels.flatMap(({ targets = [] }) => targets);
  const file = join(folder, 'queries.yml');
  // JSON is YAML.
  const written = asked.map(({ expr }, index) => ({ record: `query_${index}`, expr }));
  await writeFile(file, JSON.stringify({ groups: [{ name: 'queries', rules: written }] }));
  const { code, stderr } = await promtool('check', 'rules', file);
  if (code === 'ENOENT') return t.skip('promtool is not installed');
  assert.equal(code, 0, stderr);
});
