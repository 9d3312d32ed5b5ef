import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  aMonitor,
  anUpload,
  aRun,
  DAY,
  FlakyWorld,
  MINUTE,
  START,
  type Told,
} from '../../test/helpers/test-history.ts';
import type { ObservedRun, UploadFacts } from './core/run.ts';
import { expire } from './evaluate.ts';

type Facts = Partial<UploadFacts>;

/** `+` passes, `-` fails, `~` is skipped; `-2` is the second attempt, `-@3` begins three minutes later. */
function runsOf(text: string): readonly ObservedRun[] {
  return text.split(' ').map((word) => {
    const [, sign, attempt, minutes] = /^([-+~])(\d+)?(?:@(\d+))?$/.exec(word) ?? [];
    const conclusion = sign === '+' ? 'SUCCESS' : sign === '-' ? 'FAILURE' : 'SKIPPED';
    return aRun(conclusion, START + Number(minutes ?? 0) * MINUTE, {
      attempt: attempt === undefined ? null : Number(attempt),
    });
  });
}

function told(text: string, id: string, facts: Facts = {}): Told {
  return { upload: anUpload({ id, ...facts }), runs: runsOf(text) };
}

const stories: readonly {
  readonly name: string;
  readonly uploads: readonly [string, Facts?][];
  readonly status: string;
}[] = [
  { name: 'fails, then passes on the same commit [F1]', uploads: [['-'], ['+']], status: 'FLAKY' },
  { name: 'passes, then fails on the same commit [F1]', uploads: [['+'], ['-']], status: 'FLAKY' },
  { name: 'fails twice', uploads: [['-'], ['-']], status: 'HEALTHY' },
  { name: 'fails here and passes on another commit [F1]', uploads: [['-'], ['+', { sha: 'c2' }]], status: 'HEALTHY' },
  {
    name: 'fails in one job and passes in another [F1]',
    uploads: [
      ['-', { job: 'windows' }],
      ['+', { job: 'linux' }],
    ],
    status: 'HEALTHY',
  },
  { name: 'is skipped the second time', uploads: [['-'], ['~']], status: 'HEALTHY' },
  {
    name: 'two parts of one try of a job [F38]',
    uploads: [
      ['-', { jobAttempt: 1 }],
      ['+', { jobAttempt: 1 }],
    ],
    status: 'HEALTHY',
  },
  {
    name: 'two tries of a job [F1]',
    uploads: [
      ['-', { jobAttempt: 1 }],
      ['+', { jobAttempt: 2 }],
    ],
    status: 'FLAKY',
  },
  {
    name: 'a pair from a fork [F4]',
    uploads: [
      ['-', { flaw: 'FORK' }],
      ['+', { flaw: 'FORK' }],
    ],
    status: 'HEALTHY',
  },
  {
    name: 'a failure of ours and a pass from a fork [F4]',
    uploads: [['-'], ['+', { flaw: 'FORK' }]],
    status: 'HEALTHY',
  },
  { name: 'twice in one file, no marker, no time [F2]', uploads: [['- +']], status: 'HEALTHY' },
  { name: 'twice in one file, the pass later [F2]', uploads: [['- +@1']], status: 'FLAKY' },
  { name: 'twice in one file, the failure later [F2]', uploads: [['+ -@1']], status: 'HEALTHY' },
  { name: 'twice in one file, attempts counted [F2]', uploads: [['-1 +2']], status: 'FLAKY' },
  { name: 'twice in one file, attempts counted, the failure is the second', uploads: [['+1 -2']], status: 'HEALTHY' },
  {
    name: 'twins, known from a passing commit [F39]',
    uploads: [['+ +@1', { sha: 'c0' }], ['- +@1']],
    status: 'HEALTHY',
  },
  {
    name: 'twins, learned from a later commit [F39]',
    uploads: [['- +@1'], ['+ +@1', { sha: 'c2' }]],
    status: 'HEALTHY',
  },
  { name: 'marked twins [F39]', uploads: [['-1 +2'], ['+1 +2', { sha: 'c2' }]], status: 'HEALTHY' },
  {
    name: 'twins with a counted third attempt [F39]',
    uploads: [['+ +@1', { sha: 'c0' }], ['-1 +2 +1']],
    status: 'FLAKY',
  },
  { name: 'twins that pass in another upload [F1]', uploads: [['- +@1'], ['+ +@1']], status: 'FLAKY' },
  { name: 'a twin fails, only it is tried again and fails', uploads: [['- +'], ['-']], status: 'HEALTHY' },
];

describe('pass on retry', () => {
  for (const { name, uploads, status } of stories) {
    for (const order of ['as told', 'the other way round'] as const) {
      it(`${name}, ${order}: ${status}`, () => {
        const world = new FlakyWorld([aMonitor({ type: 'pass_on_retry' })]);
        const list = uploads.map(([text, facts], index) => told(text, `u${index}`, facts));
        for (const upload of order === 'as told' ? list : list.toReversed()) world.tell(upload, START + MINUTE);
        assert.equal(world.state?.status, status);
      });
    }
  }

  it('takes a failing child of a passing case for a failing run [F3]', () => {
    for (const [rerunOf, conclusion, status] of [
      ['SUCCESS', 'SUCCESS', 'FLAKY'],
      ['FAILURE', 'FAILURE', 'HEALTHY'],
    ] as const) {
      const world = new FlakyWorld([aMonitor({ type: 'pass_on_retry' })]);
      const runs = [aRun('FAILURE', START, { rerunOf }), aRun(conclusion, START)];
      world.tell({ upload: anUpload({ id: 'u1' }), runs }, START);
      assert.equal(world.state?.status, status);
    }
  });

  it('names the commit and job, and recovers after its days, counted from the event [F59]', () => {
    const monitors = [aMonitor({ type: 'pass_on_retry', parameters: { recovery_days: 3 } })];
    const world = new FlakyWorld(monitors);
    world.tell(told('-', 'u1'), START);
    const { events } = world.tell(told('+@2', 'u2'), START + 2 * MINUTE);
    assert.deepEqual(
      events.map(({ kind }) => kind),
      ['monitor_activated', 'status_changed'],
    );
    assert.equal(world.state?.statusReason, 'pass_on_retry: It failed and passed on commit c1 in unit.');
    assert.equal(world.state?.nextCheckAt, START + 2 * MINUTE + 3 * DAY);
    const before = expire(world.state, monitors, START + 2 * MINUTE + 3 * DAY - 1);
    assert.deepEqual(before.events, []);
    const after = expire(world.state, monitors, START + 2 * MINUTE + 3 * DAY);
    assert.equal(after.state.status, 'HEALTHY');
    assert.equal(after.state.nextCheckAt, null);
    assert.equal(after.state.statusReason, 'For 3 days it did not both fail and pass on one commit or tree.');
  });

  it('looks only at branches in its scope, on both sides [F5]', () => {
    for (const order of [0, 1]) {
      const world = new FlakyWorld([aMonitor({ type: 'pass_on_retry', branches: ['release/*'] })]);
      const uploads = [told('-', 'u1', { branch: 'release/1/a' }), told('+', 'u2', { branch: 'main' })];
      for (const upload of order === 0 ? uploads : uploads.toReversed()) world.tell(upload, START);
      assert.equal(world.state?.status, 'HEALTHY');
      world.tell(told('+', 'u3', { branch: 'release/2' }), START);
      assert.equal(world.state?.status, 'FLAKY');
    }
  });
});
