// Reads an ExportTraceServiceRequest of OTLP strictly: anything that the definitions of the protocol do not have is an error.
import assert from 'node:assert/strict';

/** The fields of each message: those that it must have, and those that it may have. */
const FIELDS = {
  request: [['resourceSpans'], []],
  resourceSpans: [['resource', 'scopeSpans'], []],
  scopeSpans: [['scope', 'spans'], []],
  span: [
    ['traceId', 'spanId', 'name', 'kind', 'startTimeUnixNano', 'endTimeUnixNano', 'attributes'],
    ['parentSpanId', 'status'],
  ],
  attribute: [['key', 'value'], []],
} as const;

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

// biome-ignore lint/suspicious/noExplicitAny: `read` checks which fields there are.
type Read = any;

export function decodeOtlp(body: Buffer): readonly DecodedSpan[] {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(body);
  return read('request', JSON.parse(text)).resourceSpans.flatMap((each: Read) => {
    const { resource, scopeSpans } = read('resourceSpans', each);
    return scopeSpans.flatMap((inner: Read) => {
      const { scope, spans } = read('scopeSpans', inner);
      return spans.map((span: Read) => toSpan(span, { resource: toAttributes(resource.attributes), scope }));
    });
  });
}

function read(message: keyof typeof FIELDS, given: Read): Read {
  const [required, optional] = FIELDS[message];
  for (const field of required) assert.ok(field in given, `${message} has no ${field}`);
  for (const field of Object.keys(given)) {
    assert.ok(
      [...required, ...optional].some((known) => known === field),
      `${message} has no field ${field}`,
    );
  }
  return given;
}

function toSpan(given: Read, of: { readonly resource: Attributes; readonly scope: unknown }): DecodedSpan {
  const { traceId, spanId, parentSpanId, name, kind, attributes, status, ...times } = read('span', given);
  const [start, end] = [toInstant(times.startTimeUnixNano), toInstant(times.endTimeUnixNano)];
  assert.ok(end >= start, `${name} ends before it starts`);
  assert.ok(status === undefined || status.code === 2, 'a status is an error here');
  return {
    ...{ ...of, traceId: toId(traceId, 32), spanId: toId(spanId, 16), name, start, end },
    parentId: parentSpanId === undefined ? undefined : toId(parentSpanId, 16),
    kind: ([undefined, 'internal', 'server', 'client'] as const)[kind] ?? assert.fail(`${kind} is no kind`),
    ...{ attributes: toAttributes(attributes), isError: status !== undefined },
  };
}

function toId(given: unknown, digits: number): string {
  assert.ok(
    typeof given === 'string' && given.length === digits && /^[0-9a-f]*[1-9a-f][0-9a-f]*$/.test(given),
    `${given}`,
  );
  return given;
}

function toInstant(given: unknown): bigint {
  assert.ok(typeof given === 'string' && /^[0-9]{19}$/.test(given), `${given} is no instant`);
  return BigInt(given);
}

function toAttributes(pairs: readonly Read[]): Attributes {
  const keys = pairs.map((pair) => read('attribute', pair).key);
  assert.equal(new Set(keys).size, keys.length, `a key is there twice: ${keys}`);
  return Object.fromEntries(pairs.map(({ key, value }) => [key, toValue(value)]));
}

function toValue(value: Read): unknown {
  const [[kind, content] = assert.fail('a value is empty'), ...more] = Object.entries(value) as [string, Read][];
  assert.deepEqual(more, [], 'a value has two kinds');
  if (kind === 'arrayValue') return content.values.map(toValue);
  if (kind === 'intValue') assert.match(content, /^-?[0-9]+$/);
  else assert.equal(`${typeof content}Value`, kind === 'boolValue' ? 'booleanValue' : kind.replace('double', 'number'));
  return kind === 'intValue' ? Number(content) : content;
}
