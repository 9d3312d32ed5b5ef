import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { madeForEach } from '../../../test/helpers/made.ts';
import { pluck } from '../../../test/helpers/pluck.ts';
import { NOON } from '../../../test/helpers/store-rows.ts';
import { createInProcess } from '../../../test/worlds/server/in-process.ts';
import type { MonitorView } from '../../app/tests/monitors.ts';
import type { TestSettingsView } from '../../app/tests/test-settings.ts';

const GET = '/v1/flaky-tests/get-settings';
const UPDATE = '/v1/flaky-tests/update-settings';
const LIST = '/v1/flaky-tests/list-monitors';
const SET = '/v1/flaky-tests/set-monitor';
const DELETE = '/v1/flaky-tests/delete-monitor';

const RATE = {
  type: 'failure_rate',
  name: 'Often failing',
  branches: ['main', 'release/*'],
  action: { classify: 'BROKEN' },
  parameters: { activation_threshold: 0.5, window_hours: 12, minimum_sample_size: 10 },
};

interface SetReply {
  readonly monitor: MonitorView;
  readonly monitors: readonly MonitorView[];
}

describe('test settings of a repository', () => {
  const world = madeForEach(() => createInProcess());

  const body = (more: object = {}) => ({ ...world.scope, ...more });
  const settings = () => world.ok<TestSettingsView>(GET, body());
  const update = (more: object) => world.ok<TestSettingsView>(UPDATE, body(more));
  const monitors = async () => (await world.ok<{ monitors: MonitorView[] }>(LIST, body())).monitors;
  const set = (monitor: object) => world.ok<SetReply>(SET, body({ monitor }));

  describe('settings', () => {
    test('are the defaults until they are changed [F27]', async () => {
      assert.deepEqual(await settings(), {
        quarantine_enabled: true,
        auto_quarantine: false,
        infrastructure_protection_enabled: true,
        infrastructure_failure_threshold: null,
        retention_days: 45,
        ticket_url_template: null,
        is_applied: true,
        changes: [],
      });
    });

    test('keep fields that a change does not name, and record who changed which field [F55]', async () => {
      const first = await update({ auto_quarantine: true, retention_days: 10 });
      assert.deepEqual([first.auto_quarantine, first.retention_days, first.is_applied], [true, 10, false]);
      world.clock.set(NOON + 1);
      const template = 'https://acme.test/{key}';
      const second = await update({ ticket_url_template: template, infrastructure_failure_threshold: 1 });
      assert.deepEqual(await settings(), second);
      assert.deepEqual(pluck(second.changes, 'actor', 'kind', 'text'), [
        [
          'admin',
          'SETTINGS_CHANGED',
          `infrastructure_failure_threshold from null to 1, ticket_url_template from null to "${template}"`,
        ],
        ['admin', 'SETTINGS_CHANGED', 'auto_quarantine from false to true, retention_days from 45 to 10'],
      ]);
      assert.equal((await update({ ticket_url_template: null })).ticket_url_template, null);
    });

    test('a change that changes nothing is none', async () => {
      await update({ retention_days: 45 });
      await update({});
      const { changes, is_applied } = await settings();
      assert.deepEqual([changes, is_applied], [[], true]);
    });

    test('switching quarantine off switches automatic quarantine off, for good [F55]', async () => {
      await update({ auto_quarantine: true });
      assert.equal((await update({ quarantine_enabled: false })).auto_quarantine, false);
      await world.refused('400 VALIDATION_FAILED', UPDATE, body({ auto_quarantine: true }));
      assert.equal((await update({ quarantine_enabled: true })).auto_quarantine, false);
      assert.equal((await update({ auto_quarantine: true })).auto_quarantine, true);
    });

    for (const more of [
      { quarantine_enabled: 'yes' },
      { infrastructure_failure_threshold: 1.01 },
      { infrastructure_failure_threshold: -0.1 },
      { retention_days: 0 },
      { retention_days: 366 },
      { retention_days: 1.5 },
      { retention_days: null },
      { ticket_url_template: '' },
      { ticket_url_template: 'https://acme.test/' },
      { ticket_url_template: 'javascript:{key}' },
      { ticket_url_template: `https://acme.test/{key}${'x'.repeat(1000)}` },
    ]) {
      test(`${JSON.stringify(more).slice(0, 60)} is refused, and nothing is changed`, async () => {
        await world.refused('400 VALIDATION_FAILED', UPDATE, body({ ...more, auto_quarantine: true }));
        assert.equal((await settings()).auto_quarantine, false);
      });
    }

    test('changes of two people at once are both there', async () => {
      await Promise.all([update({ auto_quarantine: true }), update({ retention_days: 7 }), set(RATE)]);
      const { auto_quarantine, retention_days, changes } = await settings();
      assert.deepEqual([auto_quarantine, retention_days, changes.length], [true, 7, 3]);
      assert.equal((await monitors()).length, 6);
    });
  });

  describe('monitors', () => {
    test('a new repository has five, which are the same whenever they are asked for [F7]', async () => {
      const five = await monitors();
      assert.deepEqual(pluck(five, 'type', 'name', 'enabled'), [
        ['pass_on_retry', 'Pass on retry', true],
        ['failure_count', 'Repeated failures', true],
        ['failure_rate', 'Nearly always failing', true],
        ['new_test', 'New tests', true],
        ['skipped_test', 'Skipped tests', true],
      ]);
      assert.deepEqual(five[3], {
        id: five[3]?.id,
        type: 'new_test',
        name: 'New tests',
        enabled: true,
        branches: ['main', 'master', 'develop', 'dev', 'release/*'],
        action: { labels: ['New'], remove_on_resolve: true },
        parameters: { new_days: 7 },
      });
      assert.deepEqual(await monitors(), five);
    });

    test('a new one has defaults for fields that were not named, and is answered with the others [F8]', async () => {
      const { monitor, monitors: all } = await set({ ...RATE, type: 'FAILURE_RATE', action: { classify: 'broken' } });
      assert.deepEqual(monitor, {
        ...RATE,
        id: monitor.id,
        enabled: true,
        parameters: { ...RATE.parameters, resolution_threshold: 0.5, stale_timeout_hours: null },
      });
      assert.deepEqual(all.at(-1), monitor);
      assert.deepEqual(await monitors(), all);
    });

    test('a change names the monitor, and changes only the fields that it names [F28]', async () => {
      const { monitor } = await set(RATE);
      const change = { id: monitor.id, enabled: false, parameters: { window_hours: 24, stale_timeout_hours: 48 } };
      const changed = (await set(change)).monitor;
      assert.deepEqual(changed, {
        ...monitor,
        enabled: false,
        parameters: { ...monitor.parameters, window_hours: 24, stale_timeout_hours: 48 },
      });
      const unset = (await set({ id: monitor.id, parameters: { stale_timeout_hours: null } })).monitor;
      assert.equal(unset.parameters['stale_timeout_hours'], null);
      const { changes } = await settings();
      assert.deepEqual(pluck(changes, 'kind'), ['MONITOR_CHANGED', 'MONITOR_CHANGED', 'MONITOR_CREATED']);
      assert.equal(changes[0]?.text, '"Often failing" (failure_rate): stale_timeout_hours from 48 to none');
      assert.equal(
        changes[1]?.text,
        '"Often failing" (failure_rate): enabled from true to false, window_hours from 12 to 24, stale_timeout_hours from none to 48',
      );
      await set({ id: monitor.id });
      assert.equal((await settings()).changes.length, 3);
    });

    test('one can become another type, with parameters of its own', async () => {
      const { monitor } = await set(RATE);
      const parameters = { window_minutes: 60, resolution_timeout_minutes: 120 };
      const changed = (await set({ id: monitor.id, type: 'failure_count', parameters })).monitor;
      assert.deepEqual(
        [changed.type, changed.parameters],
        ['failure_count', { failure_count: 1, passes_between: 0, ...parameters }],
      );
      const [change] = (await settings()).changes;
      assert.match(change?.text ?? '', /: type from "failure_rate" to "failure_count", failure_count from none to 1, /);
      assert.match(change?.text ?? '', /, window_hours from \d+ to none/);
    });

    test('all errors are reported at once, and nothing is changed [F8]', async () => {
      const wrong = {
        ...RATE,
        name: '',
        branches: ['main', ''],
        action: { classify: 'FLAKY', labels: ['x'] },
        parameters: { activation_threshold: 90, window_hours: 0, minimum_size: 1 },
      };
      const { errors, detail } = await world.refused('400 VALIDATION_FAILED', SET, body({ monitor: wrong }));
      assert.deepEqual(pluck(errors, 'path'), [
        '/monitor/name',
        '/monitor/branches/1',
        '/monitor/action',
        '/monitor/parameters/minimum_size',
        '/monitor/parameters/activation_threshold',
        '/monitor/parameters/window_hours',
        '/monitor/parameters/minimum_sample_size',
      ]);
      assert.match(detail, /^monitor\.name .*\(and 6 more\)/);
      assert.equal((await monitors()).length, 5);
    });

    for (const [what, monitor] of [
      ['no monitor', undefined],
      ['no type', { ...RATE, type: undefined }],
      ['an unknown type', { ...RATE, type: 'slow' }],
      ['no action', { ...RATE, action: undefined }],
      ['a parameter that is no number', { ...RATE, parameters: { ...RATE.parameters, window_hours: '24' } }],
      ['an id that is none', { ...RATE, id: 'mine' }],
      [
        'a thousand parameters',
        { ...RATE, parameters: Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`p${n}`, n])) },
      ],
    ] as const) {
      test(`${what} is refused`, async () => {
        await world.refused('400 VALIDATION_FAILED', SET, body({ monitor }));
      });
    }

    test('one that is deleted is gone; deleting or changing an unknown one is 404 [F28]', async () => {
      const [first, ...rest] = await monitors();
      const id = first?.id as string;
      const left = await world.ok<SetReply>(DELETE, body({ monitor_id: id.toUpperCase() }));
      assert.deepEqual(left.monitors, rest);
      assert.deepEqual(await monitors(), rest);
      await world.refused('404 MONITOR_NOT_FOUND', DELETE, body({ monitor_id: id }));
      await world.refused('404 MONITOR_NOT_FOUND', SET, body({ monitor: { id: randomUUID(), enabled: false } }));
      assert.equal((await settings()).changes[0]?.text, '"Pass on retry" (pass_on_retry)');
    });

    test('a repository has at most 50 [F28]', async () => {
      for (let count = 5; count < 50; count += 1) await set(RATE);
      await world.refused('409 MONITOR_LIMIT_REACHED', SET, body({ monitor: RATE }));
    });
  });

  test("another organization's slug or repository is not found", async () => {
    for (const url of [GET, UPDATE, LIST, SET, DELETE]) {
      const all = url === UPDATE ? body({}) : body({ monitor: RATE, monitor_id: randomUUID() });
      await world.refused('404 ORGANIZATION_NOT_FOUND', url, { ...all, org_url_slug: 'other' });
      await world.refused('404 REPOSITORY_NOT_FOUND', url, { ...all, repo: { ...world.scope.repo, name: 'other' } });
    }
  });
});
