import type { TSchema } from 'typebox';
import type { ApiSchema } from '../../contract/schema.ts';
import { invalidField } from './problem.ts';

/** `path` is the JSON pointer of the value. */
export type Convert = (value: unknown, path: string) => unknown;

/** Converts a validated request as its schema says. Undefined where nothing in it is converted. */
export function createReader(schema: TSchema): Convert | undefined {
  return convertParts(
    schema as ApiSchema,
    ({ 'x-sluice-read': read }) => read && ((value, path) => tryRead(read, value, path)),
  );
}

function tryRead(read: (value: never) => unknown, value: unknown, path: string): unknown {
  try {
    return read(value as never);
  } catch (error) {
    throw error instanceof RangeError ? invalidField(path, error.message) : error;
  }
}

/** Converts a reply to one with enums in lower case. Undefined where it has none, so that most values are not copied. */
// SPEC H9
export function createLowering(schema: TSchema): Convert | undefined {
  return convertParts(schema as ApiSchema, (node) => (node['x-sluice-lower'] ? lower : undefined));
}

function lower(value: unknown): unknown {
  return typeof value === 'string' ? value.toLowerCase() : value;
}

type ConvertOf = (node: ApiSchema) => Convert | undefined;

function convertParts(node: ApiSchema, of: ConvertOf): Convert | undefined {
  const convert = of(node) ?? convertItems(node, of) ?? convertFields(node, of) ?? convertAny(node, of);
  return convert && ((value, path) => (value === undefined || value === null ? value : convert(value, path)));
}

function convertItems({ items }: ApiSchema, of: ConvertOf): Convert | undefined {
  const convert = items && convertParts(items, of);
  return convert && ((list, path) => (list as unknown[]).map((item, index) => convert(item, `${path}/${index}`)));
}

function convertFields({ properties = {} }: ApiSchema, of: ConvertOf): Convert | undefined {
  const converts = Object.entries(properties).flatMap(([name, field]) => {
    const convert = convertParts(field, of);
    return convert === undefined ? [] : [[name, convert] as const];
  });
  if (converts.length === 0) return undefined;
  return (value, path) => {
    const copy: Record<string, unknown> = { ...(value as object) };
    for (const [name, convert] of converts) {
      if (copy[name] !== undefined) copy[name] = convert(copy[name], `${path}/${name}`);
    }
    return copy;
  };
}

/** A value is converted as the alternatives of its kind say: the fields of all objects together, a list, or another value. */
function convertAny({ anyOf = [] }: ApiSchema, of: ConvertOf): Convert | undefined {
  const fields = convertFields({ properties: Object.assign({}, ...anyOf.map(({ properties }) => properties)) }, of);
  const list = anyOf.map((each) => convertItems(each, of)).find(Boolean);
  const plain = anyOf
    .map((each) => ((each.properties ?? each.items) ? undefined : convertParts(each, of)))
    .find(Boolean);
  if (fields === undefined && list === undefined && plain === undefined) return undefined;
  return (value, path) => {
    const convert = Array.isArray(value) ? list : typeof value === 'object' ? fields : plain;
    return convert === undefined ? value : convert(value, path);
  };
}
