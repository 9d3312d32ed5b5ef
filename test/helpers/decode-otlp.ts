// Reads an ExportTraceServiceRequest of OTLP strictly: anything that the definitions of the protocol do not have is an error.
import assert from 'node:assert/strict';

type Scalar = 'bytes16' | 'bytes8' | 'string' | 'bool' | 'int' | 'fixed64' | 'double';
interface Field {
  readonly name: string;
  readonly type: Scalar | Message;
  readonly isList?: true;
}
type Message = Readonly<Record<number, Field>>;

const ARRAY: Record<number, Field> = {};
const VALUE: Message = {
  1: { name: 'string', type: 'string' },
  2: { name: 'bool', type: 'bool' },
  3: { name: 'int', type: 'int' },
  4: { name: 'double', type: 'double' },
  5: { name: 'array', type: ARRAY },
};
ARRAY[1] = { name: 'values', type: VALUE, isList: true };
const ATTRIBUTE: Message = { 1: { name: 'key', type: 'string' }, 2: { name: 'value', type: VALUE } };
const STATUS: Message = { 2: { name: 'message', type: 'string' }, 3: { name: 'code', type: 'int' } };
const SPAN: Message = {
  1: { name: 'traceId', type: 'bytes16' },
  2: { name: 'spanId', type: 'bytes8' },
  4: { name: 'parentId', type: 'bytes8' },
  5: { name: 'name', type: 'string' },
  6: { name: 'kind', type: 'int' },
  7: { name: 'start', type: 'fixed64' },
  8: { name: 'end', type: 'fixed64' },
  9: { name: 'attributes', type: ATTRIBUTE, isList: true },
  15: { name: 'status', type: STATUS },
};
const SCOPE: Message = { 1: { name: 'name', type: 'string' }, 2: { name: 'version', type: 'string' } };
const SCOPE_SPANS: Message = { 1: { name: 'scope', type: SCOPE }, 2: { name: 'spans', type: SPAN, isList: true } };
const RESOURCE: Message = { 1: { name: 'attributes', type: ATTRIBUTE, isList: true } };
const RESOURCE_SPANS: Message = {
  1: { name: 'resource', type: RESOURCE },
  2: { name: 'scopeSpans', type: SCOPE_SPANS, isList: true },
};
const REQUEST: Message = { 1: { name: 'resourceSpans', type: RESOURCE_SPANS, isList: true } };

export type Attributes = Readonly<Record<string, unknown>>;

export interface DecodedSpan {
  readonly resource: Attributes;
  readonly scope: unknown;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string | undefined;
  readonly name: string;
  readonly kind: 'internal' | 'server' | 'client';
  readonly start: bigint;
  readonly end: bigint;
  readonly attributes: Attributes;
  readonly isError: boolean;
}

// biome-ignore lint/suspicious/noExplicitAny: the schema above says which fields there are.
type Read = any;

export function decodeOtlp(body: Buffer): readonly DecodedSpan[] {
  const { resourceSpans = [] } = readMessage(REQUEST, body, 'request');
  return resourceSpans.flatMap(({ resource, scopeSpans = [] }: Read) =>
    scopeSpans.flatMap(({ scope, spans = [] }: Read) =>
      spans.map((span: Read) => toSpan(span, { resource: toAttributes(resource.attributes), scope })),
    ),
  );
}

function toSpan(
  { attributes = [], status, kind, ...span }: Read,
  of: { readonly resource: Attributes; readonly scope: unknown },
): DecodedSpan {
  for (const field of ['traceId', 'spanId', 'name', 'start', 'end']) assert.ok(field in span, `a span has no ${field}`);
  assert.ok(span.end >= span.start, `${span.name} ends before it starts`);
  const kindName = ['', 'internal', 'server', 'client'][kind] ?? assert.fail(`${kind} is no kind`);
  assert.ok(status === undefined || status.code === 2, 'a status is an error here');
  return {
    ...{ parentId: undefined, ...of, ...span, kind: kindName },
    ...{ attributes: toAttributes(attributes), isError: status !== undefined },
  };
}

function toAttributes(pairs: readonly { readonly key: string; readonly value: Read }[]): Attributes {
  const keys = pairs.map(({ key }) => key);
  assert.equal(new Set(keys).size, keys.length, `a key is there twice: ${keys}`);
  return Object.fromEntries(pairs.map(({ key, value }) => [key, toValue(value)]));
}

function toValue(value: Read): unknown {
  const [[kind, content] = assert.fail('a value is empty'), ...more] = Object.entries(value) as [string, Read][];
  assert.deepEqual(more, [], 'a value has two kinds');
  return kind === 'array' ? (content.values ?? []).map(toValue) : content;
}

function readMessage(message: Message, from: Buffer, where: string): Read {
  const read: Read = {};
  let rest = from;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = rest[0] ?? assert.fail(`${where} breaks off`);
      rest = rest.subarray(1);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
      assert.ok(shift < 63n, `a number of ${where} is too long`);
    }
  };
  const take = (size: number): Buffer => {
    assert.ok(rest.length >= size, `${where} breaks off`);
    const taken = rest.subarray(0, size);
    rest = rest.subarray(size);
    return taken;
  };
  while (rest.length > 0) {
    const tag = Number(varint());
    const field = message[tag >> 3] ?? assert.fail(`${where} has no field ${tag >> 3}`);
    const at = `${where}.${field.name}`;
    assert.equal(tag & 7, wireTypeOf(field.type), `${at} has another type`);
    const wire = tag & 7;
    const raw = wire === 0 ? varint() : take(wire === 1 ? 8 : Number(varint()));
    const value = readValue(field.type, raw, at);
    assert.ok(field.isList || !(field.name in read), `${at} is there twice`);
    read[field.name] = field.isList ? [...(read[field.name] ?? []), value] : value;
  }
  return read;
}

function wireTypeOf(type: Field['type']): number {
  if (type === 'bool' || type === 'int') return 0;
  return type === 'fixed64' || type === 'double' ? 1 : 2;
}

function readValue(type: Field['type'], raw: bigint | Buffer, at: string): unknown {
  if (typeof raw === 'bigint') {
    if (type === 'int') return Number(BigInt.asIntN(64, raw));
    assert.ok(raw <= 1n, `${at} is no boolean`);
    return raw === 1n;
  }
  if (type === 'fixed64') return raw.readBigUInt64LE();
  if (type === 'double') return raw.readDoubleLE();
  if (type === 'string') return new TextDecoder('utf-8', { fatal: true }).decode(raw);
  if (typeof type !== 'string') return readMessage(type, raw, at);
  assert.equal(raw.length, type === 'bytes16' ? 16 : 8, `${at} has ${raw.length} bytes`);
  assert.ok(
    raw.some((byte) => byte !== 0),
    `${at} is zero`,
  );
  return raw.toString('hex');
}
