import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { until } from '../../../test/e2e/harness.ts';
import { silentLog } from '../../../test/helpers/silent-log.ts';
import { TraceReceiver } from '../../../test/helpers/trace-receiver.ts';
import type { SpanRecord } from '../../lib/trace.ts';
import { SpanSender, WAITING_LIMIT } from './span-sender.ts';

let made = 0;

function aSpan(attributes: SpanRecord['attributes'] = {}): SpanRecord {
  made += 1;
  return {
    ...{ traceId: '0123456789abcdef'.repeat(2), spanId: made.toString(16).padStart(16, '0'), parentId: undefined },
    ...{ name: `span ${made}`, kind: 'internal', startMs: 1_800_000_000_000.25, endMs: 1_800_000_000_001, attributes },
    isError: false,
  };
}

async function open(t: TestContext, options: { readonly timeoutMs?: number; readonly port?: number } = {}) {
  const receiver = new TraceReceiver();
  if (options.port === undefined) await receiver.start();
  const told: string[] = [];
  const tell = (level: string) => (facts: object, text: string) =>
    told.push(`${level} ${text} ${JSON.stringify(facts)}`);
  const sender = new SpanSender({
    ...{
      url: `http://127.0.0.1:${options.port ?? receiver.port}/v1/traces`,
      headers: {},
      resource: { 'service.name': 'x' },
      version: '1',
    },
    ...{ timeoutMs: options.timeoutMs ?? 10_000, gatherMs: 1, retryFirstMs: 1 },
    log: { ...silentLog, warn: tell('warn'), info: tell('info') },
  });
  t.after(async () => {
    await sender.stop(1_000);
    await receiver.close();
  });
  const untilSent = (count: number) =>
    until(`${count} spans are sent`, 15_000, async () => {
      receiver.check();
      return receiver.spans.length >= count ? true : undefined;
    });
  return { receiver, sender, told, untilSent };
}

const answering =
  (status: number, headers = {}) =>
  (response: ServerResponse) =>
    response.writeHead(status, headers).end();

describe('the sender of spans', () => {
  it('writes every kind of value as the protocol has it [M22]', async (t) => {
    const { receiver, sender, untilSent } = await open(t);
    const attributes = {
      text: 'ä\u{1f980}',
      yes: true,
      no: false,
      count: -5,
      large: 2 ** 40,
      long: 'x'.repeat(100_000),
      part: 0.5,
      list: ['a', ''],
    };
    sender.add({ ...aSpan({ ...attributes, none: undefined }), isError: true, kind: 'client' });
    await untilSent(1);
    const [span] = receiver.spans;
    assert.deepEqual(span?.attributes, attributes);
    assert.deepEqual([span?.isError, span?.kind], [true, 'client']);
    assert.deepEqual([span?.start, span?.end], [1_800_000_000_000_250_000n, 1_800_000_000_001_000_000n]);
    assert.deepEqual(span?.scope, { name: 'sluice', version: '1' });
  });

  const failing: Readonly<Record<string, (response: ServerResponse, request: IncomingMessage) => void>> = {
    'answers 429': answering(429, { 'retry-after': '0' }),
    'answers 503': answering(503),
    'closes the connection': (_response, request) => request.socket.destroy(),
    'never answers': () => {},
  };
  for (const [what, answer] of Object.entries(failing)) {
    it(`tries again where the receiver ${what}, and says so once [M24]`, async (t) => {
      const { receiver, sender, told, untilSent } = await open(t, { timeoutMs: 50 });
      receiver.answer = answer;
      sender.add(aSpan());
      await until('it tried three times', 15_000, async () => (receiver.requests >= 3 ? true : undefined));
      sender.add(aSpan());
      receiver.answer = undefined;
      await untilSent(2);
      await until('it says so', 5_000, async () => (told.length === 2 ? true : undefined));
      assert.match(told[0] ?? '', /^warn The receiver of traces does not take them/);
      assert.match(told[1] ?? '', /^info The receiver of traces takes them again.*"dropped":0/);
      // The receiver has the last span before the sender has its answer.
      await until('both are counted', 15_000, async () => (sender.counts.sent === 2 ? true : undefined));
      assert.equal(sender.counts.dropped, 0);
    });
  }

  it('drops spans that the receiver refuses, and says so once [M24]', async (t) => {
    const { receiver, sender, told, untilSent } = await open(t);
    receiver.answer = answering(400);
    for (const count of [1, 2]) {
      sender.add(aSpan());
      await until('it is dropped', 5_000, async () => (sender.counts.dropped === count ? true : undefined));
    }
    receiver.answer = undefined;
    sender.add(aSpan());
    await untilSent(1);
    await until('it says so', 5_000, async () => (told.length === 2 ? true : undefined));
    assert.match(told[0] ?? '', /It answered 400/);
    assert.deepEqual([receiver.requests, sender.counts], [3, { sent: 1, dropped: 2 }]);
  });

  it('reads how many spans of a batch were refused [M24]', async (t) => {
    const { receiver, sender, told } = await open(t);
    const partialSuccess = { rejectedSpans: '2', errorMessage: 'x'.repeat(200) };
    receiver.answer = (response) => response.end(JSON.stringify({ partialSuccess }));
    for (let count = 0; count < 3; count += 1) sender.add(aSpan());
    await until('some are dropped', 5_000, async () => (sender.counts.dropped === 2 ? true : undefined));
    assert.equal(sender.counts.sent, 1);
    assert.match(told.join(), /It refused 2 spans/);
  });

  it('keeps a bounded number of spans while the receiver is down [M24]', async (t) => {
    const { sender, told } = await open(t, { port: 1 });
    for (let count = 0; count < WAITING_LIMIT + 10; count += 1) sender.add(aSpan());
    assert.deepEqual(sender.counts, { sent: 0, dropped: 10 });
    await until('it says so', 5_000, async () => (told.length > 0 ? true : undefined));
    assert.match(told.join(), /It could not be reached \(ECONNREFUSED\)/);
  });

  it('sends the rest when it stops, and gives up on a receiver that hangs [M24]', async (t) => {
    const quick = await open(t);
    for (let count = 0; count < 1_500; count += 1) quick.sender.add(aSpan());
    await quick.sender.stop(10_000);
    assert.equal(quick.receiver.spans.length, 1_500);
    const hanging = await open(t);
    hanging.receiver.answer = () => {};
    hanging.sender.add(aSpan());
    await hanging.sender.stop(50);
    assert.deepEqual(hanging.sender.counts, { sent: 0, dropped: 1 });
    hanging.sender.add(aSpan());
    assert.equal(hanging.sender.counts.dropped, 2);
  });
});
