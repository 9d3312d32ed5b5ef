import type { Attributes, SpanKind, SpanRecord } from '../../lib/trace.ts';
import { MessageWriter } from './message-writer.ts';

/**
 * Writes an ExportTraceServiceRequest of OTLP in the binary form of Protocol Buffers. The numbers are those of the fields
 * in opentelemetry/proto/trace/v1/trace.proto, common.proto and resource.proto. Everything is written from its end.
 */
export function encodeSpans(
  spans: readonly SpanRecord[],
  about: { readonly resource: Attributes; readonly version: string },
): Buffer {
  const writer = new MessageWriter(spans.length * ROOM_FOR_SPAN);
  writer.message(1, () => {
    writer.message(2, () => {
      for (const span of spans.toReversed()) writer.message(2, () => writeSpan(writer, span));
      writer.message(1, () => {
        writer.text(2, about.version);
        writer.text(1, 'sluice');
      });
    });
    writer.message(1, () => writeAttributes(writer, 1, about.resource));
  });
  return writer.finish();
}

/** Most spans need less. */
const ROOM_FOR_SPAN = 512;
const KINDS: { readonly [Kind in SpanKind]: number } = { internal: 1, server: 2, client: 3 };
const STATUS_ERROR = 2;

function writeSpan(writer: MessageWriter, span: SpanRecord): void {
  const { traceId, spanId, parentId, name, kind, startMs, endMs, attributes, isError } = span;
  if (isError) writer.message(15, () => writer.integer(3, STATUS_ERROR));
  writeAttributes(writer, 9, attributes);
  writer.fixed64(8, toNanoseconds(Math.max(startMs, endMs)));
  writer.fixed64(7, toNanoseconds(startMs));
  writer.integer(6, KINDS[kind]);
  writer.text(5, name);
  if (parentId !== undefined) writer.text(4, parentId, 'hex');
  writer.text(2, spanId, 'hex');
  writer.text(1, traceId, 'hex');
}

/** A fraction of a microsecond is beyond the precision of the clock. */
function toNanoseconds(ms: number): bigint {
  return BigInt(Math.round(ms * 1_000)) * 1_000n;
}

function writeAttributes(writer: MessageWriter, field: number, attributes: Attributes): void {
  for (const [key, value] of Object.entries(attributes).reverse()) {
    if (value === undefined) continue;
    writer.message(field, () => {
      writer.message(2, () => writeValue(writer, value));
      writer.text(1, key);
    });
  }
}

function writeValue(writer: MessageWriter, value: NonNullable<Attributes[string]>): void {
  switch (typeof value) {
    case 'string':
      return writer.text(1, value);
    case 'boolean':
      return writer.integer(2, value ? 1 : 0);
    case 'number':
      return Number.isSafeInteger(value) ? writer.integer(3, value) : writer.double(4, value);
    default:
      return writer.message(5, () => {
        for (const each of value.toReversed()) writer.message(1, () => writer.text(1, each));
      });
  }
}
