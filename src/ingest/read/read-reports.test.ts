import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { liveBytes } from '../../../test/helpers/live-bytes.ts';
import {
  issueTexts,
  RECEIVED_AT,
  type ReadResult,
  type ReportFile,
  readFiles,
  UPLOAD,
} from '../../../test/helpers/read-upload.ts';
import { READ_LIMITS } from './read-limits.ts';

const AT = '2026-09-22T11:59:00Z';
const cases = (inside: string) =>
  `<testsuites><testsuite name="s" timestamp="${AT}">${inside}</testsuite></testsuites>`;
const one = (name: string) => cases(`<testcase name="${name}" classname="c" file="f.ts" time="0.5"/>`);
const read = (...files: readonly ReportFile[]) => readFiles(files);
const names = ({ runs }: ReadResult) => runs.map((run) => run.names.name);
const outcome = (result: ReadResult) => [names(result), result.summary.isWhole, result.summary.isRefused];

describe('uploaded reports', () => {
  it('become facts and runs, with the ids of the uploader [U1] [U23]', async () => {
    const report = `<testsuites><testsuite name="math suite" timestamp="${AT}">
      <testcase name="adds" classname="math" file="src/math.test.ts" time="0.012"/>
      <testcase name="subtracts" classname="math" file="src/math.test.ts" time="0.020">
        <failure type="AssertionError" message="expected 1">stack</failure></testcase>
      <testcase name="divides" classname="math" file="src/math.test.ts" time="0"><skipped/></testcase>
    </testsuite></testsuites>`;
    const { facts, runs, summary } = await read({ bytes: report });
    assert.deepEqual(facts, { kind: 'facts', fields: UPLOAD.fields, job: 'unit', jobAttempt: null, isFork: false });
    assert.deepEqual(
      runs.map(({ testId, conclusion, durationMs }) => [testId.slice(0, 8), conclusion, durationMs]),
      [
        ['b4a9a104', 'SUCCESS', 12],
        ['a98a1388', 'FAILURE', 20],
        [runs[2]?.testId.slice(0, 8), 'SKIPPED', 0],
      ],
    );
    assert.deepEqual(runs[1]?.failure, { type: 'AssertionError', message: 'expected 1', text: 'stack' });
    assert.equal(runs[0]?.startedAt, Date.parse(AT));
    assert.deepEqual(summary, { files: 1, issues: [], isWhole: true, problem: null, isRefused: false });
  });

  it('have the variant in their ids and not in the job; a check is the job where there is one [U23]', async () => {
    const fields = { ...UPLOAD.fields, variant: 'linux', check: 'ci/unit', branch: 'refs/heads/x', prNumber: 3 };
    const report = one('adds')
      .replace('"c"', '"math"')
      .replace('f.ts', 'src/math.test.ts')
      .replace('"s"', '"math suite"');
    const { facts, runs } = await readFiles([{ bytes: report }], { upload: { fields } as never });
    assert.equal(runs[0]?.testId, 'f9754dbe-02f3-5773-9f47-650a9e0812d6');
    assert.deepEqual([facts?.job, facts?.fields.branch], ['ci/unit', 'x']);
  });

  it('give one failing run for each earlier try of a case, right before it [U23]', async () => {
    const rerun = (kind: string) =>
      `<${kind} message="m" type="T" time="1" timestamp="2026-09-22T11:58:00Z">t</${kind}>`;
    const { runs } = await read({
      bytes: cases(
        `<testcase name="a">${rerun('flakyFailure')}${rerun('flakyError')}</testcase>` +
          `<testcase name="b"><failure/>${rerun('rerunFailure')}</testcase>`,
      ),
    });
    assert.deepEqual(
      runs.map(({ names: { name }, conclusion, rerunOf, startedAt }) => [name, conclusion, rerunOf, startedAt]),
      [
        ['a', 'FAILURE', 'SUCCESS', Date.parse('2026-09-22T11:58:00Z')],
        ['a', 'FAILURE', 'SUCCESS', Date.parse('2026-09-22T11:58:00Z')],
        ['a', 'SUCCESS', null, Date.parse(AT)],
        ['b', 'FAILURE', 'FAILURE', Date.parse('2026-09-22T11:58:00Z')],
        ['b', 'FAILURE', null, Date.parse(AT)],
      ],
    );
    assert.deepEqual(runs[0]?.failure, { type: 'T', message: 'm', text: 't' });
  });

  it('of a fork, or of a later try of the job, say so [U38]', async () => {
    const fields = { ...UPLOAD.fields, isFork: true, jobAttempt: 3 };
    const result = await readFiles([{ bytes: one('a') }], { upload: { fields } as never });
    assert.deepEqual([result.facts?.isFork, result.facts?.jobAttempt, result.summary.isWhole], [true, 3, true]);
    assert.match(issueTexts(result), /info null:null The commit is of a fork/);
  });

  it('have owners by the CODEOWNERS beside them, wherever it stands [U39]', async () => {
    const report = cases(
      '<testcase name="a" classname="c" file="src/a.ts" time="1"/>' +
        '<testcase name="b" classname="c" file="docs/b.ts" time="1"/><testcase name="c" classname="c" time="1"/>',
    );
    const ownersOf = ({ runs }: ReadResult) => runs.map(({ codeOwners }) => codeOwners);
    const github = '* @acme/all\n[docs]\n/src/ @acme/core\n';
    const file = { name: '.github/CODEOWNERS', bytes: github, role: 'codeowners' } as const;
    const packed = { ...file, bytes: gzipSync(github), encoding: 'gzip' } as const;
    for (const files of [
      [{ bytes: report }, file],
      [file, { bytes: report }],
      [packed, { bytes: report }],
    ]) {
      const result = await readFiles(files);
      assert.deepEqual(ownersOf(result), [['@acme/core'], ['@acme/all'], []]);
      assert.deepEqual([result.summary.files, result.summary.isWhole], [1, true]);
    }
    const gitlab = { ...file, name: 'CODEOWNERS', bytes: '[Docs] @acme/writers\ndocs/\n[Code]\n*.ts @acme/core\n' };
    assert.deepEqual(ownersOf(await readFiles([{ bytes: report }, gitlab])), [
      ['@acme/core'],
      ['@acme/writers', '@acme/core'],
      [],
    ]);
  });

  it('count without owners where the CODEOWNERS cannot be read [U39]', async () => {
    const name = 'CODEOWNERS';
    for (const bytes of [gzipSync('* @a').subarray(0, 8), gzipSync(Buffer.alloc(3_000_001, 'a'))]) {
      const owners = { name, role: 'codeowners', encoding: 'gzip', bytes } as const;
      const result = await readFiles([owners, { bytes: one('a') }]);
      assert.deepEqual([...outcome(result), result.runs[0]?.codeOwners], [['a'], true, false, []]);
      assert.match(issueTexts(result), /^warning CODEOWNERS:null (The packed bytes end|It unpacks to more)/m);
    }
    const odd = await readFiles([{ name, role: 'codeowners', bytes: '* nobody' }, { bytes: one('a') }]);
    assert.match(issueTexts(odd), /warning CODEOWNERS:1 .*is no owner/);
  });

  it('are unpacked as they say, and as their first bytes say [U23]', async () => {
    const bytes = Buffer.from(one('a'));
    const packed: ReportFile[] = [
      { bytes: gzipSync(bytes), encoding: 'gzip' },
      { bytes: deflateSync(bytes), encoding: 'deflate' },
      { bytes: zstdCompressSync(bytes), encoding: 'zstd' },
      { bytes: brotliCompressSync(bytes), encoding: 'br' },
      { bytes: gzipSync(bytes) },
      { bytes: deflateSync(bytes) },
      { bytes: zstdCompressSync(bytes) },
      { bytes: zstdCompressSync(gzipSync(bytes)), encoding: 'zstd' },
    ];
    for (const file of packed) assert.deepEqual(outcome(await read(file)), [['a'], true, false]);
  });

  it('are read in every encoding, with and without a byte order mark [J13] [U23]', async () => {
    const text = one('grün 日本 😀');
    const utf16 = Buffer.from(text, 'utf16le');
    const all = [
      `\ufeff${text}`,
      utf16,
      Buffer.concat([Buffer.of(0xff, 0xfe), utf16]),
      Buffer.concat([Buffer.of(0xfe, 0xff), Buffer.from(text, 'utf16le').swap16()]),
    ];
    for (const bytes of all) assert.deepEqual(outcome(await read({ bytes })), [['grün 日本 😀'], true, false]);
    const wrong = await read({ bytes: `<?xml version="1.0" encoding="utf-16"?>${one('a')}` });
    assert.match(issueTexts(wrong), /warning report.xml:1 The encoding utf-16 is not the file's/);
    const invalid = await read({
      bytes: Buffer.concat([Buffer.from(one('a').slice(0, -15)), Buffer.of(0xe4), Buffer.from('</testsuites>')]),
    });
    assert.match(issueTexts(invalid), /bytes that are no characters/);
  });

  it('each say what is wrong with them, and take no other with them [U23]', async () => {
    const bad: [RegExp, ReportFile][] = [
      [/file is empty/, { bytes: '' }],
      [/HTML page/, { bytes: '<!doctype html><html><body/></html>' }],
      [/not text/, { bytes: Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0, 0, 1, 2, 3, 4]) }],
      [/zip archive/, { bytes: Buffer.from('PK\u0003\u0004rest of it') }],
      [/holds no results of tests/, { bytes: '{"id": {"started": {}}}' }],
      [/not JSON/, { bytes: '{nonsense}' }],
      [/not packed with zstd/, { bytes: one('x'), encoding: 'zstd' }],
      [/end too early/, { bytes: gzipSync(Buffer.from(one('x'))).subarray(0, 10), encoding: 'gzip' }],
      [/damaged/, { bytes: 'no brotli at all', encoding: 'br' }],
      [/packed more than/, { bytes: [1, 2, 3, 4].reduce((inner) => gzipSync(inner), Buffer.from(one('x'))) }],
      [/root element is <nunit>/, { bytes: '<nunit><x/></nunit>' }],
      [/declares entities/, { bytes: `<!DOCTYPE t [<!ENTITY a "b">]>${cases('')}` }],
    ];
    for (const [message, file] of bad) {
      const result = await read({ bytes: one('a') }, { ...file, name: 'bad' }, { bytes: one('b') });
      assert.deepEqual(names(result), ['a', 'b'], String(message));
      assert.match(issueTexts(result), message);
      assert.match(issueTexts(result), /^error bad:/);
      assert.equal(result.summary.isRefused, false);
    }
  });

  it('that are not whole say so: cut off, other counts, nothing at all [U68]', async () => {
    const half = await read({ bytes: one('a').replace(/<.testsuite>.*/, '<testcase name="b"><failure mess') });
    assert.deepEqual(outcome(half), [['a'], false, false]);
    assert.equal(half.summary.problem, 'report.xml is not a whole report.');
    const counts = await read({ bytes: one('a').replace('<testsuite ', '<testsuite tests="2" ') });
    assert.match(counts.summary.problem ?? '', /as many tests or failures as it declares/);
    assert.deepEqual((await read()).summary.problem, 'No report came.');
    const packed = gzipSync(
      Buffer.from(cases(Array.from({ length: 5_000 }, (_, n) => `<testcase name="${n * 7919}"/>`).join(''))),
    );
    const cut = await read({ bytes: packed.subarray(0, packed.length - 2_000), encoding: 'gzip' });
    assert.ok(cut.runs.length > 1_000 && cut.runs.length < 5_000, `${cut.runs.length}`);
    assert.match(cut.summary.problem ?? '', /could not be read to its end: The packed bytes end too early/);
  });

  it('count at receipt where their time is missing or cannot be [U24]', async () => {
    const at = (timestamp: string) =>
      cases(`<testcase name="a" timestamp="${timestamp}"/>`).replace(` timestamp="${AT}"`, '');
    const times: [string, number][] = [
      ['1970-01-01T00:00:00Z', RECEIVED_AT],
      ['2090-01-01T00:00:00Z', RECEIVED_AT],
      ['yesterday', RECEIVED_AT],
      ['', RECEIVED_AT],
      ['2026-09-22T12:05:01Z', RECEIVED_AT],
      ['2026-09-22T12:04:59Z', RECEIVED_AT + 299_000],
      ['2026-08-23T11:59:59Z', RECEIVED_AT],
      ['2026-08-23T12:00:01Z', RECEIVED_AT - 30 * 86_400_000 + 1_000],
    ];
    for (const [timestamp, expected] of times) {
      const { runs } = await read({ bytes: at(timestamp) });
      assert.equal(runs[0]?.startedAt, expected, timestamp);
    }
    const future = await read({ bytes: at('2090-01-01T00:00:00Z') });
    assert.match(issueTexts(future), /warning report.xml:1 A timestamp is in the future/);
  });

  it('never bring what a store cannot take, and no colours [U25]', async () => {
    const name = 'a&#0;b\u0001c&#27;[31mred&#27;[0m\ud83d';
    const bytes = Buffer.from(
      cases(`<testcase name="${name}"><failure message="&#x0;m">${'x'.repeat(100_000)}</failure></testcase>`),
    );
    const { runs, summary } = await read({ bytes, name: 'r\u0000\ud800.xml' });
    const texts = [
      ...Object.values(runs[0]?.names ?? {}),
      ...Object.values(runs[0]?.failure ?? {}),
      JSON.stringify(summary),
    ];
    for (const text of texts) {
      assert.ok(
        text.isWellFormed() && !text.includes('\0') && !text.includes('\u001b') && !text.includes('\\u0000'),
        text,
      );
    }
    assert.equal(runs[0]?.failure?.text.length, 8_000);
  });

  it('have durations only where they are durations [J5] [U23]', async () => {
    const { runs } = await read({
      bytes: cases(
        ['-1', 'NaN', '1e400', '120000', '0.0005'].map((time) => `<testcase name="${time}" time="${time}"/>`).join(''),
      ),
    });
    assert.deepEqual(
      runs.map(({ durationMs }) => durationMs),
      [null, null, null, 120_000_000, 0.5],
    );
  });

  it('list issues up to a number, errors first [U69]', async () => {
    const files = Array.from({ length: 300 }, (_, n) => ({
      name: `${n}.xml`,
      bytes: n === 299 ? '' : cases('<testcase name="a"/>'),
    }));
    const { summary } = await readFiles(files);
    assert.ok(summary.issues.length <= 201);
    assert.deepEqual([summary.issues[0]?.level, summary.issues[0]?.file], ['error', '299.xml']);
    assert.match(summary.issues.at(-1)?.message ?? '', /^\d+ further issues/);
  });

  it('of Bazel are runs of targets: each attempt one, those of a cache none [U70]', async () => {
    const result = (label: string, attempt: number, status: string, more = {}) =>
      JSON.stringify({
        id: { testResult: { label, run: 1, shard: 1, attempt } },
        testResult: { status, testAttemptDurationMillis: '1500', ...more },
      });
    const summary = (label: string, overallStatus: string) =>
      JSON.stringify({ id: { testSummary: { label } }, testSummary: { overallStatus } });
    const events = [
      result('//a:t', 1, 'FAILED'),
      result('//a:t', 2, 'PASSED'),
      summary('//a:t', 'FLAKY'),
      result('//a:cached', 1, 'PASSED', { cachedLocally: true }),
      result('//b:t', 1, 'TIMEOUT'),
      summary('//b:t', 'FAILED'),
    ];
    const told = await read({ name: 'bep.json', bytes: events.join('\n') });
    assert.deepEqual(
      told.runs.map(({ names: { name, parent }, conclusion, attempt, durationMs }) => [
        name,
        parent,
        conclusion,
        attempt,
        durationMs,
      ]),
      [
        ['//a:t', '//a', 'FAILURE', 0, 1_500],
        ['//a:t', '//a', 'SUCCESS', 1, 1_500],
        ['//b:t', '//b', 'FAILURE', 0, 1_500],
      ],
    );
    assert.equal(told.summary.isWhole, true);
    const silent = await read({ name: 'bep.json', bytes: [...events, summary('//c:t', 'FAILED')].join('') });
    assert.match(silent.summary.problem ?? '', /\/\/c:t failed, and no test/);
  });

  it('that unpack to too much end where the limit is [U53] [U23]', async () => {
    const bundle = { ...READ_LIMITS.bundle, maxBytes: 3_000_000, maxFileBytes: 1_000_000 };
    const bomb = cases('<testcase name="a"/>'.repeat(20) + ' '.repeat(2_000_000));
    const files: ReportFile[] = [gzipSync(Buffer.from(bomb)), zstdCompressSync(Buffer.from(bomb))].map((bytes) => ({
      bytes,
    }));
    const result = await readFiles([...files, { bytes: one('b') }], {
      sources: { limits: { ...READ_LIMITS, bundle } },
    });
    assert.equal(result.runs.length, 41);
    assert.match(issueTexts(result), /unpacks to more than 1000000 bytes/);
    assert.equal(result.summary.isWhole, false);
    const third = await readFiles([...files, ...files], { sources: { limits: { ...READ_LIMITS, bundle } } });
    assert.match(issueTexts(third), /The files unpack to more than 3000000 bytes in all/);
  });

  it('throw what their source throws, and nothing else [U23]', async () => {
    async function* broken() {
      yield Buffer.from(one('a'));
      throw new Error('disk on fire');
    }
    await assert.rejects(read({ bytes: broken }), /disk on fire/);
  });
});

describe('hostile reports', () => {
  it('of any bytes are read without a throw, as a report, packed or as events [U23]', async () => {
    const valid = [one('a'), '{"id":{"testResult":{"label":"//a"}},"testResult":{"status":"PASSED"}}'];
    const starts = [...valid.map((text) => Buffer.from(text)), ...valid.map((text) => gzipSync(Buffer.from(text)))];
    const bytes = fc
      .tuple(fc.constantFrom(...starts), fc.nat(), fc.uint8Array({ maxLength: 20 }))
      .map(([start, at, more]) => {
        const cut = at % (start.length + 1);
        return Buffer.concat([start.subarray(0, cut), more, start.subarray(cut + more.length)]);
      });
    const encodings = fc.constantFrom('identity', 'gzip', 'br', 'zstd', 'deflate');
    await fc.assert(
      fc.asyncProperty(bytes, encodings, async (changed, encoding) => {
        const { summary } = await read({ bytes: changed, encoding });
        assert.equal(summary.isWhole, summary.problem === null);
      }),
      { numRuns: 300 },
    );
  });

  it('of 10,000 levels, bombs of entities and files outside are read without harm [J9] [J20] [U23]', async () => {
    const deep = await read({
      bytes: `${one('a').replace('</testsuites>', '')}${'<testsuite name="x">'.repeat(10_000)}`,
    });
    assert.match(issueTexts(deep), /nested deeper than 1000 levels/);
    assert.deepEqual(outcome(deep), [['a'], false, false]);
    const entities = '<!DOCTYPE t [<!ENTITY a "&b;&b;"><!ENTITY x SYSTEM "file:///etc/passwd">]>';
    const laughs = await read({ bytes: entities + cases('<testcase name="&a;"><failure>&x;</failure></testcase>') });
    assert.equal(laughs.runs[0]?.failure?.text, '&x;');
  });

  it('with an attribute of 200 MB cost no memory [J9] [U23]', async () => {
    const piece = Buffer.alloc(1_000_000, 'x');
    const before = liveBytes();
    let kept = 0;
    async function* bytes() {
      yield Buffer.from(`<testsuite name="s"><testcase name="a" junk="`);
      for (let n = 0; n < 200; n += 1) yield piece;
      kept = liveBytes() - before;
      yield Buffer.from('"/><testcase name="b"/></testsuite>');
    }
    const result = await read({ bytes });
    assert.deepEqual(outcome(result), [['a', 'b'], true, false]);
    assert.match(issueTexts(result), /attribute junk is too long/);
    assert.ok(kept < 20_000_000, `${kept} bytes`);
  });
});
