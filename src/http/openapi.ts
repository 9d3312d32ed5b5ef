import { STATUS_CODES } from 'node:http';
import { COMMON_ERRORS, ERRORS, type ErrorCode } from '../contract/errors.ts';
import type { Operation } from '../contract/operation.ts';
import { Unchanged } from '../contract/polled.ts';
import type { ApiSchema } from '../contract/schema.ts';
import { pascalCase, SchemaComponents } from './openapi-schemas.ts';

export interface ApiContent {
  readonly schema: ApiSchema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly $ref?: string; readonly value?: unknown }>>;
}

interface ApiResponse {
  readonly $ref?: string;
  readonly description?: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, ApiContent>>;
}

interface ApiParameter {
  readonly name: string;
  readonly in: 'query' | 'header';
  readonly required: boolean;
  readonly description: string | undefined;
  readonly schema: ApiSchema;
  readonly example: unknown;
}

interface ApiInput {
  readonly parameters?: readonly ApiParameter[];
  readonly requestBody?: {
    readonly required: true;
    readonly description: string;
    readonly content: Readonly<Record<string, ApiContent>>;
  };
}

export type ApiOperation = ReturnType<typeof describeOperation>;
export type OpenApi = ReturnType<typeof createOpenApi>;

interface Parts {
  readonly named: SchemaComponents;
  readonly responses: Record<string, ApiResponse>;
  readonly examples: Record<
    string,
    { readonly summary: string; readonly description: string; readonly value: unknown }
  >;
}

// SPEC H11
export function createOpenApi(operations: readonly Operation[], baseUrl: string) {
  const named = new SchemaComponents();
  named.describeWhole(PROBLEM_SCHEMA, 'Problem');
  const parts: Parts = { named, responses: {}, examples: {} };
  const tags = (Object.keys(TAGS) as Operation['tag'][]).filter((tag) => operations.some((each) => each.tag === tag));
  const sorted = tags.flatMap((tag) => operations.filter((operation) => operation.tag === tag));
  const paths = sorted.map((operation): [string, Readonly<Record<string, ApiOperation>>] => [
    operation.path,
    { [operation.method.toLowerCase()]: describeOperation(operation, parts) },
  ]);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sluice',
      version: '1.0.0',
      summary: 'A merge queue and flaky-test service.',
      description: INTRODUCTION,
      license: { name: 'MIT', identifier: 'MIT' },
      contact: { name: 'The administrators of this server', url: `${baseUrl}/docs` },
    },
    security: [{ token: [] }],
    servers: [{ url: `${baseUrl}/v1`, description: 'This server.' }],
    tags: tags.map((name) => ({ name: name as string, description: TAGS[name] })),
    paths: Object.fromEntries(paths),
    components: {
      schemas: named.schemas,
      responses: parts.responses,
      examples: parts.examples,
      headers: HEADERS,
      securitySchemes: {
        token: { type: 'apiKey', in: 'header', name: 'x-api-token', description: 'An API token; see createApiToken.' },
      },
    },
  };
}

const INTRODUCTION = [
  'Submit pull requests to a queue that lands only what was tested, and read which tests fail at random.',
  'Every operation but the metrics is a POST with a JSON body, uploads of test results apart, and answers JSON. A body may have 20 MiB. Enums in requests are accepted in either case. Unknown fields are refused where settings are written, and ignored elsewhere. Instants have a time zone; answers give them in UTC, such as `2026-09-17T10:16:02.000Z`.',
  'Every request carries an API token in the header `x-api-token`. A token belongs to one organization and holds scopes; `admin` has all of them but `instance`. What belongs to another organization does not exist for it. A token with the scope `instance` acts for the organization that the header `x-organization` names.',
  'Errors are problem documents (RFC 9457, `application/problem+json`) with a stable `code` and a `detail` that says what to do. Every answer names its request in the header `x-request-id`; the log of the server has the same id.',
  'The same operations are at `/trunk/v1` for clients that expect enums in lower case.',
].join('\n\n');

/** In the order of the documentation. */
const TAGS: { readonly [Tag in Operation['tag']]: string } = {
  'Pull requests': 'What happens to one pull request.',
  Queues: 'One queue for each branch, and what is in it.',
  'Flaky tests': 'Which tests fail, how often and since when.',
  Uploaders: 'What uploaders of test results call that already exist.',
  Repositories: 'What the server knows about repositories.',
  Access: 'Organizations and tokens.',
  Operations: 'Running a server.',
};

function describeOperation(operation: Operation, parts: Parts) {
  const [type] = (operation.replyType ?? 'application/json').split(';') as [string];
  const success = {
    description: operation.status === 202 ? 'Accepted: it is done later.' : 'Done.',
    headers: { ...COMMON_HEADERS, ...RATE_LIMIT_HEADERS },
    content: { [type]: { schema: describeReply(operation, parts), example: operation.example.reply } },
  };
  const responses: Readonly<Record<string, ApiResponse>> = {
    [operation.status ?? 200]: success,
    ...describeErrors(errorsOf(operation), parts),
  };
  return {
    operationId: operation.name,
    tags: [operation.tag] as readonly string[],
    summary: operation.summary,
    description: `${operation.description}\n\nNeeds the scope \`${operation.scope}\`.`,
    'x-required-scope': operation.scope,
    ...(operation.isForForks ? { security: [{ token: [] }, {}] } : {}),
    ...describeInput(operation, parts),
    responses,
  };
}

function errorsOf({ errors, isIdempotent }: Operation): readonly ErrorCode[] {
  return isIdempotent ? [...errors, 'IDEMPOTENCY_KEY_IN_USE', 'IDEMPOTENCY_KEY_REUSED'] : errors;
}

function describeReply(operation: Operation, { named }: Parts): ApiSchema {
  const name = `${pascalCase(operation.name)}Reply`;
  if (operation.isPolled && operation.polledBy === undefined) {
    const { anyOf = [operation.reply] } = operation.reply as ApiSchema;
    const description = 'The answer; or, where ifVersion is its version, that it is unchanged.';
    return named.describeWhole({ anyOf: [...anyOf, Unchanged], description }, name);
  }
  if (operation.bulkReply !== undefined) {
    const description = 'The entry; or, where the body has prs, how it went for each of them.';
    return named.describeWhole({ anyOf: [operation.reply, operation.bulkReply], description }, name);
  }
  return operation.replyType === undefined
    ? named.describeWhole(operation.reply, name)
    : named.describe(operation.reply, name);
}

function describeInput(operation: Operation, parts: Parts): ApiInput {
  if (operation.hasFiles) return describeFiles(operation, parts);
  if (operation.method === 'POST') {
    const schema = parts.named.describeWhole(operation.body, `${pascalCase(operation.name)}Request`);
    const content = { 'application/json': { schema, example: operation.example.body } };
    const parameters = [
      ...(operation.isForForks ? [FORK_HEADER] : []),
      ...(operation.isIdempotent ? [KEY_HEADER] : []),
    ];
    return {
      requestBody: { required: true, description: 'A JSON object.', content },
      ...(parameters.length > 0 ? { parameters } : {}),
    };
  }
  return { parameters: describeQuery(operation, parts) };
}

const KEY_HEADER: ApiParameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'A text of your own, new for each request. The same request with the same key within 24 hours is answered as the first time, without secrets, and changes nothing.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
  example: '8e03978e-40d5-43e8-bc93-6894a57f9324',
};

const FORK_HEADER: ApiParameter = {
  name: 'x-forked-workflow-run-id',
  in: 'header',
  required: false,
  description: 'Instead of a token, in CI of a fork: the id of the workflow run that makes this request.',
  schema: { type: 'string', pattern: '^[1-9][0-9]{0,18}$' },
  example: '7890123456',
};

function describeQuery(operation: Operation, { named }: Parts): readonly ApiParameter[] {
  const { properties = {}, required = [] } = operation.body as ApiSchema;
  const example = operation.example.body as Readonly<Record<string, unknown>>;
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query' as const,
    required: required.includes(name),
    description: schema.description,
    schema: named.describe(schema, pascalCase(operation.name) + pascalCase(name)),
    example: example[name],
  }));
}

/** The fields stand beside the files, or in the query with one file as the body. So none is always required. */
function describeFiles(operation: Operation, parts: Parts): ApiInput {
  const { properties = {}, required = [], ...rest } = operation.body as ApiSchema;
  const file: ApiSchema = { type: 'string', contentMediaType: 'application/octet-stream', description: 'One file.' };
  const files: ApiSchema = { type: 'array', items: file, minItems: 1, description: 'The files.' };
  const fields = { ...rest, properties: { ...properties, files }, required: [...required, 'files'] };
  const form = parts.named.describeWhole(fields, `${pascalCase(operation.name)}Form`);
  const example = { ...(operation.example.body as object), files: ['report.xml'] };
  return {
    requestBody: {
      required: true,
      description: 'A form with fields and files, or one file as it is, with the fields in the query.',
      content: {
        'multipart/form-data': { schema: form, example },
        'application/octet-stream': { schema: file, example: '<testsuites/>' },
      },
    },
    parameters: describeQuery(operation, parts).map((each) => ({ ...each, required: false })),
  };
}

/** One response for each status. It lists the codes of that status, each with an example. */
function describeErrors(own: readonly ErrorCode[], parts: Parts): Record<string, ApiResponse> {
  const common = new Set(COMMON_ERRORS);
  const byStatus = Map.groupBy(new Set([...COMMON_ERRORS, ...own]), (code) => ERRORS[code].status);
  const responses = [...byStatus].map(([status, codes]): [string, ApiResponse] => {
    if (!codes.every((code) => common.has(code))) return [String(status), describeError(status, codes, parts)];
    const name = (STATUS_CODES[status] ?? `Status ${status}`).replace(/\W/g, '');
    parts.responses[name] ??= describeError(status, codes, parts);
    return [String(status), { $ref: `#/components/responses/${name}` }];
  });
  return Object.fromEntries(responses);
}

function describeError(status: number, codes: readonly ErrorCode[], parts: Parts): ApiResponse {
  for (const code of codes) {
    const { title, help } = ERRORS[code];
    parts.examples[code] ??= { summary: title, description: help, value: exampleProblem(code) };
  }
  return {
    description: codes.map((code) => `${code}: ${ERRORS[code].title}.`).join(' '),
    headers: status === 429 || status === 503 ? { ...COMMON_HEADERS, ...RETRY_AFTER_HEADER } : COMMON_HEADERS,
    content: {
      'application/problem+json': {
        schema: { $ref: '#/components/schemas/Problem' },
        examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
      },
    },
  };
}

function exampleProblem(code: ErrorCode): Record<string, unknown> {
  const { status, title, help } = ERRORS[code];
  const problem = {
    type: `/docs#${code}`,
    title,
    status,
    detail: help.replaceAll('`', ''),
    code,
    requestId: '9f2c51d0a7b4-1',
  };
  if (code !== 'VALIDATION_FAILED') return problem;
  return { ...problem, detail: 'pr.number is required.', errors: [{ path: '/pr/number', message: 'is required' }] };
}

const HEADERS = {
  RequestId: {
    description: 'Names this request in the log.',
    schema: { type: 'string' },
    example: '9f2c51d0a7b4-1',
  },
  Version: { description: 'The version of the server.', schema: { type: 'string' }, example: '0.1.0' },
  RateLimitLimit: {
    description: 'Requests that the token may send in a window; only where the server has a rate limit.',
    schema: { type: 'integer', minimum: 1 },
    example: 20,
  },
  RateLimitRemaining: {
    description: 'Requests that are left of them now.',
    schema: { type: 'integer', minimum: 0 },
    example: 19,
  },
  RateLimitReset: {
    description: 'Seconds until all of them are there again.',
    schema: { type: 'integer', minimum: 0 },
    example: 1,
  },
  RetryAfter: { description: 'Seconds after which to try again.', schema: { type: 'integer', minimum: 1 }, example: 1 },
};

const COMMON_HEADERS = {
  'x-request-id': { $ref: '#/components/headers/RequestId' },
  'sluice-version': { $ref: '#/components/headers/Version' },
};
const RATE_LIMIT_HEADERS = {
  'ratelimit-limit': { $ref: '#/components/headers/RateLimitLimit' },
  'ratelimit-remaining': { $ref: '#/components/headers/RateLimitRemaining' },
  'ratelimit-reset': { $ref: '#/components/headers/RateLimitReset' },
};
const RETRY_AFTER_HEADER = { 'retry-after': { $ref: '#/components/headers/RetryAfter' } };

const PROBLEM_SCHEMA = {
  type: 'object',
  description: 'What went wrong (RFC 9457).',
  required: ['type', 'title', 'status', 'detail', 'code', 'requestId'],
  properties: {
    type: { type: 'string', format: 'uri-reference', description: 'Where the error is described.' },
    title: { type: 'string', description: 'The kind of error.' },
    status: { type: 'integer', description: 'The HTTP status.' },
    detail: { type: 'string', description: 'A sentence that says what to do.' },
    code: {
      'x-sluice-component': 'ErrorCode',
      type: 'string',
      enum: Object.keys(ERRORS),
      description: 'A stable code.',
    },
    requestId: { type: 'string', description: 'Names this request in the log.' },
    errors: {
      type: 'array',
      description: 'Everything that is wrong with the request, all at once.',
      items: {
        'x-sluice-component': 'FieldProblem',
        type: 'object',
        description: 'One problem.',
        required: ['path', 'message'],
        properties: {
          path: { type: 'string', description: 'Where, as a JSON pointer.' },
          message: { type: 'string', description: 'What is wrong.' },
        },
      },
    },
  },
};
