import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Ajv, ValidateFunction } from 'ajv';
import type { Answer } from '../hosted/answer.ts';

const NAME = 'github';
/** Statuses that every route may answer, listed in the description or not. */
const ALWAYS = new Set([301, 304, 307, 400, 401, 403, 404, 422, 429, 501]);

/** Modules that only compiling needs are loaded then. */
const require = createRequire(import.meta.url);

const JSON_SCHEMA = 'content/application~1json/schema';

interface Description {
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

interface Loaded {
  readonly description: Description;
  /** Tells what is wrong. */
  readonly strict: Ajv;
  /** Adds what is missing first. */
  readonly completing: Ajv;
}

let loaded: Loaded | undefined;

function load(): Loaded {
  if (loaded !== undefined) return loaded;
  const text = readFileSync(new URL('generated/api.github.com.json', import.meta.resolve('@octokit/openapi')), 'utf8');
  const description = JSON.parse(text) as Description;
  correct(description);
  addDefaults(description);
  allowNull(description);
  const create = (useDefaults: boolean): Ajv => {
    const options = { strict: false, allErrors: true, validateFormats: false, useDefaults, code: { source: true } };
    return new (require('ajv').Ajv)(options).addSchema(description, NAME);
  };
  loaded = { description, strict: create(false), completing: create(true) };
  return loaded;
}

/**
 * The description wrongly forbids a null description of a label. It has alternatives for accounts, of which the fake
 * has one; ajv completes no alternatives.
 */
function correct({ components: { schemas }, paths }: Description): void {
  const { properties } = schemas['pull-request-simple'] as LabelledSchema;
  properties.labels.items.properties.description.nullable = true;
  const user = { $ref: '#/components/schemas/simple-user' };
  for (const name of ['integration', 'nullable-integration'])
    Object.assign((schemas[name] as { properties: object }).properties, { owner: user });
  Object.assign((schemas['installation'] as { properties: object }).properties, { account: user });
  const own = step(paths['/user']?.['get'], 'responses');
  Object.assign(['200', 'content', 'application/json'].reduce(step, own) as object, {
    schema: { $ref: '#/components/schemas/public-user' },
  });
}

interface LabelledSchema {
  readonly properties: {
    readonly labels: { readonly items: { readonly properties: { readonly description: { nullable?: boolean } } } };
  };
}

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly nullable?: boolean;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  default?: unknown;
}

/** Every required field gets a neutral value, so that views name only the fields that mean something here. */
function addDefaults(description: Description): void {
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const { required, properties } = value as Schema;
    if (Array.isArray(required))
      for (const name of required) {
        const schema = properties?.[name];
        if (schema !== undefined) schema.default = neutralOf(description, schema);
      }
    for (const inner of Object.values(value)) visit(inner);
  };
  visit(description);
}

const NEUTRAL: Readonly<Record<string, unknown>> = { string: '', boolean: false, array: [], object: {} };

function neutralOf(description: Description, schema: Schema): unknown {
  if (schema.nullable === true) return null;
  if (schema.$ref !== undefined) return neutralOf(description, findIn(description, schema.$ref.slice(1)) as Schema);
  const [first] = schema.oneOf ?? schema.anyOf ?? [];
  if (first !== undefined) return neutralOf(description, first);
  if (schema.enum !== undefined) return schema.enum[0];
  return schema.type === 'integer' || schema.type === 'number'
    ? (schema.minimum ?? 0)
    : NEUTRAL[schema.type ?? 'object'];
}

/** ajv does not understand `nullable` without a type, so it is rewritten. It adds no defaults inside of `anyOf`. */
function allowNull(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const inner of Object.values(value)) allowNull(inner);
  const schema = value as Record<string, unknown>;
  if (schema['nullable'] !== true) return;
  const words = schema['enum'];
  if (Array.isArray(words) && !words.includes(null)) words.push(null);
  if (schema['type'] !== undefined) return;
  const { nullable: _nullable, default: neutral, ...rest } = schema;
  for (const key of Object.keys(schema)) delete schema[key];
  Object.assign(schema, { if: { type: 'null' }, else: rest }, neutral === undefined ? {} : { default: neutral });
}

/** The answer with all fields that GitHub's description requires, and how it violates that description. */
export function completeAnswer(
  route: string,
  answer: Answer,
): { readonly answer: Answer; readonly violation?: string | undefined } {
  const { status, body } = answer;
  if (status === 304 || Buffer.isBuffer(body)) return { answer };
  const { isListed, validate } = rulesAt(`${placeOf(route)}/responses/${status}`);
  if (!isListed) return { answer, violation: ALWAYS.has(status) ? undefined : `${route} never answers ${status}.` };
  if (validate === undefined) {
    const isFine = body === undefined || status >= 400;
    return { answer, violation: isFine ? undefined : `${route} ${status} has no body at GitHub.` };
  }
  const whole: unknown = body === undefined ? undefined : JSON.parse(JSON.stringify(body));
  const problems = problemsOf(validate, whole);
  const violation = problems.length === 0 ? undefined : `${route} ${status}: ${problems.join(' ')}`;
  return { answer: { ...answer, body: whole }, violation };
}

/** Tells how a request violates GitHub's description. Undefined when it does not. */
export function findRequestProblem(route: string, body: unknown): string | undefined {
  const { validate } = rulesAt(`${placeOf(route)}/requestBody`);
  const problems = validate === undefined ? [] : problemsOf(validate, body);
  return problems.length === 0 ? undefined : problems.join(' ');
}

/** The same for a webhook payload, such as `pull-request-opened`. Missing fields do not count. */
export function findPayloadViolation(name: string, payload: unknown): string | undefined {
  const { validate } = rulesAt(`/components/schemas/webhook-${name}`);
  if (validate === undefined) return `GitHub describes no payload ${name}.`;
  const problems = problemsOf(validate, payload);
  return problems.length === 0 ? undefined : `${name}: ${problems.join(' ')}`;
}

interface Rules {
  /** Whether the description has this place. */
  readonly isListed: boolean;
  readonly validate?: ValidateFunction;
}

const known = new Map<string, Rules>();
const keptFolder = new URL('../../../.cache/github-api/', import.meta.url);

/**
 * The validator of each place is kept as a module, because compiling it takes longer than many tests, and the whole
 * description takes 100 MB of memory.
 */
function rulesAt(place: string): Rules {
  const rules = known.get(place) ?? require(keep(place));
  known.set(place, rules);
  return rules;
}

function keep(place: string): string {
  const file = fileURLToPath(new URL(`${digest(`${origin}${place}`)}.cjs`, keptFolder));
  if (existsSync(file)) return file;
  mkdirSync(keptFolder, { recursive: true });
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, compile(place));
  renameSync(unfinished, file);
  return file;
}

/** Changes with the description and with this file. */
const origin = digest(
  [new URL('package.json', import.meta.resolve('@octokit/openapi')), new URL(import.meta.url)]
    .map((url) => readFileSync(url, 'utf8'))
    .join(''),
);

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function compile(place: string): string {
  const value = find(place) as { readonly $ref?: string } | undefined;
  if (value === undefined) return 'exports.isListed = false;';
  const isSchema = place.startsWith('/components/schemas/');
  const at = isSchema ? place : `${value.$ref?.slice(1) ?? place}/${JSON_SCHEMA}`;
  const { strict, completing } = load();
  const ajv = place.endsWith('/requestBody') ? strict : completing;
  const code = find(at) === undefined ? '' : require('ajv/dist/standalone').default(ajv, { validate: `${NAME}#${at}` });
  return `${code}\nexports.isListed = true;\n`;
}

function problemsOf(validate: ValidateFunction, value: unknown): readonly string[] {
  if (validate(value)) return [];
  const texts = (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath || 'The body'} ${message}.`);
  return [...new Set(texts)].slice(0, 5);
}

function placeOf(route: string): string {
  const [method = '', path = ''] = route.split(' ');
  return `/paths/${escapePart(path)}/${method.toLowerCase()}`;
}

function find(place: string): unknown {
  return findIn(load().description, place);
}

function findIn(description: Description, place: string): unknown {
  return place.split('/').slice(1).reduce<unknown>(step, description);
}

function step(value: unknown, part: string): unknown {
  return (value as Record<string, unknown> | undefined)?.[
    decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
  ];
}

function escapePart(part: string): string {
  return encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));
}

/** Tells whether the real GitHub has this route. */
export function isKnownRoute(method: string, path: string): boolean {
  const parts = path.split('/');
  return Object.entries(load().description.paths).some(([template, methods]) => {
    const wanted = template.split('/');
    const isSame = (part: string, index: number) =>
      part === parts[index] || (part.startsWith('{') && parts[index] !== '');
    return method.toLowerCase() in methods && wanted.length === parts.length && wanted.every(isSame);
  });
}
