import type { Attributes, SpanKind, SpanRecord } from '../../lib/trace.ts';

/** An ExportTraceServiceRequest in the JSON form of OTLP: ids in hex, integers of 64 bits as strings. */
export function encodeSpans(
  spans: readonly SpanRecord[],
  about: { readonly resource: Attributes; readonly version: string },
): string {
  const scopeSpans = [{ scope: { name: 'sluice', version: about.version }, spans: spans.map(encodeSpan) }];
  return JSON.stringify({
    resourceSpans: [{ resource: { attributes: encodeAttributes(about.resource) }, scopeSpans }],
  });
}

const KINDS: { readonly [Kind in SpanKind]: number } = { internal: 1, server: 2, client: 3 };
const STATUS_ERROR = 2;

function encodeSpan({ traceId, spanId, parentId, name, kind, startMs, endMs, attributes, isError }: SpanRecord) {
  return {
    ...{ traceId, spanId, parentSpanId: parentId, name, kind: KINDS[kind] },
    startTimeUnixNano: toNanoseconds(startMs),
    endTimeUnixNano: toNanoseconds(Math.max(startMs, endMs)),
    attributes: encodeAttributes(attributes),
    status: isError ? { code: STATUS_ERROR } : undefined,
  };
}

/** A fraction of a microsecond is beyond the precision of the clock. */
function toNanoseconds(ms: number): string {
  return `${Math.round(ms * 1_000)}000`;
}

function encodeAttributes(attributes: Attributes) {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: encodeValue(value) }],
  );
}

function encodeValue(value: NonNullable<Attributes[string]>) {
  switch (typeof value) {
    case 'string':
      return { stringValue: value };
    case 'boolean':
      return { boolValue: value };
    case 'number':
      return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
    default:
      return { arrayValue: { values: value.map((stringValue) => ({ stringValue })) } };
  }
}
