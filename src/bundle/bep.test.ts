import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { chunks } from '../../test/helpers/bundle.ts';
import { pluck } from '../../test/helpers/pluck.ts';
import type { Issue } from '../flaky/identity/issue.ts';
import { BazelTargets } from './bazel-targets.ts';
import { type BepResult, type BepSummary, decodeBep } from './bep.ts';
import { Unreadable } from './unreadable.ts';

async function decode(text: string | Uint8Array, { size = 20, maxEventBytes = 10_000, maxEvents = 1_000 } = {}) {
  const events: (BepSummary | BepResult)[] = [];
  const issues: Issue[] = [];
  const options = { file: 'bazel_bep.json', onIssue: (issue: Issue) => issues.push(issue), maxEventBytes, maxEvents };
  for await (const event of decodeBep(chunks(Buffer.from(text), size), options)) events.push(event);
  return { events, issues };
}

function result(label: string, status: string, extra: object = {}, attempt = 1): string {
  const id = { testResult: { label, run: 1, shard: 1, attempt } };
  return JSON.stringify({ id, testResult: { status, ...extra } });
}

function summary(label: string, overallStatus: string): string {
  const times = { firstStartTimeMillis: '1790000000000', lastStopTime: '2026-09-21T15:20:05.500Z' };
  return JSON.stringify({ id: { testSummary: { label } }, testSummary: { overallStatus, ...times } });
}

const FLAKY = [
  '{"id":{"started":{}},"started":{"uuid":"} \\" {"}}',
  result('//a:b', 'FAILED', {
    testActionOutput: [{ name: 'test.xml', uri: 'file:///x/ü/test.xml' }, { uri: 'x.log' }],
  }),
  result('//a:b', 'FLAKY', { testAttemptStart: '2026-09-21T15:20:00Z', testAttemptDuration: '1.500s' }, 2),
  summary('//a:b', 'FLAKY'),
];

describe('build events of Bazel', () => {
  it('are read with or without something between them, in chunks of any size [U8]', async () => {
    for (const between of ['', '\n', ' ,\r\n']) {
      for (const size of [1, 7, 10_000]) {
        const { events, issues } = await decode(FLAKY.join(between), { size });
        assert.deepEqual(issues, []);
        assert.deepEqual(events, [
          {
            kind: 'result',
            label: '//a:b',
            status: 'FAILED',
            attempt: 0,
            isCached: false,
            startedAt: null,
            durationMs: null,
          },
          {
            kind: 'result',
            label: '//a:b',
            status: 'FLAKY',
            attempt: 1,
            isCached: false,
            startedAt: Date.parse('2026-09-21T15:20:00Z'),
            durationMs: 1_500,
          },
          { kind: 'summary', label: '//a:b', status: 'FLAKY' },
        ]);
      }
    }
  });

  it('tell how each target ended, and leave out what came from a cache [U70] [U8]', async () => {
    const cached = [
      result('//c:local', 'PASSED', { cachedLocally: true }),
      result('//c:remote', 'PASSED', { executionInfo: { cachedRemotely: true } }),
      summary('//c:local', 'PASSED'),
    ];
    const others = [result('//a:timeout', 'TIMEOUT'), result('//a:pass', 'PASSED'), summary('//a:pass', 'PASSED')];
    const targets = new BazelTargets();
    for (const event of (await decode([...FLAKY, ...cached, ...others].join(''))).events) targets.add(event);
    assert.deepEqual(pluck(targets.list(), 'label', 'result', 'maxAttempt', 'resolvedStatus'), [
      ['//a:b', 'FLAKY', 1, 'Flaky'],
      ['//a:timeout', 'FAILURE', 0, null],
      ['//a:pass', 'SUCCESS', 0, 'Passed'],
    ]);
  });

  it('may be cut off or have one that is too big [U8]', async () => {
    const big = JSON.stringify({ id: { namedSet: {} }, files: 'x'.repeat(20_000) });
    const { events, issues } = await decode(`${big}${summary('//a:b', 'PASSED')}{"id":{"testSu`);
    assert.equal(events.length, 1);
    assert.deepEqual(
      issues.map(({ message }) => /too big|cut off/.exec(message)?.[0]),
      ['too big', 'cut off'],
    );
  });

  it('throw only their refusal on arbitrary bytes [U8]', async () => {
    await assert.rejects(decode('<testsuites/>'), Unreadable);
    await assert.rejects(decode('{]}'), Unreadable);
    await assert.rejects(decode('{}{}{}', { maxEvents: 2 }), /TOO_BIG/);
    const targets = new BazelTargets({ maxLabelsLength: 10 });
    for (const event of (await decode(summary('//a:b', 'PASSED'))).events) targets.add(event);
    for (const event of (await decode(summary('//a:c', 'PASSED'))).events) targets.add(event);
    const [third] = (await decode(summary('//a:d', 'PASSED'))).events;
    assert.throws(() => targets.add(third as BepSummary), /TOO_BIG/);
    assert.equal((await decode(`${'{"a":'.repeat(100)}1${'}'.repeat(100)}`)).events.length, 0);
    const text = fc.string({ unit: fc.constantFrom(...'{}[]",:\\ 1atestResult'), maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(fc.oneof(text.map(Buffer.from), fc.uint8Array()), async (bytes) => {
        await decode(bytes).catch((error: unknown) => assert.ok(error instanceof Unreadable, String(error)));
      }),
      { numRuns: 1_000 },
    );
  });
});
