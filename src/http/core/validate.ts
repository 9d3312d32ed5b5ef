import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import type { FieldError } from '../../app/core/refusal.ts';
import type { ApiSchema } from '../../contract/schema.ts';
import { memo } from '../../lib/memo.ts';
import { nearest } from '../../lib/nearest.ts';
import { HttpProblem } from './problem.ts';

/** Throws one problem that names all errors. */
export type Validator = (value: unknown) => void;

// SPEC H19
export function createValidator(schema: TSchema): Validator {
  let own: Compiled | undefined;
  return (value) => {
    own ??= compile(schema);
    if (own.Check(value)) return;
    const errors: FieldError[] = [];
    collect(schema as ApiSchema, value, '', errors);
    throw new HttpProblem('VALIDATION_FAILED', summarize(errors), errors);
  };
}

/** A list of a million wrong values needs no million sentences. */
const MAX_ERRORS = 50;

interface Compiled {
  Check(value: unknown): boolean;
  Errors(value: unknown): { readonly message: string }[];
}

/** Compiled at first use: compiling all operations at the start would delay the first request. */
const compile = memo((schema: object) => Compile(schema as TSchema) as unknown as Compiled);

function fits(schema: object, value: unknown): boolean {
  return compile(schema).Check(value);
}

/** Descends to the values that do not fit, but not below a schema that has its own message. */
function collect(schema: ApiSchema, value: unknown, path: string, errors: FieldError[]): void {
  if (errors.length >= MAX_ERRORS || fits(schema, value)) return;
  const message = schema['x-sluice-message'];
  if (message !== undefined) errors.push({ path, message });
  else if (schema.properties !== undefined) collectObject(schema, value, path, errors);
  else if (schema.items !== undefined) collectList(schema, value, path, errors);
  else errors.push({ path, message: compile(schema).Errors(value)[0]?.message ?? 'does not fit' });
}

function collectObject(schema: ApiSchema, value: unknown, path: string, errors: FieldError[]): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    errors.push({ path, message: 'must be an object' });
    return;
  }
  const { properties = {}, required = [] } = schema;
  const before = errors.length;
  for (const name of required) {
    if (!Object.hasOwn(value, name)) errors.push({ path: `${path}/${name}`, message: 'is required' });
  }
  for (const [name, item] of Object.entries(value)) {
    if (errors.length >= MAX_ERRORS) return;
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (known !== undefined) collect(known, item, `${path}/${name}`, errors);
    else if (schema.additionalProperties === false) {
      errors.push({ path: `${path}/${name}`, message: describeUnknown(name, Object.keys(properties)) });
    }
  }
  if (errors.length === before) errors.push(...brokenRules(schema, value, path));
}

// SPEC H36
function brokenRules(schema: ApiSchema, value: object, path: string): FieldError[] {
  const { dependentRequired = {}, dependentSchemas = {}, 'x-sluice-rule': own = 'does not fit' } = schema;
  const missing = Object.entries(dependentRequired)
    .filter(([given]) => Object.hasOwn(value, given))
    .flatMap(([given, needed]) => needed.map((name) => ({ given, name })))
    .filter(({ name }) => !Object.hasOwn(value, name))
    .map(({ given, name }) => ({ path: `${path}/${name}`, message: `is required with ${given}` }));
  const rules = Object.entries(dependentSchemas)
    .filter(([given, rule]) => Object.hasOwn(value, given) && !fits(rule, value))
    .map(([, rule]) => ({ path: `${path}/${rule['x-sluice-field']}`, message: rule['x-sluice-rule'] ?? own }));
  const broken = [...missing, ...rules];
  const { 'x-sluice-field': field } = schema;
  return broken.length > 0 ? broken : [{ path: field === undefined ? path : `${path}/${field}`, message: own }];
}

function collectList(schema: ApiSchema, value: unknown, path: string, errors: FieldError[]): void {
  if (!Array.isArray(value)) {
    errors.push({ path, message: 'must be a list' });
    return;
  }
  const { items = {}, minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema;
  if (value.length < minItems) errors.push({ path, message: `must have at least ${minItems} items` });
  if (value.length > maxItems) {
    errors.push({ path, message: `must have at most ${maxItems} items` });
    return;
  }
  const before = errors.length;
  for (const [index, item] of value.entries()) {
    if (errors.length >= MAX_ERRORS) return;
    collect(items, item, `${path}/${index}`, errors);
  }
  if (errors.length === before && value.length >= minItems) errors.push({ path, message: 'must not repeat an item' });
}

function summarize(errors: readonly FieldError[]): string {
  const [first] = errors;
  if (first === undefined) return 'The request does not fit.';
  const where = first.path === '' ? 'The body' : first.path.slice(1).replaceAll('/', '.');
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  const sentence = `${where} ${first.message}${more}`;
  return sentence.endsWith('?') ? sentence : `${sentence}.`;
}

// SPEC H7
function describeUnknown(name: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  return meant === undefined ? 'is not known here' : `is not known here; did you mean "${meant}"?`;
}
