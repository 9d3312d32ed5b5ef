import assert from 'node:assert/strict';
import { inBegun, Span, type SpanRecord, type Tracing } from '../../src/lib/trace.ts';

/** Takes all spans. */
export function keepSpans(): { readonly tracing: Tracing; readonly spans: SpanRecord[] } {
  const spans: SpanRecord[] = [];
  const record = (span: SpanRecord) => spans.push(span);
  return { tracing: { isSampled: () => true, record, counts: { sent: 0, dropped: 0 } }, spans };
}

/** The spans below one that `action` runs in, in the order of their ends. */
export async function recordSpans(action: () => Promise<unknown>): Promise<readonly SpanRecord[]> {
  const { tracing, spans } = keepSpans();
  const root = Span.begin(tracing, { name: 'root', kind: 'server' }) ?? assert.fail();
  await inBegun(root, action);
  return spans.filter(({ name }) => name !== 'root');
}
