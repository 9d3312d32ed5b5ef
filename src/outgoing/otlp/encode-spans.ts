import type { Attributes, SpanKind, SpanRecord } from '../../lib/trace.ts';

/**
 * Writes an ExportTraceServiceRequest of OTLP in the binary form of Protocol Buffers. The numbers are those of the fields
 * in opentelemetry/proto/trace/v1/trace.proto, common.proto and resource.proto.
 */
export function encodeSpans(
  spans: readonly SpanRecord[],
  about: { readonly resource: Attributes; readonly version: string },
): Buffer {
  const resource = message(1, encodeAttributes(1, about.resource));
  const scope = message(1, [...text(1, 'sluice'), ...text(2, about.version)]);
  const scopeSpans = message(2, [...scope, ...spans.flatMap((span) => message(2, encodeSpan(span)))]);
  return Buffer.concat(message(1, [...resource, ...scopeSpans]));
}

const KINDS: { readonly [Kind in SpanKind]: number } = { internal: 1, server: 2, client: 3 };
const STATUS_ERROR = 2;

function encodeSpan({
  traceId,
  spanId,
  parentId,
  name,
  kind,
  startMs,
  endMs,
  attributes,
  isError,
}: SpanRecord): Buffer[] {
  return [
    ...bytes(1, Buffer.from(traceId, 'hex')),
    ...bytes(2, Buffer.from(spanId, 'hex')),
    ...(parentId === undefined ? [] : bytes(4, Buffer.from(parentId, 'hex'))),
    ...text(5, name),
    ...number(6, BigInt(KINDS[kind])),
    ...nanoseconds(7, startMs),
    ...nanoseconds(8, Math.max(startMs, endMs)),
    ...encodeAttributes(9, attributes),
    ...(isError ? message(15, number(3, BigInt(STATUS_ERROR))) : []),
  ];
}

function encodeAttributes(field: number, attributes: Attributes): Buffer[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : message(field, [...text(1, key), ...message(2, encodeValue(value))]),
  );
}

function encodeValue(value: NonNullable<Attributes[string]>): Buffer[] {
  switch (typeof value) {
    case 'string':
      return text(1, value);
    case 'boolean':
      return number(2, value ? 1n : 0n);
    case 'number':
      return Number.isSafeInteger(value) ? number(3, BigInt.asUintN(64, BigInt(value))) : double(4, value);
    default:
      return message(
        5,
        value.flatMap((each) => message(1, text(1, each))),
      );
  }
}

const VARINT = 0;
const EIGHT_BYTES = 1;
const LENGTH_DELIMITED = 2;

function tag(field: number, wireType: number): Buffer {
  return varint(BigInt((field << 3) | wireType));
}

function varint(value: bigint): Buffer {
  const written: number[] = [];
  let rest = value;
  for (; rest > 0x7fn; rest >>= 7n) written.push(Number(rest & 0x7fn) | 0x80);
  return Buffer.from([...written, Number(rest)]);
}

function number(field: number, value: bigint): Buffer[] {
  return [tag(field, VARINT), varint(value)];
}

function bytes(field: number, value: Buffer): Buffer[] {
  return [tag(field, LENGTH_DELIMITED), varint(BigInt(value.length)), value];
}

function text(field: number, value: string): Buffer[] {
  return bytes(field, Buffer.from(value));
}

function message(field: number, content: readonly Buffer[]): Buffer[] {
  return bytes(field, Buffer.concat(content));
}

function nanoseconds(field: number, ms: number): Buffer[] {
  const value = Buffer.alloc(8);
  // A fraction of a microsecond is beyond the precision of the clock.
  value.writeBigUInt64LE(BigInt(Math.round(ms * 1_000)) * 1_000n);
  return [tag(field, EIGHT_BYTES), value];
}

function double(field: number, given: number): Buffer[] {
  const value = Buffer.alloc(8);
  value.writeDoubleLE(given);
  return [tag(field, EIGHT_BYTES), value];
}
