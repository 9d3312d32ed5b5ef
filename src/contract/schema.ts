import {
  type Static,
  type StaticDecode,
  type TCodec,
  type TOptional,
  type TProperties,
  type TSchema,
  type TUnsafe,
  Type,
} from 'typebox';
import type { Instant } from '../lib/clock.ts';

/**
 * Building blocks of the contract. Keys that start with `x-sluice-` are for us and never reach the OpenAPI document:
 * `component` names a schema that the document describes once, `message` is the sentence for a value that does not fit,
 * `lower` marks an enum that the /trunk/v1 mount shows in lower case, `shown` is an enum in the one spelling of the
 * document, where more are accepted, `rule` the sentence for fields that fit only one by one,
 * `field` the one that it is about, `shown-rules` conditions of the document that the domain checks, together with
 * everything else that it knows, `read` converts a value of a request that fits.
 */
interface SluiceKeywords {
  readonly 'x-sluice-component'?: string;
  readonly 'x-sluice-message'?: string;
  readonly 'x-sluice-lower'?: true;
  readonly 'x-sluice-shown'?: readonly string[];
  readonly 'x-sluice-rule'?: string;
  readonly 'x-sluice-shown-rules'?: object;
  readonly 'x-sluice-field'?: string;
  readonly 'x-sluice-read'?: (value: never) => unknown;
}

/** The part of JSON Schema that the contract uses. */
export interface ApiSchema extends SluiceKeywords {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly contentMediaType?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, ApiSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
  readonly items?: ApiSchema;
  readonly anyOf?: readonly ApiSchema[];
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly pattern?: string;
  readonly dependentRequired?: Readonly<Record<string, readonly string[]>>;
  readonly dependentSchemas?: Readonly<Record<string, ApiSchema>>;
}

/** A value of the schema. It is only read, so that immutable state of the app fits too. */
export type View<Schema extends TSchema> = Immutable<Static<Schema>>;

/** A request as its use case gets it: validated, and with every value read. */
export type Received<Schema extends TSchema> = Immutable<StaticDecode<Schema>>;

/** For a view that always has fields which the contract calls optional. */
export type WithRequired<Whole, Keys extends keyof Whole> = Whole & Required<Pick<Whole, Keys>>;

type Plain = string | number | boolean | null | undefined;
type Immutable<T> = T extends Plain ? T : T extends object ? { readonly [Key in keyof T]: Immutable<T[Key]> } : T;

export function component<T extends TSchema>(name: string, schema: T): T {
  return { ...schema, 'x-sluice-component': name };
}

/** Reads what fits the schema as another value. It throws a RangeError for what is none. */
export function readAs<Schema extends TSchema, Value>(
  schema: Schema,
  read: (value: Static<Schema>) => Value,
): TCodec<Schema, Value> {
  return { ...schema, 'x-sluice-read': read } as unknown as TCodec<Schema, Value>;
}

/** An object that the document describes once. */
export function record<Fields extends TProperties>(name: string, description: string, fields: Fields) {
  return component(name, object(description, fields));
}

export function object<Fields extends TProperties>(description: string, fields: Fields) {
  return Type.Object(fields, { description });
}

/** An object that refuses other fields. */
export function closed<Fields extends TProperties>(fields: Fields) {
  return Type.Object(fields, { additionalProperties: false });
}

export function optional<Fields extends TProperties>(fields: Fields) {
  const entries = Object.entries(fields).map(([name, schema]) => [name, Type.Optional(schema)]);
  return Object.fromEntries(entries) as { [Name in keyof Fields]: TOptional<Fields[Name]> };
}

export function list<Item extends TSchema>(items: Item, description: string) {
  return Type.Array(items, { description });
}

export function text(description: string) {
  return Type.String({ description });
}

export function integer(description: string) {
  return Type.Integer({ description });
}

/** How many of something a request asks for. */
export function limitTo(maximum: number, initial = 50, description = 'How many at most.') {
  return Type.Integer({ minimum: 1, maximum, default: initial, description });
}

export function number(description: string) {
  return Type.Number({ description });
}

export function boolean(description: string) {
  return Type.Boolean({ description });
}

/** A recursive schema: `build` gets the reference to itself. */
export function recursive<T>(name: string, build: (self: TUnsafe<T>) => TSchema): TUnsafe<T> {
  const self = Type.Unsafe<T>({ $ref: `${name}#` });
  return component(name, Type.Unsafe<T>({ ...build(self), $id: name }));
}

// SPEC H8
export function outputEnum<const Values extends readonly string[]>(
  values: Values,
  description: string,
): TUnsafe<Values[number]> {
  return Type.Unsafe<Values[number]>({ type: 'string', enum: [...values], description, 'x-sluice-lower': true });
}

/** A code from a list that grows. Its case follows the mount, like that of enums. */
export function outputCode(description: string) {
  return Type.String({ description, 'x-sluice-lower': true });
}

/** An enum in a reply that is the same on both mounts. */
export function fixedEnum<const Values extends readonly string[]>(
  values: Values,
  description: string,
): TUnsafe<Values[number]> {
  return Type.Unsafe<Values[number]>({ type: 'string', enum: [...values], description });
}

/** An enum in a request, accepted in either case and read in upper case. Generators of clients need one spelling. */
// SPEC H8, H35
export function inputEnum<const Values extends readonly string[]>(values: Values, description: string) {
  type Value = Values[number];
  const schema = Type.Unsafe<Value | Lowercase<Value>>({
    type: 'string',
    enum: [...values, ...values.map((value) => value.toLowerCase())],
    description,
    'x-sluice-shown': values,
    'x-sluice-message': `must be one of ${values.join(', ')}`,
  });
  return readAs(schema, (value) => value.toUpperCase() as Value);
}

export function instant(description: string) {
  return Type.String({ format: 'date-time', description, examples: ['2026-09-17T10:16:02.000Z'] });
}

/** An instant in a request, in RFC 3339 with a time zone. */
export function inputInstant(description: string) {
  const schema = Type.String({
    format: 'date-time',
    description,
    'x-sluice-message': 'must be an instant with a time zone, such as 2026-09-17T10:16:02.000Z',
  });
  return readAs(schema, readInstant);
}

/** 9999-12-31T23:59:59.999Z, the last instant that the format can express. */
const LAST_INSTANT = 253_402_300_799_999;

/** The format allows leap seconds, which JavaScript has not, and the year 10000 by way of a time zone. */
function readInstant(given: string): Instant {
  const parsed = Date.parse(given);
  if (parsed <= LAST_INSTANT) return parsed;
  throw new RangeError('is not an instant that exists');
}

export function uuid(description: string) {
  return Type.String({ format: 'uuid', description });
}

export function inputUuid(description: string) {
  const schema = Type.String({ format: 'uuid', description, 'x-sluice-message': 'must be a UUID' });
  return readAs(schema, (id) => id.toLowerCase());
}

/** A text of this pattern. `message` is the sentence about any other one. */
export function patternText(pattern: string, description: string, message: string) {
  return Type.String({ pattern, description, 'x-sluice-message': message });
}

/** A name that people choose: not empty, without control characters, of limited length. */
export function nameText(maxLength: number, description: string) {
  return Type.String({
    minLength: 1,
    maxLength,
    pattern: '^[^\\u0000-\\u001f\\u007f]+$',
    description,
    'x-sluice-message': `must be a text of 1 to ${maxLength} characters without control characters`,
  });
}

/** The set of String.trim, spelled out because `\\s` differs between the languages that read the contract. */
const SPACE = ' \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff';

/** A name that is compared with others, so that it has no spaces at its ends. */
export function trimmedText(maxLength: number, description: string) {
  return Type.String({
    minLength: 1,
    maxLength,
    pattern: `^(?![${SPACE}])[^\\u0000-\\u001f\\u007f]*[^\\u0000-\\u001f\\u007f${SPACE}]$`,
    description,
    'x-sluice-message': `must be a text of 1 to ${maxLength} characters without control characters and without spaces at its ends`,
  });
}

type JsonTypes = { string: string; integer: number; number: number; boolean: boolean };

/** A value or null, in the form that serializes fastest. */
export function nullable<Kind extends keyof JsonTypes>(
  type: Kind,
  description: string,
): TUnsafe<JsonTypes[Kind] | null> {
  return Type.Unsafe<JsonTypes[Kind] | null>({ type: [type, 'null'], description });
}

export function nullableInstant(description: string) {
  return Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time', description });
}

/** Generators of clients pass over `if`, and would make types without fields of the members of an `anyOf`. */
export function exactlyOneOf(one: string, other: string) {
  return {
    if: { required: [one] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
    then: { not: { required: [other] } },
    else: { required: [other] },
    'x-sluice-rule': `must have exactly one of ${one} and ${other}`,
  };
}

/** Of two optional fields, a request gives both or none. */
export function bothOrNone(one: string, other: string) {
  return { dependentRequired: { [one]: [other], [other]: [one] } };
}

/** `field` is required where `key` has this value, and refused elsewhere. */
export function onlyWhen(field: string, key: string, value: string) {
  return {
    dependentSchemas: {
      [key]: {
        if: { properties: { [key]: inputEnum([value], '') } },
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
        then: { required: [field] },
        else: { not: { required: [field] } },
        'x-sluice-field': field,
        'x-sluice-rule': `is required when ${key} is ${value}, and only then`,
      },
    },
  };
}

/** A request whose `key` fits the schema `value` also fits `then`. The sentence of a refusal is about `field`. */
export function whenKeyIs(
  { key, value }: { readonly key: string; readonly value: object },
  then: object,
  { field, text: sentence }: { readonly field: string; readonly text: string },
) {
  const rule = { 'x-sluice-field': field, 'x-sluice-rule': sentence };
  return { dependentSchemas: { [key]: { if: { properties: { [key]: value } }, then, ...rule } } };
}

export function nullableList<T>(items: TSchema, description: string): TUnsafe<T[] | null> {
  return Type.Unsafe<T[] | null>({ type: ['array', 'null'], items, description });
}

/** Free text: not blank, with any line breaks. */
export function plainText(maxLength: number, description: string) {
  return Type.String({
    minLength: 1,
    maxLength,
    pattern: `[^\\t\\n\\r${SPACE}]`,
    description,
    'x-sluice-message': `must be a text of 1 to ${maxLength} characters that is not blank`,
  });
}

/** A schema without our own keywords, for code that knows only JSON Schema. */
export function publicSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(publicSchema);
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key]) => !key.startsWith('x-sluice-'))
      .map(([key, value]) => [key, publicSchema(value)]),
  );
}
