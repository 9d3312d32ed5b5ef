import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aMonitor, anUpload, aRun, DAY, FlakyWorld, HOUR, START } from '../../test/helpers/test-history.ts';
import { changeMonitors, flag, monitorsToRefold, mute, unflag, unmute } from './acts.ts';
import type { Monitor } from './core/monitor.ts';
import { newTestState, type TestState } from './core/state.ts';
import { expire } from './evaluate.ts';
import { labelsOf, setLabel } from './labels.ts';

const COUNT = aMonitor({
  type: 'failure_count',
  name: 'Count',
  parameters: { window_minutes: 600, resolution_timeout_minutes: 10_000 },
});
const BROKEN = aMonitor({
  type: 'failure_rate',
  name: 'Rate',
  action: { classify: 'BROKEN' },
  parameters: { activation_threshold: 0.5, window_hours: 24, minimum_sample_size: 1 },
});
const LABEL: Monitor = { ...COUNT, id: 'label', action: { kind: 'label', labels: ['Shaky'], removeOnResolve: true } };
const ANA = { actor: 'ana', at: START + HOUR };

function failed(...monitors: readonly Monitor[]): TestState {
  const world = new FlakyWorld(monitors);
  world.tell({ upload: anUpload({ id: 'u1' }), runs: [aRun('FAILURE', START)] }, START);
  assert.ok(world.state !== undefined);
  return world.state;
}

function muted(state: TestState, monitors: readonly Monitor[], monitorId: string, until: number | null): TestState {
  const outcome = mute(state, monitors, { ...ANA, monitorId, until, reason: 'known' });
  assert.ok(outcome.kind === 'muted');
  return outcome.state;
}

const kinds = (events: readonly { readonly kind: string }[]) => events.map(({ kind }) => kind);

describe('muting a monitor on a test', () => {
  it('takes its opinion away until it ends or expires, while it goes on detecting [F14]', () => {
    const monitors = [COUNT, BROKEN];
    const quiet = muted(failed(...monitors), monitors, BROKEN.id, START + 5 * HOUR);
    assert.equal(quiet.status, 'FLAKY');
    assert.equal(quiet.nextCheckAt, START + 5 * HOUR);
    assert.equal(expire(quiet, monitors, START + 5 * HOUR - 1).state.status, 'FLAKY');
    const expired = expire(quiet, monitors, START + 5 * HOUR);
    assert.equal(expired.state.status, 'BROKEN');
    assert.deepEqual(kinds(expired.events), ['monitor_unmuted', 'status_changed']);
    assert.equal(unmute(quiet, monitors, { ...ANA, monitorId: BROKEN.id }).state.status, 'BROKEN');
    const silent = muted(muted(failed(...monitors), monitors, BROKEN.id, null), monitors, COUNT.id, null);
    assert.equal(silent.status, 'HEALTHY');
    assert.equal(silent.statusReason, 'ana muted the monitor "Count".');
  });

  it('is refused where the monitor was never active, or for the past [F14]', () => {
    const healthy = newTestState(START);
    assert.equal(mute(healthy, [COUNT], { ...ANA, monitorId: COUNT.id, until: null, reason: null }).kind, 'refused');
    const past = mute(failed(COUNT), [COUNT], { ...ANA, monitorId: COUNT.id, until: START, reason: null });
    assert.equal(past.kind, 'refused');
  });

  it('takes labels away, and gives them again [F14]', () => {
    const quiet = muted(failed(LABEL), [LABEL], LABEL.id, null);
    assert.deepEqual(labelsOf(quiet), []);
    assert.deepEqual(labelsOf(unmute(quiet, [LABEL], { ...ANA, monitorId: LABEL.id }).state), ['Shaky']);
    assert.deepEqual(unmute(failed(LABEL), [LABEL], { ...ANA, monitorId: LABEL.id }).events, []);
  });
});

describe('flagging a test', () => {
  it('makes it flaky until somebody takes the flag away [F15]', () => {
    const outcome = flag(newTestState(START), [], { ...ANA, reason: 'I saw it' });
    assert.ok(outcome.kind === 'flagged');
    assert.equal(outcome.state.status, 'FLAKY');
    assert.equal(outcome.state.statusReason, 'Flagged as flaky by ana: I saw it');
    assert.deepEqual(outcome.events[1], {
      kind: 'status_changed',
      at: ANA.at,
      actor: 'ana',
      from: 'HEALTHY',
      to: 'FLAKY',
      reason: 'Flagged as flaky by ana: I saw it',
      active: [{ monitorId: null, type: 'manual' }],
    });
    const gone = unflag(outcome.state, [], ANA);
    assert.equal(gone.state.status, 'HEALTHY');
    assert.equal(gone.state.statusReason, 'ana took the flag away.');
    assert.deepEqual(unflag(gone.state, [], ANA).events, []);
  });

  it('is refused for a broken one, and with a reason that is too long [F15]', () => {
    assert.equal(flag(failed(BROKEN), [BROKEN], { ...ANA, reason: null }).kind, 'refused');
    assert.equal(flag(newTestState(START), [], { ...ANA, reason: 'x'.repeat(257) }).kind, 'refused');
  });

  it('outlasts a broken status [F15]', () => {
    const flagged = flag(newTestState(START), [BROKEN], { ...ANA, reason: null });
    assert.ok(flagged.kind === 'flagged');
    const world = new FlakyWorld([BROKEN]);
    world.state = flagged.state;
    world.tell({ upload: anUpload({ id: 'u1' }), runs: [aRun('FAILURE', START)] }, START + HOUR);
    assert.equal(world.state.status, 'BROKEN');
    world.tell(
      { upload: anUpload({ id: 'u2' }), runs: [aRun('SUCCESS', START), aRun('SUCCESS', START)] },
      START + HOUR,
    );
    assert.equal(world.state.status, 'FLAKY');
  });
});

describe('changing monitors', () => {
  const change = (state: TestState, before: readonly Monitor[], next: readonly Monitor[]) =>
    changeMonitors(state, { ...ANA, before, next });

  it('resolves a monitor that is disabled or deleted at once, and says who did it [F16]', () => {
    for (const [next, cause] of [
      [[{ ...COUNT, enabled: false }], 'disabled'],
      [[], 'deleted'],
    ] as const) {
      const { state, events } = change(failed(COUNT), [COUNT], next);
      assert.equal(state.status, 'HEALTHY');
      assert.deepEqual(events[0], {
        kind: 'monitor_resolved',
        at: ANA.at,
        actor: 'ana',
        monitorId: COUNT.id,
        monitorName: 'Count',
        type: 'failure_count',
        cause,
        reason: `The monitor "Count" was ${cause}.`,
      });
      assert.equal(state.statusReason, `The monitor "Count" was ${cause}.`);
    }
  });

  it('takes the labels of one that is gone away, in its name [F16]', () => {
    const { state, events } = change(failed(LABEL), [LABEL], []);
    assert.deepEqual(labelsOf(state), []);
    const removed = events.find((event) => event.kind === 'label_removed');
    assert.equal(removed?.monitorName, 'Count');
  });

  it('looks again where limits or the action changed [F16]', () => {
    const longer = aMonitor({
      type: 'failure_count',
      name: 'Count',
      parameters: { window_minutes: 600, resolution_timeout_minutes: 600 },
    });
    const late = { ...ANA, at: START + 11 * HOUR };
    assert.equal(changeMonitors(failed(COUNT), { ...late, before: [COUNT], next: [longer] }).state.status, 'HEALTHY');
    const labelled = change(failed(COUNT), [COUNT], [{ ...LABEL, id: COUNT.id }]);
    assert.equal(labelled.state.status, 'HEALTHY');
    assert.deepEqual(labelsOf(labelled.state), ['Shaky']);
    assert.deepEqual(monitorsToRefold([COUNT], [longer]), []);
  });

  it('counts anew where other runs count [F16]', () => {
    const elsewhere = { ...COUNT, branches: ['dev'] };
    const { state } = change(failed(COUNT), [COUNT], [elsewhere]);
    assert.equal(state.status, 'HEALTHY');
    assert.equal(state.monitors[COUNT.id]?.data, null);
    assert.deepEqual(monitorsToRefold([COUNT], [elsewhere, BROKEN]), [elsewhere, BROKEN]);
  });

  it('re-evaluates when recovery days are lowered, and keeps the status when branches change [F48]', () => {
    const retry = aMonitor({ type: 'pass_on_retry' });
    const world = new FlakyWorld([retry]);
    for (const [index, conclusion] of (['FAILURE', 'SUCCESS'] as const).entries()) {
      world.tell({ upload: anUpload({ id: `u${index}` }), runs: [aRun(conclusion, START)] }, START);
    }
    assert.ok(world.state !== undefined);
    const later = { actor: 'ana', at: START + 2 * DAY };
    const lowered = aMonitor({ type: 'pass_on_retry', parameters: { recovery_days: 2 } });
    assert.equal(changeMonitors(world.state, { ...later, before: [retry], next: [lowered] }).state.status, 'HEALTHY');
    const moved = { ...retry, branches: ['dev'] };
    assert.equal(changeMonitors(world.state, { ...later, before: [retry], next: [moved] }).state.status, 'FLAKY');
  });
});

describe('labels', () => {
  it('stay until every source is gone; a person removes them from all [F12]', () => {
    const act = { label: 'Shaky', actor: 'ana', at: START };
    const both = setLabel(failed(LABEL), { ...act, isOn: true }).state;
    assert.deepEqual(setLabel(both, { ...act, isOn: true }).events, []);
    const resolved = expire(both, [LABEL], START + 30 * DAY).state;
    assert.deepEqual(labelsOf(resolved), ['Shaky']);
    const removed = setLabel(both, { ...act, isOn: false });
    assert.equal(removed.events.length, 2);
    assert.deepEqual(labelsOf(removed.state), []);
    assert.deepEqual(setLabel(removed.state, { ...act, isOn: false }).events, []);
    assert.deepEqual(labelsOf(expire(removed.state, [LABEL], START + HOUR).state), [], 'stays away');
  });
});
