import { readFileSync } from 'node:fs';
import { Ajv, type ValidateFunction } from 'ajv';
import type { Answer } from './exchange.ts';

const NAME = 'github';
/** Statuses that every route may answer, listed in the description or not. */
const ALWAYS = new Set([301, 304, 307, 400, 401, 403, 404, 422, 429, 501]);

const JSON_SCHEMA = 'content/application~1json/schema';

interface Description {
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

let loaded: { readonly ajv: Ajv; readonly description: Description } | undefined;
const compiled = new Map<string, ValidateFunction>();

function load() {
  if (loaded !== undefined) return loaded;
  const text = readFileSync(new URL('generated/api.github.com.json', import.meta.resolve('@octokit/openapi')), 'utf8');
  const description = JSON.parse(text) as Description;
  correct(description);
  allowNull(description);
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
  ajv.addSchema(description, NAME);
  loaded = { ajv, description };
  return loaded;
}

/** The description wrongly forbids a null description of a label. */
function correct({ components: { schemas } }: Description): void {
  const { properties } = schemas['pull-request-simple'] as LabelledSchema;
  properties.labels.items.properties.description.nullable = true;
}

interface LabelledSchema {
  readonly properties: {
    readonly labels: { readonly items: { readonly properties: { readonly description: { nullable?: boolean } } } };
  };
}

/** ajv does not understand `nullable` without a type, so it is rewritten. */
function allowNull(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const inner of Object.values(value)) allowNull(inner);
  const schema = value as Record<string, unknown>;
  if (schema['nullable'] !== true) return;
  const words = schema['enum'];
  if (Array.isArray(words) && !words.includes(null)) words.push(null);
  if (schema['type'] !== undefined) return;
  const { nullable: _nullable, ...rest } = schema;
  for (const key of Object.keys(schema)) delete schema[key];
  schema['anyOf'] = [{ type: 'null' }, rest];
}

/** Tells how an answer violates GitHub's OpenAPI description. Undefined when it does not. */
export function findViolation(route: string, { status, body }: Answer): string | undefined {
  if (status === 304 || Buffer.isBuffer(body)) return undefined;
  const listed = `${placeOf(route)}/responses/${status}`;
  const response = find(listed) as { readonly $ref?: string } | undefined;
  if (response === undefined) return ALWAYS.has(status) ? undefined : `${route} never answers ${status}.`;
  const place = `${response.$ref?.slice(1) ?? listed}/${JSON_SCHEMA}`;
  if (find(place) === undefined)
    return body === undefined || status >= 400 ? undefined : `${route} ${status} has no body at GitHub.`;
  const problems = problemsOf(place, body === undefined ? undefined : JSON.parse(JSON.stringify(body)));
  return problems.length === 0 ? undefined : `${route} ${status}: ${problems.join(' ')}`;
}

/** Tells how a request violates GitHub's description. Undefined when it does not. */
export function findRequestProblem(route: string, body: unknown): string | undefined {
  const place = `${placeOf(route)}/requestBody/${JSON_SCHEMA}`;
  const problems = find(place) === undefined ? [] : problemsOf(place, body);
  return problems.length === 0 ? undefined : problems.join(' ');
}

/** The same for webhook payloads, such as `pull-request-opened`. */
export function findPayloadViolation(name: string, payload: unknown): string | undefined {
  const problems = problemsOf(`/components/schemas/webhook-${name}`, payload);
  return problems.length === 0 ? undefined : `${name}: ${problems.join(' ')}`;
}

/** The violations of the schema at this place of the description. */
function problemsOf(place: string, value: unknown): readonly string[] {
  const validate = compiled.get(place) ?? load().ajv.compile({ $ref: `${NAME}#${place}` });
  compiled.set(place, validate);
  if (validate(value)) return [];
  const texts = (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath || 'The body'} ${message}.`);
  return [...new Set(texts)].slice(0, 5);
}

function placeOf(route: string): string {
  const [method = '', path = ''] = route.split(' ');
  return `/paths/${escapePart(path)}/${method.toLowerCase()}`;
}

function find(place: string): unknown {
  return place.split('/').slice(1).reduce<unknown>(step, load().description);
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
