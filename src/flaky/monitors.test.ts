import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aMonitor, anUpload, aRun, FlakyWorld, HOUR, MINUTE, START } from '../../test/helpers/test-history.ts';
import type { Monitor } from './core/monitor.ts';
import { expire } from './evaluate.ts';
import { labelsOf } from './labels.ts';
import { seedMonitors } from './settings.ts';

interface Line {
  readonly runs: string;
  readonly hours?: number;
  readonly job?: string;
  readonly branch?: string;
  readonly durationMs?: number;
  readonly flaw?: 'FORK';
}

/**
 * Plays lines (`+` passes, `-` fails, `~` is skipped), each character another commit and upload, an hour between lines.
 */
class Story {
  readonly world: FlakyWorld;
  readonly told: string[] = [];
  at = START;
  #uploads = 0;

  constructor(...monitors: readonly Monitor[]) {
    this.world = new FlakyWorld(monitors);
  }

  play({ runs, hours = 1, job = 'unit', branch = 'main', durationMs = 10, flaw }: Line): this {
    this.wait(hours);
    for (const sign of runs) {
      this.#uploads += 1;
      const id = `u${this.#uploads}`;
      const conclusion = sign === '+' ? 'SUCCESS' : sign === '-' ? 'FAILURE' : 'SKIPPED';
      const upload = anUpload({ id, sha: `sha${this.#uploads}`, job, branch, flaw: flaw ?? null });
      const { events } = this.world.tell({ upload, runs: [aRun(conclusion, this.at, { durationMs })] }, this.at);
      this.#note(events);
    }
    return this;
  }

  /** Advances the clock, and expires tests at their due times. */
  wait(hours: number): this {
    const until = this.at + hours * HOUR;
    for (let due = this.#due(); due !== null && due <= until; due = this.#due()) this.#expire(due);
    this.at = until;
    return this;
  }

  get status(): string | undefined {
    return this.world.state?.status;
  }

  get labels(): readonly string[] {
    return this.world.state === undefined ? [] : labelsOf(this.world.state);
  }

  #due(): number | null {
    return this.world.state?.nextCheckAt ?? null;
  }

  #expire(at: number): void {
    assert.ok(this.world.state !== undefined);
    const { state, events } = expire(this.world.state, this.world.monitors, at);
    assert.notEqual(state.nextCheckAt, at, 'looks again at once');
    this.world.state = state;
    this.#note(events);
  }

  #note(events: readonly { readonly kind: string; readonly reason?: string | null; readonly cause?: string }[]): void {
    for (const { kind, cause, reason } of events) this.told.push([kind, cause, reason].filter(Boolean).join(' | '));
  }
}

const FAILS: Line = { runs: '-' };
const PASSES: Line = { runs: '+' };

const rate = (parameters: Readonly<Record<string, unknown>>, action: unknown = { classify: 'BROKEN' }) =>
  aMonitor({
    type: 'failure_rate',
    name: 'Rate',
    action,
    branches: ['main'],
    parameters: { activation_threshold: 0.5, window_hours: 24, minimum_sample_size: 4, ...parameters },
  });

const count = (parameters: Readonly<Record<string, unknown>> = {}) =>
  aMonitor({
    type: 'failure_count',
    name: 'Count',
    branches: ['main', 'release/*'],
    parameters: {
      failure_count: 3,
      window_minutes: 600,
      resolution_timeout_minutes: 1200,
      passes_between: 1,
      ...parameters,
    },
  });

describe('failure rate', () => {
  it('activates at the threshold with enough runs, and resolves below the other one [F9]', () => {
    const story = new Story(rate({ resolution_threshold: 0.25 }));
    assert.equal(story.play({ runs: '--' }).status, 'HEALTHY');
    assert.equal(story.play({ runs: '++' }).status, 'BROKEN');
    assert.equal(story.world.state?.statusReason, 'Rate: 50% of its 4 runs in 24 hours failed.');
    assert.equal(story.play({ runs: '++++' }).status, 'BROKEN');
    assert.equal(story.play({ runs: '+' }).status, 'HEALTHY');
    assert.equal(story.told.at(-2), 'monitor_resolved | recovered | Only 22.2% of its 9 runs in 24 hours failed.');
  });

  it('counts neither skipped runs nor other branches nor forks [F9]', () => {
    const story = new Story(rate({}));
    story
      .play({ runs: '--' })
      .play({ runs: '~~~~' })
      .play({ runs: '----', branch: 'x' })
      .play({ runs: '----', flaw: 'FORK' });
    assert.equal(story.status, 'HEALTHY');
  });

  it('lets runs leave the window, which may activate it [F9]', () => {
    const story = new Story(rate({ minimum_sample_size: 3 }));
    story.play({ runs: '+++++' }).play({ runs: '---', hours: 12 });
    assert.equal(story.status, 'HEALTHY');
    assert.equal(story.wait(13).status, 'BROKEN');
    assert.equal(story.wait(100).status, 'BROKEN', 'too few runs resolve nothing');
  });

  it('resolves as stale, which is not the same as recovered, and detects again [F45]', () => {
    const story = new Story(rate({ stale_timeout_hours: 6 }));
    assert.equal(story.play({ runs: '----' }).status, 'BROKEN');
    assert.equal(story.wait(6).status, 'HEALTHY');
    assert.equal(story.told.at(-2), 'monitor_resolved | stale | It has not run for 6 hours.');
    assert.equal(story.world.state?.statusReason, 'Resolved as stale: It has not run for 6 hours.');
    assert.equal(story.play({ runs: '-' }).status, 'BROKEN');
  });
});

describe('failure count', () => {
  it('activates at so many failures in the window, on any of its branches together [F10]', () => {
    const onRelease = { branch: 'release/1' };
    const story = new Story(count())
      .play(FAILS)
      .play(PASSES)
      .play({ ...PASSES, ...onRelease });
    story
      .play({ ...FAILS, ...onRelease })
      .play(PASSES)
      .play({ ...FAILS, branch: 'x' });
    assert.equal(story.status, 'HEALTHY');
    assert.equal(story.play({ runs: '-' }).status, 'FLAKY');
    const reason = 'Count: It failed on at least 3 occasions within 10 hours, and passed between them.';
    assert.equal(story.world.state?.statusReason, reason);
  });

  it('calls no test flaky for one regression, however many commits, tries and jobs it fails in [F46]', () => {
    const story = new Story(count()).play({ runs: '+', job: 'mac' }).play({ runs: '+' });
    for (let hour = 0; hour < 6; hour += 1) {
      story
        .play({ runs: '--', job: 'mac' })
        .play({ runs: '--', hours: 0 })
        .play({ runs: '+', branch: 'release/1', hours: 0 });
    }
    assert.equal(story.play({ runs: '+' }).play({ runs: '+', job: 'mac', hours: 0 }).status, 'HEALTHY');
    assert.equal(story.play(FAILS).play({ ...PASSES, job: 'mac' }).status, 'HEALTHY', 'the second');
    assert.equal(story.play({ ...FAILS, job: 'mac' }).status, 'FLAKY', 'the third');
    assert.deepEqual(story.world.state?.monitors['failure_count']?.evidence?.figures, { occasions: 3 });
  });

  it('counts every failure where it needs no pass between them [F46] [F47]', () => {
    const story = new Story(count({ passes_between: 0 })).play({ runs: '---' });
    assert.equal(story.status, 'FLAKY');
    assert.equal(story.world.state?.statusReason, 'Count: It failed at least 3 times within 10 hours.');
    assert.deepEqual(story.world.state?.monitors['failure_count']?.evidence?.figures, { failures: 3 });
  });

  it('sees a test that both fails and passes all the time [F46]', () => {
    const story = new Story(count());
    for (let quarter = 0; quarter < 5; quarter += 1) story.play({ runs: '-+-+', hours: 0.25 });
    assert.equal(story.status, 'FLAKY');
  });

  it('does not add up failures that are too far apart [F47]', () => {
    assert.equal(new Story(count()).play({ runs: '--' }).play({ runs: '-', hours: 10 }).status, 'HEALTHY');
  });

  it('resolves only by time without a failure, counted from the last one [F10]', () => {
    const story = new Story(count()).play(FAILS).play(PASSES).play(FAILS).play(PASSES).play(FAILS).play(PASSES);
    assert.equal(story.status, 'FLAKY');
    story.play({ runs: '-', hours: 15 }).wait(19.99);
    assert.equal(story.status, 'FLAKY');
    assert.equal(story.wait(0.01).status, 'HEALTHY');
    assert.equal(story.told.at(-2), 'monitor_resolved | recovered | It has not failed for 20 hours.');
  });

  it('does not call flaky what fails on one platform only [F11]', () => {
    const story = new Story(count());
    for (let commit = 0; commit < 8; commit += 1) {
      story.play({ runs: '+', job: 'linux' }).play({ runs: '--', job: 'windows', hours: 0 });
    }
    assert.equal(story.status, 'HEALTHY');
    const fails = { runs: '-', job: 'linux' };
    const passes = { runs: '+', job: 'linux' };
    story.play(fails).play(passes).play(fails).play(passes);
    assert.equal(story.status, 'HEALTHY');
    assert.equal(story.play(fails).status, 'FLAKY');
  });
});

describe('monitors that give labels', () => {
  it('call a test new for its days, once, and none that is older than the monitor [F49]', () => {
    const monitor = aMonitor({ type: 'new_test', action: { labels: ['New'] }, parameters: { new_days: 2 } });
    const story = new Story(monitor).play({ runs: '+' });
    assert.deepEqual(story.labels, ['New']);
    assert.equal(story.status, 'HEALTHY');
    assert.deepEqual(story.wait(48).labels, []);
    assert.deepEqual(story.play({ runs: '+', hours: 1000 }).labels, []);
    const old = new Story({ ...monitor, createdAt: START + 5 * HOUR });
    assert.deepEqual(old.play({ runs: '+' }).play({ runs: '+', hours: 9 }).labels, []);
  });

  it('call a test skipped until it was not for some days [F49]', () => {
    const parameters = { window_minutes: 120, minimum_skipped_count: 2, resolution_days: 3 };
    const story = new Story(aMonitor({ type: 'skipped_test', action: { labels: ['Skipped'] }, parameters }));
    assert.deepEqual(story.play({ runs: '~' }).play({ runs: '~', hours: 3 }).labels, []);
    assert.deepEqual(story.play({ runs: '~+++' }).labels, ['Skipped']);
    assert.deepEqual(story.wait(71).labels, ['Skipped']);
    assert.deepEqual(story.wait(1).labels, []);
  });

  it('call a test slow by the duration at a percentile [F49]', () => {
    const parameters = {
      threshold_ms: 1000,
      percentile: 0.5,
      window_minutes: 600,
      minimum_sample_size: 4,
      stale_after_minutes: 300,
    };
    const story = new Story(aMonitor({ type: 'slow_test', action: { labels: ['Slow'] }, parameters }));
    story.play({ runs: '++', durationMs: 10 }).play({ runs: '+', durationMs: 1000 });
    assert.deepEqual(story.play({ runs: '+', durationMs: 5000 }).labels, []);
    assert.deepEqual(story.play({ runs: '+', durationMs: 5000 }).labels, ['Slow']);
    assert.deepEqual(story.play({ runs: '+', durationMs: 1 }).labels, []);
    story.play({ runs: '++', durationMs: 5000 });
    assert.deepEqual(story.labels, ['Slow']);
    assert.deepEqual(story.wait(5).labels, []);
    assert.match(story.told.at(-2) ?? '', /stale/);
  });

  it('see failing runs that take far longer than passing ones [F49]', () => {
    const story = new Story(aMonitor({ type: 'timeout_inflation', action: { labels: ['Timeouts'] } }));
    story.play({ runs: '+++++', durationMs: 2000 }).play({ runs: '--', durationMs: 30_000 });
    assert.deepEqual(story.labels, []);
    assert.deepEqual(story.play({ runs: '-', durationMs: 30_000 }).labels, ['Timeouts']);
    assert.deepEqual(story.play({ runs: '----', durationMs: 2000 }).labels, []);
    const small = new Story(aMonitor({ type: 'timeout_inflation', action: { labels: ['Timeouts'] } }));
    assert.deepEqual(small.play({ runs: '+++++', durationMs: 100 }).play({ runs: '---', durationMs: 3000 }).labels, []);
  });

  it('keep a label after they resolve where they are told to [F12]', () => {
    const action = { labels: ['Shaky'], remove_on_resolve: false };
    const story = new Story({
      ...count({ passes_between: 0 }),
      action: { kind: 'label', labels: ['Shaky'], removeOnResolve: false },
    });
    assert.deepEqual(action.labels, story.play({ runs: '---' }).labels);
    assert.deepEqual(story.wait(30).labels, ['Shaky']);
    assert.equal(story.status, 'HEALTHY');
  });
});

describe('status', () => {
  it('is the most severe contribution, and history has only its changes [F13]', () => {
    const story = new Story(rate({ stale_timeout_hours: 4, minimum_sample_size: 6 }), count());
    story.play(FAILS).play(PASSES).play(FAILS).play(PASSES).play(FAILS);
    assert.equal(story.status, 'FLAKY');
    story.play({ runs: '-' });
    assert.equal(story.status, 'BROKEN');
    assert.equal(story.wait(4).status, 'FLAKY');
    assert.equal(story.wait(100).status, 'HEALTHY');
    const changes = story.told.filter((line) => line.startsWith('status_changed'));
    assert.deepEqual(changes, [
      'status_changed | Count: It failed on at least 3 occasions within 10 hours, and passed between them.',
      'status_changed | Rate: 66.7% of its 6 runs in 24 hours failed.',
      'status_changed | Count: It failed on at least 3 occasions within 10 hours, and passed between them.',
      'status_changed | It has not failed for 20 hours.',
    ]);
  });

  it('of a new repository: flaky at five failures between passes, broken when nearly all fail [F42] [F47] [F7]', () => {
    const seeds = () => seedMonitors(() => `m${Math.random()}`, START);
    const story = new Story(...seeds());
    for (let day = 0; day < 4; day += 1) story.play(PASSES).play({ ...FAILS, hours: 20 });
    assert.equal(story.play(PASSES).status, 'HEALTHY');
    assert.equal(story.play({ ...FAILS, hours: 20 }).status, 'FLAKY');
    assert.equal(new Story(...seeds()).play({ runs: '-----' }).status, 'BROKEN');
    assert.equal(new Story(...seeds()).play({ runs: '-----', branch: 'x' }).status, 'HEALTHY');
    assert.deepEqual(new Story(...seeds()).play({ runs: '~' }).labels, ['New', 'Skipped']);
  });

  it('a test that runs three times a day and always fails is broken, and healthy once it passes [F7] [F44]', () => {
    const story = new Story(...seedMonitors(() => `m${Math.random()}`, START));
    for (let run = 0; run < 4; run += 1) assert.equal(story.play({ runs: '-', hours: 7 }).status, 'HEALTHY');
    assert.equal(story.play({ runs: '-', hours: 7 }).status, 'BROKEN');
    assert.match(story.world.state?.statusReason ?? '', /100% of its last 5 runs failed/);
    for (let run = 0; run < 8; run += 1) assert.equal(story.play({ runs: '-', hours: 7 }).status, 'BROKEN');
    assert.equal(story.play({ runs: '+', hours: 7 }).status, 'HEALTHY');
    const flaky = new Story(rate({ minimum_sample_size: 5 }, { classify: 'FLAKY' }));
    for (let run = 0; run < 8; run += 1) flaky.play({ runs: '-', hours: 7 });
    assert.equal(flaky.status, 'HEALTHY', 'only broken is said so');
  });

  it('does not need storing at once where only passes were counted [F6]', () => {
    const world = new FlakyWorld(seedMonitors(() => `m${Math.random()}`, START));
    const tell = (sign: 'SUCCESS' | 'FAILURE', at: number) =>
      world.tell({ upload: anUpload({ id: `${at}`, sha: `${at}` }), runs: [aRun(sign, at)] }, at).isUrgent;
    assert.ok(tell('SUCCESS', START));
    assert.ok(!tell('SUCCESS', START + MINUTE));
    assert.ok(tell('FAILURE', START + 2 * MINUTE));
  });
});
