import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { madeForEach } from '../../../test/helpers/made.ts';
import { storeObserved, type Told } from '../../../test/helpers/observed-test.ts';
import { pluck } from '../../../test/helpers/pluck.ts';
import { DAY_MS, NOON } from '../../../test/helpers/store-rows.ts';
import { createInProcess } from '../../../test/worlds/server/in-process.ts';
import type { TestDetailsView } from '../../app/tests/get-test-details.ts';
import type { TestEventView } from '../../app/tests/test-event-view.ts';
import { defaultMonitors } from '../../flaky/settings.ts';
import type { TestRow } from '../../storage/tests.ts';

const at = (instant: number) => new Date(instant).toISOString();
const DECISION = { setting: 'ALWAYS_QUARANTINE', reason: 'So.' };
const path = (name: string) => `/v1/flaky-tests/${name}`;

describe('decisions of people about a test', () => {
  const world = madeForEach(() => createInProcess());

  const told = (more: Partial<Told> = {}) =>
    storeObserved(world.store, world.repository, { at: NOON, runs: ['SUCCESS'], ...more });
  const body = (test: TestRow, more: object) => ({ ...world.scope, test_id: test.id, ...more });
  const act = async (name: string, test: TestRow, more: object) =>
    (await world.ok<{ test: TestDetailsView }>(path(name), body(test, more))).test;
  const refused = (expected: string, name: string, test: TestRow, more: object) =>
    world.refused(expected, path(name), body(test, more));
  const details = (test: TestRow) => act('get-test-details', test, {});
  const events = async (test: TestRow) =>
    (await world.ok<{ events: TestEventView[] }>(path('list-test-events'), body(test, { page_query: {} }))).events;
  const quarantinedIds = async () => {
    const list = await world.ok<{ quarantined_tests: { test_case_id: string; quarantine_setting: string }[] }>(
      path('list-quarantined-tests'),
      { ...world.scope, page_query: {} },
    );
    return list.quarantined_tests.map((row) => [row.test_case_id, row.quarantine_setting]);
  };

  describe('set-quarantine', () => {
    test('quarantines a test of any status, with who, when and why, until it ends [F53] [F24]', async () => {
      const healthy = await told();
      world.clock.set(NOON + 1000);
      const always = { setting: 'ALWAYS_QUARANTINE', reason: 'Blocks everybody.', expires_at: at(NOON + DAY_MS) };
      const shown = await act('set-quarantine', healthy, always);
      assert.equal(shown.quarantined, true);
      assert.equal(shown.quarantined_at, at(NOON + 1000));
      assert.deepEqual(shown.quarantine_override, { ...always, actor: 'admin', at: at(NOON + 1000) });
      assert.deepEqual(await details(healthy), shown);
      assert.deepEqual(await quarantinedIds(), [[healthy.id, 'ALWAYS_QUARANTINE']]);
      const { memory } = (await world.store.testIngest.load(world.repository.id, [healthy.id])).known[0] ?? {};
      assert.ok(memory?.nextCheckAt !== null && Number(memory?.nextCheckAt) <= NOON + DAY_MS);
      assert.equal(memory?.seq, 1, 'no run was counted');
    });

    test('never outranks automatic quarantine, and UNSPECIFIED ends it', async () => {
      await world.ok(path('update-settings'), { ...world.scope, auto_quarantine: true });
      const flaky = await told({ runs: ['RETRIED'] });
      assert.deepEqual(await quarantinedIds(), [[flaky.id, 'AUTO_QUARANTINE']]);
      const never = await act('set-quarantine', flaky, { setting: 'never_quarantine', reason: 'Too important.' });
      assert.deepEqual([never.quarantined, never.quarantine_override?.setting], [false, 'NEVER_QUARANTINE']);
      const ended = await act('set-quarantine', flaky, { setting: 'UNSPECIFIED', reason: 'As all others.' });
      assert.deepEqual([ended.quarantined, 'quarantine_override' in ended], [true, false]);
    });

    test('an override that has expired is shown as none', async () => {
      const some = await told();
      await act('set-quarantine', some, { setting: 'NEVER_QUARANTINE', reason: 'So.', expires_at: at(NOON + 1) });
      world.clock.set(NOON + 1);
      assert.equal('quarantine_override' in (await details(some)), false);
      await act('set-label', some, { label: 'x', on: true });
      const due = await world.store.testUpkeep.listDue(NOON + 1, 10);
      assert.equal(due.length, 1, 'it waits to be taken away');
    });

    test('leaves events that say who, when and why', async () => {
      const some = await told();
      const before = (await events(some)).length;
      const until = at(NOON + DAY_MS);
      await act('set-quarantine', some, { setting: 'ALWAYS_QUARANTINE', reason: 'Noise.', expires_at: until });
      const [quarantined, override, ...rest] = await events(some);
      assert.equal(rest.length, before);
      assert.deepEqual(override, {
        at: at(NOON),
        kind: 'OVERRIDE_CHANGED',
        text: 'admin set the quarantine from UNSPECIFIED to ALWAYS_QUARANTINE.',
        actor: 'admin',
        reason: 'Noise.',
        from: 'UNSPECIFIED',
        to: 'ALWAYS_QUARANTINE',
        until,
      });
      assert.deepEqual(
        [quarantined?.kind, quarantined?.text, quarantined?.actor],
        ['QUARANTINE_CHANGED', 'It is quarantined.', 'admin'],
      );
    });

    describe('of a test in several suites', () => {
      const always = { setting: 'ALWAYS_QUARANTINE', reason: 'Noise.' };
      const inTwo = async () => {
        const test = await told({ path: 'a' });
        return told({ test, path: 'b' });
      };
      const list = (name: string) =>
        world.ok<Record<string, { quarantined_suites?: string[] }[]>>(path(name), { ...world.scope, page_query: {} });

      test('names the suites in its answer, in lists, events and the feed [F80] [F83]', async () => {
        const test = await inTwo();
        const shown = await act('set-quarantine', test, { ...always, suites: ['math > b'] });
        assert.deepEqual(shown.suites, ['math > a', 'math > b']);
        assert.deepEqual(shown.quarantine_override?.suites, ['math > b']);
        assert.deepEqual((await list('list-quarantined-tests'))['quarantined_tests']?.[0]?.quarantined_suites, [
          'math > b',
        ]);
        assert.deepEqual((await list('list-tests'))['tests']?.[0]?.quarantined_suites, ['math > b']);
        const [, changed] = await events(test);
        assert.deepEqual(changed?.suites, ['math > b']);
        assert.match(`${changed?.text}`, /from UNSPECIFIED to ALWAYS_QUARANTINE in math > b\.$/);
        const feed = await world.ok<{ events: { type: string; text: string; data: { suites?: string[] } }[] }>(
          '/v1/listEvents',
          { types: ['test_case.quarantining_setting_changed'] },
        );
        assert.deepEqual(feed.events[0]?.data.suites, ['math > b']);
        assert.match(`${feed.events[0]?.text}`, / to ALWAYS_QUARANTINE in math > b\. Noise\.$/);
        const trunk = await world.ok<{ test: object }>('/trunk/v1/flaky-tests/get-test-details', body(test, {}));
        assert.equal(Object.keys(trunk.test).filter((key) => key.endsWith('suites')).length, 0);
        const lists = await world.ok<{ quarantined_tests: object[] }>('/trunk/v1/flaky-tests/list-quarantined-tests', {
          ...world.scope,
          page_query: {},
        });
        assert.equal('quarantined_suites' in (lists.quarantined_tests[0] ?? {}), false);
      });

      test('covers all suites that are known then if none is named, and no later one [F80]', async () => {
        const test = await inTwo();
        await act('set-quarantine', test, always);
        await told({ test, path: 'c' });
        const shown = await details(test);
        assert.deepEqual(shown.suites, ['math > a', 'math > b', 'math > c']);
        assert.deepEqual(shown.quarantine_override?.suites, ['math > a', 'math > b']);
      });

      test('refuses a suite that the test is not in, and names those it is in [F80]', async () => {
        const more = { ...always, suites: ['math > a', 'math > d'] };
        const { errors } = await refused('400 VALIDATION_FAILED', 'set-quarantine', await inTwo(), more);
        assert.deepEqual(pluck(errors, 'message'), [
          'must be suites of the test: there is no "math > d". It has "math > a", "math > b"',
        ]);
      });
    });

    for (const [what, more, where] of [
      ['a suite of a test whose results name none', { ...DECISION, suites: ['math'] }, '/suites'],
      ['a suite to never quarantine it in', { ...DECISION, setting: 'NEVER_QUARANTINE', suites: ['math'] }, '/suites'],
      ['an empty list of suites', { ...DECISION, suites: [] }, '/suites'],
      ['no reason', { setting: 'ALWAYS_QUARANTINE' }, '/reason'],
      ['an empty reason', { setting: 'ALWAYS_QUARANTINE', reason: '' }, '/reason'],
      ['a blank reason', { setting: 'ALWAYS_QUARANTINE', reason: ' \n\t' }, '/reason'],
      ['a reason of 1,001 characters', { setting: 'ALWAYS_QUARANTINE', reason: 'x'.repeat(1001) }, '/reason'],
      ['another setting', { setting: 'AUTO_QUARANTINE', reason: 'So.' }, '/setting'],
      ['an end in the past', { setting: 'NEVER_QUARANTINE', reason: 'So.', expires_at: at(NOON) }, '/expires_at'],
      ['an end of nothing', { setting: 'UNSPECIFIED', reason: 'So.', expires_at: at(NOON + 1) }, '/expires_at'],
    ] as const) {
      test(`${what} is refused`, async () => {
        const { errors } = await refused('400 VALIDATION_FAILED', 'set-quarantine', await told(), more);
        assert.deepEqual(pluck(errors, 'path'), [where]);
      });
    }
  });

  describe('flag-test', () => {
    test('makes a test flaky, with who, when and why, until it is taken away [F24]', async () => {
      const healthy = await told();
      const flagged = await act('flag-test', healthy, { flagged: true, reason: 'Fails on Mondays.' });
      assert.deepEqual(flagged.flag, { actor: 'admin', at: at(NOON), reason: 'Fails on Mondays.' });
      assert.deepEqual(flagged.status, {
        value: 'FLAKY',
        reason: 'Flagged as flaky by admin: Fails on Mondays.',
        timestamp: at(NOON),
      });
      assert.equal(flagged.quarantined, false, 'a flag alone quarantines nothing');
      world.clock.set(NOON + 5);
      const unflagged = await act('flag-test', healthy, { flagged: false });
      assert.deepEqual(
        [unflagged.status.value, unflagged.status.timestamp, 'flag' in unflagged],
        ['HEALTHY', at(NOON + 5), false],
      );
      assert.deepEqual(
        (await events(healthy))
          .map((event) => event.kind)
          .filter((kind) => !kind.startsWith('LABEL'))
          .slice(0, 4),
        ['STATUS_CHANGED', 'TEST_UNFLAGGED', 'STATUS_CHANGED', 'TEST_FLAGGED'],
      );
    });

    test('taking away a flag that is not there changes nothing', async () => {
      const healthy = await told();
      const before = await world.store.tests.getWatermark(world.repository.id);
      await act('flag-test', healthy, { flagged: false });
      assert.equal(await world.store.tests.getWatermark(world.repository.id), before);
    });

    test('a broken test cannot be flagged', async () => {
      const broken = await told({ runs: ['FAILURE', 'FAILURE', 'FAILURE', 'FAILURE', 'FAILURE', 'FAILURE'] });
      assert.equal((await details(broken)).status.value, 'BROKEN');
      await refused('409 TEST_NOT_FLAGGABLE', 'flag-test', broken, { flagged: true });
      await act('flag-test', broken, { flagged: false });
    });

    test('without flagged, or with a reason of 257 characters, it is refused', async () => {
      const healthy = await told();
      await refused('400 VALIDATION_FAILED', 'flag-test', healthy, {});
      await refused('400 VALIDATION_FAILED', 'flag-test', healthy, { flagged: true, reason: 'x'.repeat(257) });
    });
  });

  describe('mute-monitor', () => {
    const retry = () => defaultMonitors(world.repository.id, world.repository.createdAt)[0]?.id as string;

    test('a muted monitor is shown and does not count, until somebody ends it [F14]', async () => {
      const flaky = await told({ branch: 'topic', runs: ['RETRIED'] });
      const [active] = (await details(flaky)).monitors;
      assert.deepEqual(
        [active?.monitor_id, active?.type, active?.name, active?.is_active, active?.active_since],
        [retry(), 'pass_on_retry', 'Pass on retry', true, at(NOON)],
      );
      assert.equal(active?.evidence?.runs.length, 1);
      const muted = await act('mute-monitor', flaky, { monitor_id: retry(), until: null, reason: 'Known.' });
      assert.equal(muted.status.value, 'HEALTHY');
      assert.equal(muted.status.reason, 'admin muted the monitor "Pass on retry".');
      assert.deepEqual(muted.monitors[0], { ...active, mute: { at: at(NOON), actor: 'admin', reason: 'Known.' } });
      const ended = await act('mute-monitor', flaky, { monitor_id: retry().toUpperCase(), muted: false });
      assert.deepEqual([ended.status.value, ended.monitors], ['FLAKY', [active]]);
      const again = await act('mute-monitor', flaky, { monitor_id: retry(), muted: false });
      assert.deepEqual(again.monitors, [active]);
    });

    test('a mute with an end makes the test due at that instant', async () => {
      const flaky = await told({ branch: 'topic', runs: ['RETRIED'] });
      const muted = await act('mute-monitor', flaky, { monitor_id: retry(), until: at(NOON + 5000) });
      assert.equal(muted.monitors[0]?.mute?.until, at(NOON + 5000));
      const due = await world.store.testUpkeep.listDue(NOON + 5000, 10);
      assert.deepEqual(pluck(due, 'testId'), [flaky.id]);
    });

    test('a monitor that was deleted counts until the test follows, and can no longer be muted', async () => {
      const flaky = await told({ branch: 'topic', runs: ['RETRIED'] });
      await world.ok(path('delete-monitor'), { ...world.scope, monitor_id: retry() });
      const labelled = await act('set-label', flaky, { label: 'x', on: true });
      assert.equal(labelled.status.value, 'FLAKY');
      await refused('404 MONITOR_NOT_FOUND', 'mute-monitor', flaky, { monitor_id: retry() });
    });

    test('muting is refused where it is impossible', async () => {
      const flaky = await told({ branch: 'topic', runs: ['RETRIED'] });
      const healthy = await told();
      await refused('409 MONITOR_NOT_MUTABLE', 'mute-monitor', healthy, { monitor_id: retry() });
      await refused('404 MONITOR_NOT_FOUND', 'mute-monitor', flaky, { monitor_id: randomUUID() });
      await refused('400 VALIDATION_FAILED', 'mute-monitor', flaky, { monitor_id: 'retry' });
      for (const more of [
        { until: at(NOON) },
        { until: 'tomorrow' },
        { until: 5 },
        { muted: false, until: at(NOON + 1) },
        { reason: '' },
      ]) {
        await refused('400 VALIDATION_FAILED', 'mute-monitor', flaky, { monitor_id: retry(), ...more });
      }
    });
  });

  describe('set-label', () => {
    test('puts a label on and takes it away from every source [F25]', async () => {
      const fresh = await told();
      const names = (shown: TestDetailsView) => shown.labels.map(({ name }) => name);
      assert.deepEqual(names(await details(fresh)), ['New']);
      const labelled = await act('set-label', fresh, { label: 'Flux', on: true });
      assert.deepEqual(labelled.labels[0], { name: 'Flux', sources: [{ since: at(NOON), actor: 'admin' }] });
      assert.deepEqual(names(labelled), ['Flux', 'New']);
      assert.deepEqual(names(await act('set-label', fresh, { label: 'New', on: false })), ['Flux']);
      assert.equal((await events(fresh))[0]?.text, 'admin took the label "New" away.');
    });

    test('a test has at most 50, of 64 characters each', async () => {
      const some = await told({ branch: 'topic' });
      for (let index = 0; index < 50; index += 1) await act('set-label', some, { label: `l${index}`, on: true });
      await refused('400 VALIDATION_FAILED', 'set-label', some, { label: 'more', on: true });
      for (const label of ['', ' x', 'x'.repeat(65), 'a\nb']) {
        await refused('400 VALIDATION_FAILED', 'set-label', some, { label, on: true });
      }
    });
  });

  describe('link-ticket-to-test-case', () => {
    const link = (test: TestRow, ticket: unknown) => ({
      test_case_id: test.id,
      external_ticket_id: ticket,
      repo: world.scope.repo,
    });
    const PATH = path('link-ticket-to-test-case');

    test('takes an address, or a key where there is a template; another takes its place [F26]', async () => {
      const some = await told();
      const url = 'https://tickets.test/1';
      const linked = await world.ok<{ test: TestDetailsView }>(PATH, link(some, url));
      assert.deepEqual(linked.test.ticket, { html_url: url });
      await world.refused('400 VALIDATION_FAILED', PATH, link(some, 'KAN-123'));
      const ticket_url_template = 'https://acme.test/browse/{key}?from={key}';
      await world.ok(path('update-settings'), { ...world.scope, ticket_url_template });
      await world.ok(PATH, link(some, 'KAN-1#2'));
      const html_url = 'https://acme.test/browse/KAN-1%232?from=KAN-1%232';
      assert.deepEqual((await details(some)).ticket, { html_url });
      const [event] = await events(some);
      assert.deepEqual([event?.kind, event?.url, event?.actor], ['TICKET_LINKED', html_url, 'admin']);
      await world.ok(PATH, link(some, null));
      assert.equal('ticket' in (await details(some)), false);
    });

    test('on /trunk/v1 it answers nothing', async () => {
      const some = await told();
      assert.deepEqual(await world.ok(`/trunk${PATH}`, link(some, 'https://tickets.test/1')), {});
    });

    test('other texts, and an unknown test, are refused', async () => {
      const some = await told();
      await world.ok(path('update-settings'), { ...world.scope, ticket_url_template: 'https://acme.test/{key}' });
      for (const ticket of ['', 'javascript:alert(1)', 'https://u:p@x.test/1', 'http://', 'a b', 'x'.repeat(101), 7]) {
        await world.refused('400 VALIDATION_FAILED', PATH, link(some, ticket));
      }
      const nobody = { ...link(some, 'KAN-1'), test_case_id: randomUUID() };
      await world.refused('404 TEST_NOT_FOUND', PATH, nobody);
      const elsewhere = { ...link(some, 'KAN-1'), repo: { ...world.scope.repo, name: 'other' } };
      await world.refused('404 REPOSITORY_NOT_FOUND', PATH, elsewhere);
    });
  });

  test('an act and results that arrive at the same time are both there [F54]', async () => {
    const some = await told();
    const results = Array.from({ length: 5 }, (_, index) => async () => {
      await told({ at: NOON + index });
    });
    const acts = ['a', 'b', 'c', 'd', 'e'].map((label) => () => act('set-label', some, { label, on: true }));
    await Promise.all([...acts, ...results].map((start) => start()));
    const names = (await details(some)).labels.map(({ name }) => name);
    assert.deepEqual(names, ['New', 'a', 'b', 'c', 'd', 'e']);
  });

  test('a token that may only read decides nothing [F24]', async () => {
    const some = await told();
    const made = await world.ok<{ token: string }>('/v1/createApiToken', { name: 'reader', scopes: ['read'] });
    const headers = { 'x-api-token': made.token, 'content-type': 'application/json' };
    const post = (name: string, payload: object) =>
      world.server.inject({ method: 'POST', url: path(name), headers, payload: JSON.stringify(payload) });
    const writing = [
      'set-quarantine',
      'flag-test',
      'mute-monitor',
      'set-label',
      'link-ticket-to-test-case',
      'update-settings',
      'set-monitor',
      'delete-monitor',
    ];
    for (const name of writing) assert.equal((await post(name, {})).statusCode, 403, name);
    const reading = ['get-test-details', 'list-test-runs', 'list-test-events', 'get-settings', 'list-monitors'];
    for (const name of reading) {
      assert.equal((await post(name, body(some, { page_query: {} }))).statusCode, 200, name);
    }
    assert.equal((await post('search-tests', body(some, { query: 'adds' }))).statusCode, 200);
  });

  test('a maintainer decides about tests, and an administrator about monitors and settings [F24]', async () => {
    const made = await world.ok<{ token: string }>('/v1/createApiToken', { name: 'keeper', scopes: ['maintain'] });
    const codeOf = async (name: string) => (await world.post(path(name), {}, { 'x-api-token': made.token })).status;
    for (const name of ['set-quarantine', 'flag-test', 'mute-monitor', 'set-label', 'link-ticket-to-test-case']) {
      assert.equal(await codeOf(name), 400, name);
    }
    for (const name of ['update-settings', 'set-monitor', 'delete-monitor'])
      assert.equal(await codeOf(name), 403, name);
  });

  test('a test that is not there is 404 everywhere', async () => {
    const nobody = { id: randomUUID() } as TestRow;
    for (const [name, more] of [
      ['set-quarantine', { setting: 'UNSPECIFIED', reason: 'So.' }],
      ['flag-test', { flagged: true }],
      ['mute-monitor', { monitor_id: randomUUID() }],
      ['set-label', { label: 'x', on: true }],
      ['list-test-runs', { page_query: {} }],
      ['list-test-events', { page_query: {} }],
    ] as const) {
      await refused('404 TEST_NOT_FOUND', name, nobody, more);
      await refused('404 ORGANIZATION_NOT_FOUND', name, nobody, { ...more, org_url_slug: 'other' });
    }
  });
});
