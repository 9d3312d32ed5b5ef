import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { chunks, field, message, timestamp } from '../../test/helpers/bundle.ts';
import type { Issue } from '../flaky/identity/issue.ts';
import { decodeInternal, type InternalItem } from './decode-internal.ts';
import { Unreadable } from './unreadable.ts';

async function decode(bytes: Uint8Array, { size = 50, maxRunBytes = 1_000_000, maxFields = 1_000 } = {}) {
  const items: InternalItem[] = [];
  const issues: Issue[] = [];
  const options = { file: 'internal.bin', onIssue: (issue: Issue) => issues.push(issue), maxRunBytes, maxFields };
  for await (const portion of decodeInternal(chunks(bytes, size), options)) items.push(...portion);
  return { items, issues };
}

const ADDS = message(
  field(1, '7'),
  field(2, 'adds'),
  field(3, 'math'),
  field(4, 'src/math.test.ts'),
  field(5, 'math suite'),
  field(7, 1),
  field(9, timestamp(1_790_000_000, 999_000_000)),
  field(10, timestamp(1_790_000_000, 1_011_000_000)),
);
const SUBTRACTS = message(
  field(2, 'subtracts'),
  field(6, 3),
  field(7, 2),
  field(8, 1),
  field(9, timestamp(0)),
  field(10, timestamp(2, 500_000_000)),
  field(11, 'old message'),
  field(12, 1),
  field(13, message(field(1, '@acme/math'))),
  field(13, message(field(1, 'dev@acme.test'))),
  field(14, message(field(1, 2))),
  field(15, message(field(1, 42))),
  field(16, message(field(1, 'text'), field(2, 'message'), field(3, 'out'), field(4, 'err'))),
  field(17, message(field(1, '//a:b'), field(2, 4))),
);
const UPLOADER = message(field(1, '0.13.1'), field(2, 'rspec'), field(3, timestamp(1_790_000_100)), field(4, 'linux'));
const BUILD = message(field(1, '//a:b'), field(2, 4), field(3, message(field(1, 2))));
const RESULT = message(field(1, ADDS), field(1, SUBTRACTS), field(3, BUILD));
const REPORT = message(field(1, RESULT), field(2, UPLOADER));

const EXPECTED: InternalItem[] = [
  {
    kind: 'run',
    infoId: '7',
    name: 'adds',
    classname: 'math',
    file: 'src/math.test.ts',
    parent: 'math suite',
    status: 'SUCCESS',
    attempt: null,
    startedAt: 1_790_000_000_999,
    durationMs: 12,
    codeOwners: [],
    output: null,
    bazelLabel: null,
  },
  {
    kind: 'run',
    infoId: '',
    name: 'subtracts',
    classname: '',
    file: '',
    parent: '',
    status: 'FAILURE',
    attempt: 4,
    startedAt: null,
    durationMs: 2_500,
    codeOwners: ['@acme/math', 'dev@acme.test'],
    output: { text: 'text', message: 'message' },
    bazelLabel: '//a:b',
  },
  { kind: 'build', label: '//a:b', result: 'FLAKY' },
];

describe('internal.bin', () => {
  it('is read as a report, in chunks of any size [U7]', async () => {
    for (const size of [1, 2, 3, 17, 10_000]) {
      assert.deepEqual(await decode(REPORT, { size }), { items: EXPECTED, issues: [] });
    }
  });

  it('is read as a single result, which older uploaders wrote [U7]', async () => {
    const old = message(field(1, ADDS), field(1, SUBTRACTS), field(2, UPLOADER));
    const expected = EXPECTED.slice(0, 2);
    for (const size of [1, 17, 10_000]) assert.deepEqual((await decode(old, { size })).items, expected);
    // Names that happen to parse as messages, and runs with hardly any field.
    for (const name of ['2', '\n', '\u0012', '*', ':', '']) {
      const run = message(field(2, name), field(5, 'suite'), field(7, 1));
      const [item] = (await decode(message(field(1, run)))).items;
      assert.deepEqual(item?.kind === 'run' && [item.name, item.parent], [name, 'suite'], JSON.stringify(name));
    }
  });

  it('is read when it is bigger than the buffer [U54]', async () => {
    const output = field(16, message(field(1, 'z'.repeat(3_000))));
    const runs = Array.from({ length: 300 }, (_, i) => field(1, message(field(2, `case ${i}`), field(7, 2), output)));
    const { items, issues } = await decode(message(field(1, message(...runs))), { size: 999 });
    assert.deepEqual(issues, []);
    assert.deepEqual(
      items.map((item) => item.kind === 'run' && item.name),
      runs.map((_, i) => `case ${i}`),
    );
  });

  it('may be empty', async () => {
    assert.deepEqual(await decode(Buffer.alloc(0)), { items: [], issues: [] });
    assert.deepEqual(await decode(field(2, UPLOADER)), { items: [], issues: [] });
  });

  it('has fields of later versions, which are passed over [U7]', async () => {
    const later = message(field(30, 'new'), field(31, 5), Buffer.from([(9 << 3) | 5, 1, 2, 3, 4]), ADDS);
    const { items } = await decode(message(field(9, 'x'), field(1, message(field(1, later), field(8, 'y')))));
    assert.deepEqual(items, [EXPECTED[0]]);
  });

  it('loses one run that is too big or damaged, and no other [U54]', async () => {
    const big = message(field(2, 'big'), field(7, 1), field(11, 'x'.repeat(5_000)));
    const broken = Buffer.from([0x12, 0x7f, 0x41]);
    const report = field(1, message(field(1, ADDS), field(1, big), field(1, broken), field(1, ADDS)));
    const { items, issues } = await decode(report, { maxRunBytes: 1_000 });
    assert.deepEqual(items, [EXPECTED[0], EXPECTED[0]]);
    assert.deepEqual(
      issues.map(({ level, message }) => [level, /too big|cannot be decoded/.exec(message)?.[0]]),
      [
        ['error', 'too big'],
        ['error', 'cannot be decoded'],
      ],
    );
  });

  it('is refused with more runs than anybody has [U54]', async () => {
    const runs = field(1, Buffer.concat(Array.from({ length: 30 }, () => field(1, ''))));
    assert.equal((await decode(runs, { maxFields: 31 })).items.length, 30);
    await assert.rejects(decode(runs, { maxFields: 30 }), /TOO_BIG/);
  });

  it('says when it ends too early, and keeps what came before [U54]', async () => {
    const cut = REPORT.subarray(0, field(1, RESULT).length - BUILD.length - 10);
    const { items, issues } = await decode(cut);
    assert.deepEqual(items, [EXPECTED[0]]);
    assert.match(issues[0]?.message ?? '', /ends too early/);
  });

  it('has no instant or duration where its timestamps are impossible', async () => {
    const odd = message(field(2, 'x'), field(7, 1), field(9, timestamp(-5n)), field(10, timestamp(7n << 60n)));
    const [item] = (await decode(field(1, field(1, odd)))).items;
    assert.deepEqual(item?.kind === 'run' && [item.startedAt, item.durationMs], [null, null]);
    const back = message(field(2, 'x'), field(7, 1), field(9, timestamp(20)), field(10, timestamp(10)));
    const [backwards] = (await decode(field(1, field(1, back)))).items;
    assert.equal(backwards?.kind === 'run' && backwards.durationMs, null);
  });

  it('throws only its refusal on arbitrary bytes [U7]', async () => {
    const mutated = fc
      .array(fc.tuple(fc.nat(REPORT.length - 1), fc.nat(255)), { minLength: 1, maxLength: 5 })
      .map((changes) => {
        const bytes = Buffer.from(REPORT);
        for (const [at, byte] of changes) bytes[at] = byte;
        return bytes;
      });
    const anything = fc.oneof(mutated, fc.uint8Array({ maxLength: 200 }));
    await fc.assert(
      fc.asyncProperty(anything, fc.integer({ min: 1, max: 60 }), async (bytes, size) => {
        await decode(bytes, { size }).catch((error: unknown) => assert.ok(error instanceof Unreadable, String(error)));
      }),
      { numRuns: 3_000 },
    );
  });
});
