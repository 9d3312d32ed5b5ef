import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { pluck } from '../../test/helpers/pluck.ts';
import { keepSpans } from '../../test/helpers/record-spans.ts';
import { Fault } from './fault.ts';
import { activeSpan, inBegun, inSpan, parseTraceparent, runIn, runOutside, Span } from './trace.ts';

function begin() {
  const { tracing, spans } = keepSpans();
  return { root: Span.begin(tracing, { name: 'root', kind: 'server' }) ?? assert.fail(), spans };
}

describe('spans', () => {
  it('nest along asynchronous calls, and tell of errors by their codes [M22]', async () => {
    const { root, spans } = begin();
    const act = async () => {
      await turn();
      await inSpan({ name: 'inner', kind: 'client' }, async () => {
        throw new Fault('FORGE_UNAVAILABLE', 'The forge of Grace does not answer.');
      });
    };
    await assert.rejects(inBegun(root, () => inSpan({ name: 'outer', kind: 'internal' }, act)));
    assert.deepEqual(
      pluck(spans, 'name', 'parentId', 'isError', 'attributes'),
      ['inner', 'outer', 'root'].map((name, index) => [
        ...[name, spans[index + 1]?.spanId, true],
        { 'error.type': 'FORGE_UNAVAILABLE' },
      ]),
    );
    assert.ok(spans.every(({ startMs, endMs }) => endMs >= startMs));
  });

  it('have no children after their end, nor in work for others [M22]', async () => {
    const { root, spans } = begin();
    const seen = await runIn(root, async () => {
      const inside = activeSpan();
      const outside = runOutside(activeSpan);
      root.end();
      await inSpan({ name: 'late', kind: 'internal' }, turn);
      return [inside, outside, activeSpan()];
    });
    assert.deepEqual(seen, [root, undefined, undefined]);
    assert.deepEqual(pluck(spans, 'name'), ['root']);
  });

  it('cost nothing outside of a trace [M21]', async () => {
    assert.equal(await inSpan({ name: 'none', kind: 'internal' }, async (span) => span), undefined);
  });
});

describe('the header traceparent', () => {
  const [trace, span] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];

  it('is read as W3C Trace Context has it [M22]', () => {
    assert.deepEqual(parseTraceparent(`00-${trace}-${span}-01`), { traceId: trace, spanId: span, isSampled: true });
    assert.equal(parseTraceparent(`00-${trace}-${span}-02`)?.isSampled, false);
    assert.equal(parseTraceparent(`cc-${trace}-${span}-01-later`)?.traceId, trace);
  });

  for (const malformed of [
    ...[undefined, '', 'x', `00-${trace}-${span}`, `00-${trace}-${span}-1`, `00-${trace.toUpperCase()}-${span}-01`],
    ...[`ff-${trace}-${span}-01`, `00-${trace}-${span}-01-more`, `00-${'0'.repeat(32)}-${span}-01`],
    ...[
      `00-${trace}-${'0'.repeat(16)}-01`,
      `00-${trace}-${span}-01, 00-${trace}-${span}-01`,
      `cc-${trace}-${span}-01x`,
    ],
  ]) {
    it(`is ignored as ${malformed} [M22]`, () => assert.equal(parseTraceparent(malformed), undefined));
  }
});
