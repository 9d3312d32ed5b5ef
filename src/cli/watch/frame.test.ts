import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { type EntryRecord, EXAMPLE_LANDED_RECORD } from '../../contract/entry.ts';
import { widthOf } from '../core/text-width.ts';
import { type FrameOptions, renderFrame } from './frame.ts';
import type { Entry, Snapshot, TestRun } from './read-queue.ts';

const NOW = Date.parse('2026-09-17T10:20:00.000Z');

function ago(seconds: number): string {
  return new Date(NOW - seconds * 1000).toISOString();
}

function anEntry(prNumber: number, state: NonNullable<Entry['state']>, values: Partial<Entry> = {}): Entry {
  return {
    state,
    stateChangedAt: ago(prNumber),
    priorityValue: 100,
    priorityName: 'medium',
    usedDefaultPriorityName: 'medium',
    skipTheLine: false,
    noBatch: false,
    prNumber,
    prTitle: `Change ${prNumber}`,
    prSha: 'ab'.repeat(20),
    prBaseBranch: 'main',
    prAuthor: 'Ada',
    ...values,
  };
}

type CheckRun = TestRun['checkSuites'][number]['checkRuns'][number];

/** `checks` as `lint+ test.`: + passed, - failed, . running, ~ inconclusive, nothing not reported. */
function aRun(
  tested: readonly number[],
  on: readonly number[],
  checks: string,
  values: Partial<TestRun> = {},
): TestRun {
  const given = checks
    .split(' ')
    .map((word) => ({ name: word.replace(/[-+.~]$/, ''), mark: /[-+.~]$/.exec(word)?.[0] }));
  const conclusions = { '+': 'SUCCESS', '-': 'FAILURE', '~': 'CANCELLED' } as const;
  const checkRuns = given.flatMap(({ name, mark }): CheckRun[] => {
    if (mark === undefined) return [];
    if (mark === '.') return [{ name, url: '', status: 'IN_PROGRESS' }];
    return [{ name, url: '', status: 'COMPLETED', conclusion: conclusions[mark as '+'] }];
  });
  return {
    requiredStatuses: given.map(({ name }) => name),
    testBranch: 'sluice/pr-7/0f6fd6c4',
    testBranchSha: '9c1185a5c5e9fc54612808977ee8f548b2258d31',
    createdAt: ago(42),
    checkSuites: [{ checkRuns }],
    statusChecks: [],
    testedPullRequests: tested.map((prNumber) => ({ prNumber, prUrl: '', title: `Change ${prNumber}` })),
    dependentPrs: [...on],
    ...values,
  };
}

/** Where an entry stands and why; with `sha`, it landed so. */
interface Known {
  readonly position?: number;
  readonly why: string;
  readonly sha?: string;
}

interface Given {
  readonly entries?: readonly Entry[];
  readonly runs?: readonly TestRun[];
  readonly known?: readonly (readonly [number, Known])[];
  readonly left?: readonly Entry[];
  readonly queue?: object;
}

function aRecord(prNumber: number, { position, why, sha }: Known): EntryRecord {
  const { landed, ...rest } = EXAMPLE_LANDED_RECORD as EntryRecord & { landed: NonNullable<EntryRecord['landed']> };
  return {
    ...rest,
    prNumber,
    ...(sha === undefined ? {} : { landed: { ...landed, sha } }),
    explanation: {
      ...{ headline: '', summary: '', next: '', commands: [] },
      reasons: [{ code: 'CODE', text: why, reasons: [] }],
      ...(position === undefined ? {} : { position }),
    },
  };
}

function aSnapshot({ entries = [], runs = [], known = [], left = [], queue = {} }: Given): Snapshot {
  return {
    place: { repo: { host: 'local', owner: 'acme', name: 'app' }, targetBranch: 'main' },
    queue: {
      branch: 'main',
      state: 'RUNNING',
      mode: 'SINGLE',
      concurrency: 5,
      enqueuedPullRequests: entries,
      ...queue,
    } as Snapshot['queue'],
    runs,
    records: new Map(known.map(([number, each]) => [number, aRecord(number, each)])),
    left,
  };
}

function draw(given: Given, options: Partial<FrameOptions> = {}): string {
  const lines = renderFrame(aSnapshot(given), { width: 100, height: 50, now: NOW, ...options });
  return `\n${lines.join('\n')}\n`;
}

const BUSY: Given = {
  entries: [
    anEntry(11, 'TESTS_PASSED'),
    anEntry(12, 'TESTING'),
    anEntry(13, 'TESTING'),
    anEntry(14, 'TESTING'),
    anEntry(15, 'TESTING'),
    anEntry(16, 'PENDING_FAILURE'),
    anEntry(17, 'PENDING', { usedDefaultPriorityName: undefined as never, priorityName: 'high' }),
    anEntry(18, 'PENDING'),
    anEntry(19, 'NOT_READY'),
  ],
  runs: [
    aRun([12], [11], 'lint+ test.'),
    aRun([13, 14], [11, 12], 'lint test', { createdAt: ago(5) }),
    aRun([15], [], 'lint- test~', { testBranch: 'sluice/pr-15/0f6fd6c4-bisection', createdAt: ago(3725) }),
  ],
  known: [
    [11, { position: 1, why: 'It has passed and lands as soon as the landing before it is done.' }],
    [16, { position: 6, why: 'lint failed.' }],
    [17, { position: 9, why: 'All 5 slots are in use.' }],
    [18, { position: 10, why: 'All 5 slots are in use.' }],
    [19, { why: 'It conflicts with main.' }],
    [9, { why: 'Landed on main.', sha: 'f00dfeed'.repeat(5) }],
    [8, { why: 'It failed test.' }],
    [7, { why: 'Cancelled by Bo.' }],
  ],
  left: [
    anEntry(9, 'MERGED', { stateChangedAt: ago(12) }),
    anEntry(8, 'FAILED', { stateChangedAt: ago(70) }),
    anEntry(7, 'CANCELLED', { stateChangedAt: ago(3_000) }),
  ],
};

describe('the live view [W2]', () => {
  it('says that an empty queue is empty', () => {
    assert.equal(
      draw({}),
      `
local/acme/app main  RUNNING  single
0 of 5 slots

Nothing is in the queue.
`,
    );
  });

  it('shows one candidate with its checks', () => {
    assert.equal(
      draw({ entries: [anEntry(7, 'TESTING')], runs: [aRun([7], [], 'lint+ test.')] }),
      `
local/acme/app main  RUNNING  single
1 testing · 1 of 5 slots

Under test
  ─ #7  on main  ✓ lint  ● test  0:42  Change 7
`,
    );
  });

  it('shows lanes, who passed, who waits at which place and why, and who left', () => {
    assert.equal(
      draw(BUSY),
      `
local/acme/app main  RUNNING  single
4 testing · 1 passed · 1 failing · 2 waiting · 1 not ready · 2 of 5 slots

Under test
  ┌ #12            on #11     ✓ lint  ● test  0:42     Change 12
  └ #13 #14        on #12 +1  ○ lint  ○ test  0:05     Change 13 and 1 more
  ─ #15 bisecting  on main    ✗ lint  ⊘ test  1:02:05  Change 15

Passed
  1. #11  0:11  Change 11  It has passed and lands as soon as the landing before it is done.

Failing
  6. #16  0:16  Change 16  lint failed.

Waiting
   9. #17 high  0:17  Change 17  All 5 slots are in use.
  10. #18       0:18  Change 18  All 5 slots are in use.

Not ready
  #19  0:19  Change 19  It conflicts with main.

Left
  ✓ #9  landed     0:12 ago   Change 9  as f00dfeedf
  ✗ #8  failed     1:10 ago   Change 8  It failed test.
  ⊘ #7  cancelled  50:00 ago  Change 7  Cancelled by Bo.
`,
    );
  });

  it('keeps what matters on a narrow terminal', () => {
    assert.equal(
      draw(BUSY, { width: 50 }),
      `
local/acme/app main  RUNNING  single
4 testing · 1 passed · 1 failing · 2 waiting · 1 …

Under test
  ┌ #12            on #11     ✓●  0:42
  └ #13 #14        on #12 +1  ○○  0:05
  ─ #15 bisecting  on main    ✗⊘  1:02:05

Passed
  1. #11  0:11  It has passed and lands as soon a…

Failing
  6. #16  0:16  lint failed.

Waiting
   9. #17 high  0:17  All 5 slots are in use.
  10. #18       0:18  All 5 slots are in use.

Not ready
  #19  0:19  It conflicts with main.

Left
  ✓ #9  landed     0:12 ago   as f00dfeedf
  ✗ #8  failed     1:10 ago   It failed test.
  ⊘ #7  cancelled  50:00 ago  Cancelled by Bo.
`,
    );
  });

  it('shows batches, the head tested by itself, and commits that are being built', () => {
    const runs = [
      aRun([1, 2, 3, 4, 5, 6], [], 'a b c d e f+', { testBranchSha: '' }),
      aRun([], [], 'test-', { createdAt: ago(1) }),
      aRun([7], [1, 2], 'a+ b+ c+ d+ e+ f.'),
    ];
    assert.equal(
      draw({ runs, entries: [1, 2, 7].map((number) => anEntry(number, 'TESTING')) }),
      `
local/acme/app main  RUNNING  single
3 testing · 3 of 5 slots

Under test
  ┌ #1 #2 #3 #4 +2  on main   building  0:42  Change 1 and 5 more
  └ #7              on #2 +1  ✓✓✓✓✓●    0:42  Change 7
  ─ main            alone     ✗ test    0:01  Does it still pass?
`,
    );
  });

  it('marks a failure that was waived, and one of which that is not known yet [V13]', () => {
    const failed = { name: 'test', url: '', status: 'COMPLETED', conclusion: 'FAILURE' } as const;
    const marks = (['WAIVED', 'PENDING', 'NOT_WAIVED', 'WOULD_BE_WAIVED'] as const).map((verdict) => {
      const checkRuns = [{ ...failed, quarantine: { verdict, failedTests: [], failedTestsTotal: 1 } }];
      const text = draw({
        entries: [anEntry(2, 'TESTING')],
        runs: [aRun([2], [], 'test', { checkSuites: [{ checkRuns }] })],
      });
      return /on main +(\S) test/.exec(text)?.[1];
    });
    assert.deepEqual(marks, ['≈', '●', '✗', '✗']);
  });

  it('does not tie runs together by what has landed', () => {
    const entries = [2, 3].map((number) => anEntry(number, 'TESTING'));
    const text = draw({ entries, runs: [aRun([2], [1], 'test.'), aRun([3], [1], 'test.')] });
    assert.match(text, /─ #2 {2}on main .*\n {2}─ #3 {2}on main /);
  });

  it('says what an ADAPTIVE queue has learned [K24]', () => {
    const learned = { text: '3 of 100 pull requests fail here. 1 of 40 runs fails by chance.' };
    assert.match(draw({ queue: { learned } }), /slots\n3 of 100 pull requests fail here\. 1 of 40 runs .*chance\.\n/);
    assert.match(draw({ queue: { learned } }, { width: 40 }), /slots\n3 of 100 pull requests fail here\. 1 of …\n/);
  });

  it('tells when entries land, where there is room [W50]', () => {
    const forecast = { text: 'Lands in about 24 minutes.', landsAtP50: new Date(NOW + 24.5 * 60_000).toISOString() };
    const entries = [anEntry(1, 'PENDING', { forecast }), anEntry(2, 'PENDING')];
    const basis = { samples: 1, runs: 1, since: ago(0) };
    const given = { entries, queue: { forecast: { text: 'Lands in about 40 minutes (95%: within 51).', basis } } };
    assert.match(
      draw(given, { width: 100 }),
      /slots\nSubmitted now: Lands in about 40 .*\n[\s\S]*#1 {2}0:01 {2}lands in 24 min {2}/,
    );
    assert.doesNotMatch(draw(given, { width: 60 }), /lands in/);
  });

  it('says why a queue stopped itself, what raised an alarm, and that the server is away', () => {
    const parked = { reason: 'a promise was about to be broken', eventId: 7 };
    const alarm = { at: ago(60), code: 'FOREIGN_PUSH', text: 'main was moved by somebody else.' };
    const queue = { state: 'PAUSED', mode: 'PARALLEL', parked, alarms: [alarm] };
    assert.equal(
      draw({ queue }, { notice: 'No server answers. Trying again.' }),
      `
local/acme/app main  PAUSED  parallel
0 of 5 slots
It stopped itself: a promise was about to be broken
Alarm 1:00 ago: main was moved by somebody else.
No server answers. Trying again.

Nothing is in the queue.
`,
    );
    assert.doesNotMatch(draw({ queue: { alarms: [{ ...alarm, at: ago(3_601) }] } }), /Alarm/);
  });

  it('cuts long titles, and lets none steer the terminal', () => {
    const title = `\u001b[2J${'long '.repeat(50)}\nlines`;
    const text = draw({
      entries: [anEntry(1, 'PENDING', { prTitle: title })],
      known: [[1, { position: 1, why: title }]],
    });
    assert.match(text, /\n {2}1\. #1 {2}0:01 {2} \[2Jlong long .*… {2} \[2Jlong .*…\n/);
    assert.ok(!text.includes('\u001b'));
  });

  it('fits every width and height, and says how many do not', () => {
    const many = Array.from({ length: 200 }, (_, index) =>
      anEntry(index + 1, 'PENDING', { prTitle: '日本語 🚀 title' }),
    );
    const given = { ...BUSY, entries: [...(BUSY.entries ?? []), ...many] };
    for (const width of [20, 21, 37, 59, 60, 61, 80, 89, 90, 200]) {
      for (const height of [3, 8, 12, 24, 60, 500]) {
        const lines = renderFrame(aSnapshot(given), { width, height, now: NOW });
        assert.ok(lines.length <= height, `${lines.length} lines in ${height}`);
        for (const line of lines) assert.ok(widthOf(stripVTControlCharacters(line)) <= width, line);
      }
    }
    assert.match(draw(given, { height: 24 }), /Under test\n[\s\S]*Waiting\n.*\n[\s\S]* {2}and \d+ more\n[\s\S]*Left\n/);
  });
});
