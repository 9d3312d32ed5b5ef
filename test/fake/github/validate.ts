import { readFileSync } from 'node:fs';
import { Ajv, type ValidateFunction } from 'ajv';
import type { Answer } from './exchange.ts';

const NAME = 'github';
/** Statuses that every route may answer, listed in the description or not. */
const ALWAYS = new Set([301, 304, 307, 400, 401, 403, 404, 422, 429, 501]);

/** The description wants an account to be a user and an enterprise at once here. */
const CORRECTED: Readonly<Record<string, object>> = {
  'GET /app/installations 200': { type: 'array', items: { $ref: `${NAME}#/components/schemas/installation` } },
};

interface Description {
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly responses: Record<string, unknown> }>>>>;
}

let loaded: { readonly ajv: Ajv; readonly description: Description } | undefined;
const compiled = new Map<string, ValidateFunction | undefined>();

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
export function findViolation(route: string, answer: Answer): string | undefined {
  const { status, body } = answer;
  if (status === 304 || Buffer.isBuffer(body)) return undefined;
  const validate = validatorOf(route, status);
  if (validate === 'unlisted') return ALWAYS.has(status) ? undefined : `${route} never answers ${status}.`;
  if (validate === undefined)
    return body === undefined || status >= 400 ? undefined : `${route} ${status} has no body at GitHub.`;
  const wire: unknown = body === undefined ? undefined : JSON.parse(JSON.stringify(body));
  if (validate(wire)) return undefined;
  const errors = (validate.errors ?? []).slice(0, 5).map(({ instancePath, message }) => `${instancePath} ${message}`);
  return `${route} ${status}: ${errors.join('; ')}`;
}

function validatorOf(route: string, status: number): ValidateFunction | 'unlisted' | undefined {
  const key = `${route} ${status}`;
  if (compiled.has(key)) return compiled.get(key);
  const { ajv, description } = load();
  const [method = '', path = ''] = route.split(' ');
  const pointer = pointerTo(description, [path, method.toLowerCase()], status);
  if (pointer === 'unlisted') return 'unlisted';
  const validate = pointer === undefined ? undefined : ajv.compile(CORRECTED[key] ?? { $ref: `${NAME}#${pointer}` });
  compiled.set(key, validate);
  return validate;
}

/** Path to the body's schema in the description. Undefined when there is none. */
function pointerTo(description: Description, [path, method]: [string, string], status: number) {
  const responses = description.paths[path]?.[method]?.responses;
  const own = responses?.[String(status)];
  if (own === undefined) return 'unlisted';
  const ref = (own as { $ref?: string }).$ref?.slice(1);
  const at = ref ?? `/paths/${escapePart(path)}/${method}/responses/${status}`;
  const response = at.split('/').slice(1).reduce<unknown>(step, description) as { content?: Record<string, unknown> };
  return response.content?.['application/json'] === undefined
    ? undefined
    : `${at}/content/${escapePart('application/json')}/schema`;
}

function step(value: unknown, part: string): unknown {
  return (value as Record<string, unknown> | undefined)?.[
    decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
  ];
}

function escapePart(part: string): string {
  return encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));
}

/** Tells how a request violates GitHub's description. Undefined when it does not. */
export function findRequestProblem(route: string, body: unknown): string | undefined {
  const key = `request ${route}`;
  const { ajv, description } = load();
  const [method = '', path = ''] = route.split(' ');
  const at = `/paths/${escapePart(path)}/${method.toLowerCase()}/requestBody/content/${escapePart('application/json')}/schema`;
  const isDescribed = at.split('/').slice(1).reduce<unknown>(step, description) !== undefined;
  if (!compiled.has(key)) compiled.set(key, isDescribed ? ajv.compile({ $ref: `${NAME}#${at}` }) : undefined);
  const validate = compiled.get(key);
  if (validate === undefined || validate(body)) return undefined;
  const errors = (validate.errors ?? []).map(
    ({ instancePath, message }) => `${instancePath || 'The body'} ${message}.`,
  );
  return [...new Set(errors)].slice(0, 5).join(' ');
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

/** The same for webhook payloads, such as `pull-request-opened`. */
export function findPayloadViolation(name: string, payload: unknown): string | undefined {
  const key = `webhook ${name}`;
  const { ajv } = load();
  const validate = compiled.get(key) ?? ajv.compile({ $ref: `${NAME}#/components/schemas/webhook-${name}` });
  compiled.set(key, validate);
  if (validate(payload)) return undefined;
  const errors = (validate.errors ?? []).slice(0, 5).map(({ instancePath, message }) => `${instancePath} ${message}`);
  return `${name}: ${errors.join('; ')}`;
}
