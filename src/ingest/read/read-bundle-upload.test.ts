import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import {
  bundle,
  field,
  message,
  metaJson,
  type TarFile,
  tar,
  tarEntry,
  timestamp,
} from '../../../test/helpers/bundle.ts';
import { issueTexts, RECEIVED_AT, type ReadResult, readBundleBytes } from '../../../test/helpers/read-upload.ts';
import { READ_LIMITS } from './read-limits.ts';

const STARTED = Math.floor(RECEIVED_AT / 1_000) - 60;

interface Run {
  readonly name: string;
  readonly status?: number;
  readonly more?: readonly Buffer[];
}

function run({ name, status = 1, more = [] }: Run): Buffer {
  const names = [
    field(2, name),
    field(3, 'math'),
    field(4, 'src/math.test.ts'),
    field(5, 'math suite'),
    field(7, status),
  ];
  const times = [field(9, timestamp(STARTED)), field(10, timestamp(STARTED, 12_000_000))];
  return field(1, message(...names, ...times, ...more));
}

function internal(...runs: readonly Buffer[]): TarFile {
  return { path: 'internal.bin', content: message(field(1, message(...runs))) };
}

const meta = (changes: Readonly<Record<string, unknown>> = {}): TarFile => ({
  path: 'meta.json',
  content: metaJson(changes),
});
const report = (inside: string, path = 'junit/0'): TarFile => ({
  path,
  content: `<testsuites><testsuite name="math suite">${inside}</testsuite></testsuites>`,
});
const CASES = '<testcase name="adds" classname="math" file="src/math.test.ts"/>';
const ADDS = 'b4a9a104-ff27-5fa0-8700-8a8343c93cab';

const read = (...files: readonly TarFile[]) => readBundleBytes(bundle(files));
const told = ({ runs }: ReadResult) => runs.map(({ names, conclusion }) => `${names.name} ${conclusion}`);

describe('an uploaded bundle', () => {
  it('has its runs in internal.bin; its reports add reruns and are looked through [U27]', async () => {
    const rerun = CASES.replace(
      '/>',
      '><flakyFailure message="m" timestamp="2026-09-22T11:59:30Z">t</flakyFailure></testcase>',
    );
    const output = field(16, message(field(1, '\u001b[31mstack\0'), field(2, 'expected 1')));
    const failed = run({ name: 'subtracts', status: 2, more: [output] });
    const result = await read(meta(), internal(run({ name: 'adds' }), failed), report(rerun));
    assert.deepEqual(told(result), ['adds SUCCESS', 'adds FAILURE', 'subtracts FAILURE']);
    const [adds, child, subtracts] = result.runs;
    assert.deepEqual([adds?.testId, adds?.durationMs, adds?.startedAt], [ADDS, 12, STARTED * 1_000]);
    assert.deepEqual(subtracts?.failure, { type: '', message: 'expected 1', text: 'stack' });
    assert.deepEqual([child?.testId, child?.rerunOf, child?.startedAt], [ADDS, 'SUCCESS', STARTED * 1_000 + 30_000]);
    assert.deepEqual([result.summary.isWhole, result.summary.isRefused, result.summary.files], [true, false, 1]);
  });

  it('without internal.bin has its runs in its reports, owners by its CODEOWNERS [U27] [U57]', async () => {
    const old = meta({ internal_bundled_file: undefined, codeowners: { path: '/repo/.github/CODEOWNERS' } });
    const result = await read(old, report(CASES), { path: 'CODEOWNERS', content: '*.ts @acme/web\n' });
    assert.deepEqual(told(result), ['adds SUCCESS']);
    assert.deepEqual([result.runs[0]?.testId, result.runs[0]?.codeOwners], [ADDS, ['@acme/web']]);
  });

  it('with an empty internal.bin has its runs in reports that its uploader could not read [U27]', async () => {
    const { content } = report(CASES.replace('/>', '><rerunFailure/><failure/></testcase>'));
    const utf16 = Buffer.from(`\ufeff${content}`, 'utf16le');
    const result = await read(meta(), internal(), { path: 'junit/0', content: utf16 });
    assert.deepEqual(told(result), ['adds FAILURE', 'adds FAILURE']);
    assert.equal(result.runs[1]?.testId, ADDS);
    const cut = { path: 'junit/0', content: `<testsuites><testsuite name="math suite">${CASES}<testcase na` };
    assert.deepEqual(told(await read(meta(), internal(), cut)), ['adds SUCCESS']);
  });

  it('says that tests of its reports are missing in internal.bin [U27]', async () => {
    const result = await read(meta(), internal(run({ name: 'adds' })), report(CASES), report(CASES, 'junit/1'));
    assert.deepEqual(told(result), ['adds SUCCESS']);
    assert.match(issueTexts(result), /error null:null The list of runs lacks 1 of the tests/);
    assert.equal(result.summary.isWhole, false);
  });

  it('that announces internal.bin and lacks it has its runs in its reports too, once [U27]', async () => {
    const rerun = CASES.replace('/>', '><flakyFailure/></testcase>');
    const result = await read(meta(), report(rerun));
    assert.deepEqual(told(result), ['adds FAILURE', 'adds SUCCESS']);
    assert.match(issueTexts(result), /lacks its list of runs/);
    assert.equal(result.summary.isWhole, false);
  });

  it('holds errors before any test, which are no tests, in its list or only in its reports [F89]', async () => {
    const output = field(16, message(field(2, 'collection failure'), field(1, 'E   ImportError: token=abcdefgh1234')));
    const listed = internal(run({ name: 'adds' }), run({ name: 'tests.test_x', status: 2, more: [output] }));
    const failed = '<testcase classname="math" name="tests.test_x"><error message="collection failure"/></testcase>';
    for (const files of [
      [meta(), listed, report(CASES + failed)],
      [meta(), listed],
      [meta(), report(CASES + failed)],
    ]) {
      const result = await read(...files);
      assert.deepEqual(told(result), ['adds SUCCESS']);
      assert.equal(issueTexts(result).match(/warning \S+ 1 error before any test: /g)?.length, 1);
      assert.match(result.summary.problem ?? '', /holds 1 error before any test: .*tests\.test_x: /);
      assert.doesNotMatch(`${issueTexts(result)} ${result.summary.problem}`, /abcdefgh1234/);
      assert.equal(result.summary.isWhole, false);
    }
  });

  it('has owners of its runs, else of its CODEOWNERS [U57]', async () => {
    const own = run({ name: 'owned', more: [field(13, field(1, '@me'))] });
    const owners = { path: 'CODEOWNERS', content: '[Web] @web\n*.ts\n' };
    const codeowners = { path: '/repo/.gitlab/CODEOWNERS' };
    const { runs } = await read(meta({ codeowners }), internal(own, run({ name: 'adds' })), report(CASES), owners);
    assert.deepEqual(
      runs.map(({ codeOwners }) => codeOwners),
      [['@me'], ['@web']],
    );
  });

  it('says by its environment what its runs have in common [U11] [U27]', async () => {
    const envs = {
      GITHUB_ACTIONS: 'true',
      GITHUB_REPOSITORY: 'acme/widgets',
      GITHUB_RUN_ID: '77',
      GITHUB_RUN_ATTEMPT: '2',
      GITHUB_REF: 'refs/pull/12/merge',
      GITHUB_HEAD_REF: 'topic',
      GITHUB_WORKFLOW: 'CI',
      GITHUB_JOB: 'unit',
    };
    const { facts } = await read(meta({ envs, variant: 'v' }), internal(run({ name: 'adds' })), report(CASES));
    assert.deepEqual(facts, {
      kind: 'facts',
      fields: {
        sha: '0123456789abcdef0123456789abcdef01234567',
        branch: 'topic',
        prNumber: 12,
        jobName: 'CI / unit',
        jobUrl: 'https://github.com/acme/widgets/actions/runs/77?pr=12',
        variant: 'v',
        candidateId: null,
        check: null,
        isFork: false,
        jobAttempt: 2,
      },
      job: 'CI / unit on linux',
      jobAttempt: 2,
      isFork: false,
    });
    const fork = await read(
      meta({ envs: { ...envs, GITHUB_REPOSITORY: 'someone/widgets' } }),
      internal(),
      report(CASES),
    );
    assert.equal(fork.facts?.isFork, true);
    assert.match(issueTexts(fork), /info null:null The commit is of a fork/);
  });

  it('of Bazel has attempts; a target that failed without a test that did is not whole [U8] [U26]', async () => {
    const attempt = (number: number) => field(17, message(field(1, '//a:t'), field(2, number)));
    const build = (label: string) => field(3, message(field(1, label), field(2, 2)));
    const runs = [run({ name: 'adds', status: 2, more: [attempt(0)] }), run({ name: 'adds', more: [attempt(1)] })];
    const whole = await read(meta(), internal(...runs, build('//a:t')), report(CASES));
    assert.deepEqual(
      whole.runs.map(({ attempt: number, conclusion }) => [number, conclusion]),
      [
        [1, 'SUCCESS'],
        [0, 'FAILURE'],
      ],
    );
    assert.equal(whole.summary.isWhole, true);
    const silent = await read(meta(), internal(...runs, build('//b:t')), report(CASES));
    assert.match(silent.summary.problem ?? '', /^\/\/b:t failed, and no test/);
    const summary = { id: { testSummary: { label: '//c:t' } }, testSummary: { overallStatus: 'FAILED' } };
    const bep = { path: 'bazel_bep.json', content: JSON.stringify(summary) };
    const byEvents = await read(meta(), internal(...runs), report(CASES), bep);
    assert.match(byEvents.summary.problem ?? '', /^\/\/c:t failed/);
  });

  it('that disagrees with its URL, or has no commit, is refused [U56] [U58]', async () => {
    const repo = JSON.parse(metaJson()).repo;
    for (const [changes, message] of [
      [{ org: 'evil' }, /organization "evil" instead of "acme"/],
      [{ repo: { ...repo, repo: { ...repo.repo, name: 'other' } } }, /repository "github.com\/acme\/other"/],
      [{ bundle_upload_id: 'upload-2' }, /upload "upload-2"/],
      [{ repo: { ...repo, repo_head_sha: '' } }, /no commit/],
      [{ org: 7 }, /does not say/],
    ] as const) {
      const result = await read(meta(changes), internal(run({ name: 'adds' })), report(CASES));
      assert.deepEqual([result.runs.length, result.facts, result.summary.isRefused], [0, undefined, true]);
      assert.match(issueTexts(result), message);
    }
  });

  it('that is a bomb, leads out, links or has too many entries is refused as a whole [U53] [U6] [U58]', async () => {
    const good = [meta(), internal(run({ name: 'adds' })), report(CASES)];
    const limits = {
      ...READ_LIMITS,
      bundle: { ...READ_LIMITS.bundle, maxBytes: 500_000, maxFileBytes: 300_000, maxEntries: 50 },
    };
    const bad: [RegExp, Buffer][] = [
      [/leads out/, bundle([...good, { path: '../../etc/passwd', content: 'x' }])],
      [/leads out/, bundle([...good, { path: '/etc/passwd', content: 'x' }])],
      [/link or a device/, bundle([...good, { path: 'junit/1', type: '2' }])],
      [
        /more than 50 entries/,
        bundle([...good, ...Array.from({ length: 60 }, (_, n) => ({ path: `junit/${n + 1}` }))]),
      ],
      [/more than 300000 bytes/, bundle([...good, { path: 'junit/1', content: Buffer.alloc(400_000) }])],
      [
        /unpacks to more than 500000 bytes/,
        bundle([...good, ...[1, 2, 3].map((n) => ({ path: `junit/${n}`, content: Buffer.alloc(200_000) }))]),
      ],
      [/not packed with zstd/, Buffer.from(report(CASES).content as string)],
      [/not packed with zstd/, tar(good)],
      [/no meta.json/, bundle(good.slice(1))],
    ];
    for (const [message, bytes] of bad) {
      const result = await readBundleBytes(bytes, { sources: { limits } });
      assert.equal(result.summary.isRefused, true, String(message));
      assert.match(issueTexts(result), message);
      assert.equal(result.summary.isWhole, false);
    }
  });

  it('of a million entries is refused by its number of entries [U6] [U58]', async () => {
    const empty = tarEntry({ path: 'junit/1' });
    const many = Buffer.concat([tar([meta()]).subarray(0, -1_024), ...Array.from({ length: 20_000 }, () => empty)]);
    const result = await readBundleBytes(zstdCompressSync(many));
    assert.match(issueTexts(result), /more than 10000 entries/);
    assert.equal(result.summary.isRefused, true);
  });

  it('is refused before many of its runs are told, wherever its fault is [U58]', async () => {
    const runs = Array.from({ length: 60_000 }, (_, n) => run({ name: `test ${n}` }));
    let count = 0;
    const onRuns = (some: readonly unknown[]) => {
      count += some.length;
    };
    const bytes = bundle([meta(), internal(...runs), report(CASES), { path: '../x', content: 'x' }]);
    const { summary } = await readBundleBytes(bytes, { onRuns });
    assert.equal(summary.isRefused, true);
    assert.ok(count <= 22_000, `${count}`);
    await readBundleBytes(bundle([meta(), internal(...runs), report(CASES)]), { onRuns });
    assert.ok(count > 60_000);
  });

  it('that is cut off is used as far as it goes [U9] [U27]', async () => {
    const noise = Array.from({ length: 30_000 }, (_, n) => `<testcase name="${Math.imul(n, 0x9e3779b1) >>> 7}"/>`).join(
      '',
    );
    const bytes = bundle([meta(), internal(run({ name: 'adds' })), report(noise)]);
    const result = await readBundleBytes(bytes.subarray(0, bytes.length - 20_000));
    assert.deepEqual(told(result), ['adds SUCCESS']);
    assert.deepEqual([result.summary.isRefused, result.summary.isWhole], [false, false]);
    const nothing = await readBundleBytes(bytes.subarray(0, 20));
    assert.deepEqual([nothing.facts, nothing.summary.isRefused], [undefined, true]);
  });

  it('with runs without name or result, of 1970 and of the future is read all the same [U24] [U27]', async () => {
    const at = (seconds: number) => [field(9, timestamp(seconds)), field(10, timestamp(seconds, 5_000_000))];
    const result = await read(
      meta({ file_sets: [] }),
      internal(
        run({ name: '', more: [field(3, '')] }),
        run({ name: 'none', status: 0 }),
        run({ name: 'old', more: at(0) }),
        run({ name: 'future', more: at(STARTED + 7_200) }),
      ),
    );
    assert.deepEqual(told(result), ['old SUCCESS', 'future SUCCESS']);
    assert.deepEqual(
      result.runs.map(({ startedAt }) => startedAt),
      [RECEIVED_AT, RECEIVED_AT],
    );
    assert.match(issueTexts(result), /A run has no name and is left out/);
    assert.match(issueTexts(result), /A run has no result and is left out/);
    assert.match(issueTexts(result), /A timestamp is in the future/);
    assert.equal(result.summary.isWhole, false);
  });

  it('whose list of runs has no name for a failing class is read by the class [J6]', async () => {
    const result = await read(meta(), internal(run({ name: '', status: 2 })));
    assert.deepEqual(told(result), ['math FAILURE']);
  });

  it('whose reports hold a failure that its list does not have is not whole [J23]', async () => {
    const failing = '<testcase name="adds" classname="math"><skipped/><error/></testcase>';
    const skipped = await read(meta(), internal(run({ name: 'adds', status: 3 })), report(failing));
    assert.equal(skipped.summary.isWhole, false);
    assert.match(issueTexts(skipped), /The reports hold 1 failures that the list of runs does not have/);
    const before = await read(meta(), report(failing), internal(run({ name: 'adds', status: 2 })));
    assert.equal(before.summary.isWhole, true);
  });

  it('takes the suites of failures from its reports, in whatever order they come [F35]', async () => {
    const nested = report(
      '<testcase name="adds" classname="math"/><testsuite name="inner"><testcase name="adds" classname="math"><failure/></testcase></testsuite>',
    );
    const list = internal(run({ name: 'adds' }), run({ name: 'adds', status: 2 }));
    for (const files of [
      [list, nested],
      [nested, list],
    ]) {
      const { runs, summary } = await read(meta(), ...files);
      assert.deepEqual(
        runs.map(({ conclusion, path }) => [conclusion, path]),
        [
          ['SUCCESS', null],
          ['FAILURE', 'inner'],
        ],
      );
      assert.equal(summary.isWhole, true);
    }
  });

  it('throws nothing, whatever its bytes [U27]', async () => {
    const plain = tar([
      meta(),
      internal(run({ name: 'adds' })),
      report(CASES),
      { path: 'CODEOWNERS', content: '* @a' },
    ]);
    const changes = fc.array(fc.tuple(fc.nat(plain.length - 1), fc.nat(255)), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(changes, async (changed) => {
        const bytes = Buffer.from(plain);
        for (const [at, byte] of changed) bytes[at] = byte;
        await readBundleBytes(zstdCompressSync(bytes));
      }),
      { numRuns: 200 },
    );
  });
});
