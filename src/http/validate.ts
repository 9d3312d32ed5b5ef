import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Settings } from 'typebox/system';
import type { FieldError } from '../app/refusal.ts';
import type { SluiceKeywords } from './contract/schema.ts';
import { Problem } from './problem.ts';

interface SchemaError {
  readonly keyword: string;
  readonly schemaPath: string;
  readonly instancePath: string;
  readonly params: object;
  readonly message: string;
}

/** Throws a problem that names everything that is wrong, all at once. */
export type Validator = (value: unknown) => void;

export function createValidator(schema: TSchema): Validator {
  // Compiled at the first use: a server answers its first request sooner than it could compile all operations.
  let compiled: { Check(value: unknown): boolean; Errors(value: unknown): SchemaError[] } | undefined;
  return (value) => {
    compiled ??= Compile(schema) as never;
    if (compiled.Check(value)) return;
    const errors = describeErrors(schema, compiled.Errors(value));
    const [first] = errors;
    const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
    throw new Problem('VALIDATION_FAILED', `${sentenceOf(first)}${more}.`, errors);
  };
}

function sentenceOf(error: FieldError | undefined): string {
  if (error === undefined) return 'The request does not fit';
  return `${error.path === '' ? 'The body' : error.path.slice(1).replaceAll('/', '.')} ${error.message}`;
}

// The default stops at eight, and every unknown key counts as two.
Settings.Set({ maxErrors: 10_000 });

/** At most this many: a list of a million wrong values needs no million sentences. */
const MAX_ERRORS = 50;

function describeErrors(schema: TSchema, found: readonly SchemaError[]): FieldError[] {
  const byPath = new Map<string, string>();
  for (const error of found.flatMap((each) => describe(schema, each))) {
    if (!byPath.has(error.path) && byPath.size < MAX_ERRORS) byPath.set(error.path, error.message);
  }
  return [...byPath].map(([path, message]) => ({ path, message }));
}

function describe(schema: TSchema, error: SchemaError): FieldError[] {
  const own = findOwnMessage(schema, error);
  if (own !== undefined) return [own];
  const { requiredProperties = [], additionalProperties = [] } = error.params as Record<string, string[]>;
  switch (error.keyword) {
    case 'required':
      return requiredProperties.map((name) => ({ path: `${error.instancePath}/${name}`, message: 'is required' }));
    case 'additionalProperties':
      return additionalProperties.map((name) => ({
        path: `${error.instancePath}/${name}`,
        message: describeUnknown(name, schema),
      }));
    case 'boolean':
      // Says of an unknown key once more what additionalProperties said.
      return [];
    default:
      return [{ path: error.instancePath, message: error.message }];
  }
}

/** The outermost schema around the error that has a sentence of its own speaks for everything inside it. */
function findOwnMessage(schema: TSchema, error: SchemaError): FieldError | undefined {
  const steps = error.schemaPath.split('/').slice(1);
  const values = error.instancePath.split('/').slice(1);
  let node: unknown = schema;
  let depth = 0;
  while (steps.length > 0 && node !== undefined) {
    const step = steps.shift() as string;
    node = (node as Record<string, unknown>)[step];
    if (step === 'properties') node = (node as Record<string, unknown>)[steps.shift() as string];
    if (step === 'properties' || step === 'items') depth++;
    const message = (node as SluiceKeywords | undefined)?.['x-sluice-message'];
    if (message !== undefined) return { path: ['', ...values.slice(0, depth)].join('/'), message };
  }
  return undefined;
}

function describeUnknown(name: string, schema: TSchema): string {
  const known = Object.keys((schema as { properties?: object }).properties ?? {});
  const [nearest] = known
    .map((key) => ({ key, distance: editDistance(name.toLowerCase(), key.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance);
  if (nearest === undefined || nearest.distance > Math.max(3, name.length / 2)) return 'is not known here';
  return `is not known here; did you mean "${nearest.key}"?`;
}

function editDistance(a: string, b: string): number {
  if (a.length > 100) return a.length;
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min((row[j] as number) + 1, (next[j - 1] as number) + 1, substitution));
    }
    row = next;
  }
  return row[b.length] as number;
}
