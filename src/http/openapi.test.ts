import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { pluck } from '../../test/helpers/pluck.ts';
import { ERRORS } from '../contract/errors.ts';
import type { Operation } from '../contract/operation.ts';
import type { ApiSchema } from '../contract/schema.ts';
import { parseMonitor } from '../flaky/parse-monitor.ts';
import type { Instant } from '../lib/clock.ts';
import { type ApiContent, createOpenApi } from './openapi.ts';
import { ROUTES } from './routes.ts';

const OPERATIONS = ROUTES.map((route) => route.operation);
const DOCUMENT = createOpenApi(OPERATIONS, 'https://sluice.example');
const DESCRIBED = Object.values(DOCUMENT.paths)
  .flatMap((methods) => Object.values(methods))
  .map((operation) => ({ operation, name: operation.operationId }));

describe('the OpenAPI document', () => {
  test('has every operation once, under the address and method that serve it [H11]', () => {
    const described = Object.entries(DOCUMENT.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => `${method.toUpperCase()} ${path} ${operationId}`),
    );
    const served = OPERATIONS.map(({ method, path, name }) => `${method} ${path} ${name}`);
    assert.deepEqual(described.toSorted(), served.toSorted());
    assert.equal(new Set(DESCRIBED.map(({ name }) => name)).size, OPERATIONS.length);
  });

  test('has the purpose, the scope and the answers of every operation', () => {
    const tags = new Set(DOCUMENT.tags.map((tag) => tag.name));
    for (const { operation, name } of DESCRIBED) {
      assert.ok(operation.summary.length > 0 && !operation.summary.endsWith('.'), `${name}: summary`);
      assert.ok(operation.description.length > 0, `${name}: description`);
      assert.ok(operation.tags.length === 1 && tags.has(operation.tags[0] as string), `${name}: tag`);
      assert.ok(operation['x-required-scope'].length > 0, `${name}: scope`);
      const statuses = Object.keys(operation.responses);
      assert.equal(statuses.filter((status) => status.startsWith('2')).length, 1, `${name}: success`);
      for (const status of ['400', '401', '403', '429', '500', '503']) {
        assert.ok(statuses.includes(status), `${name}: ${status}`);
      }
    }
  });

  test('has no reference that leads nowhere, and nothing that nothing refers to', () => {
    const references = collect(DOCUMENT, (node) => node.$ref);
    assert.ok(references.length > 0);
    for (const reference of references) assert.notEqual(follow(reference), undefined, reference);
    const { schemas, responses, examples, headers } = DOCUMENT.components;
    for (const [kind, named] of Object.entries({ schemas, responses, examples, headers })) {
      for (const name of Object.keys(named))
        assert.ok(references.includes(`#/components/${kind}/${name}`), `${kind}/${name}`);
    }
  });

  test('describes every field of every schema', () => {
    const bare: string[] = [];
    visitSchemas((schema, where) => {
      for (const [name, field] of Object.entries(schema.properties ?? {})) {
        if ((field.description ?? resolve(field).description ?? '') === '') bare.push(`${where}.${name}`);
      }
    });
    assert.deepEqual(bare, []);
  });

  test('requires only fields that it describes', () => {
    visitSchemas(({ properties, required = [] }, where) => {
      if (properties === undefined) return;
      for (const name of required) assert.ok(Object.hasOwn(properties, name), `${where}.${name}`);
    });
  });

  test('describes a schema that holds itself by a reference to itself', () => {
    const { properties } = DOCUMENT.components.schemas['ExplanationReason'] as ApiSchema;
    assert.equal(properties?.['reasons']?.items?.$ref, '#/components/schemas/ExplanationReason');
  });

  test('has every enum in one spelling, and a name for every object and enum [H35]', () => {
    const nameless: string[] = [];
    visitSchemas((schema, where, isNamed) => {
      const values = (schema.enum ?? []).map((value) => String(value).toLowerCase());
      assert.equal(new Set(values).size, values.length, where);
      if (!isNamed && (schema.enum !== undefined || schema.properties !== undefined)) nameless.push(where);
    });
    assert.deepEqual(nameless, []);
  });

  test('says which fields depend on each other, as requests are validated [H36]', () => {
    const bodyOf = (name: string) => {
      const { operation } = DESCRIBED.find((each) => each.name === name) ?? {};
      return Compile(inline(operation?.requestBody?.content['application/json']?.schema) as TSchema);
    };
    const repo = { host: 'local', owner: 'acme', name: 'app' };
    const check = { repo, sha: 'a'.repeat(40), name: 'test' };
    const log = { testRunId: 'x' };
    const cases: readonly (readonly [string, object, boolean])[] = [
      ['reportCheck', { ...check, status: 'QUEUED' }, true],
      ['reportCheck', { ...check, status: 'COMPLETED', conclusion: 'SUCCESS' }, true],
      ['reportCheck', { ...check, status: 'COMPLETED' }, false],
      ['reportCheck', { ...check, status: 'QUEUED', conclusion: 'SUCCESS' }, false],
      ['reportCheck', { ...check, status: 'QUEUED', testRunId: 'x' }, false],
      ['getCandidateLog', log, true],
      ['getCandidateLog', { ...log, repo }, false],
      ['getCandidateLog', { ...log, targetBranch: 'main' }, false],
      ['getSubmittedPullRequest', { repo, targetBranch: 'main', pr: { number: 1 } }, true],
      ['getSubmittedPullRequest', { repo, targetBranch: 'main', pr: { number: 1, branch: 'x' } }, false],
      ['getSubmittedPullRequest', { repo, targetBranch: 'main', pr: {} }, false],
    ];
    const scope = { repo, org_url_slug: 'acme', test_id: randomUUID() };
    const decision = { ...scope, reason: 'So.', expires_at: '2027-01-01T00:00:00Z' };
    const mute = { ...scope, monitor_id: randomUUID() };
    const more: typeof cases = [
      ['setQuarantine', { ...decision, setting: 'NEVER_QUARANTINE' }, true],
      ['setQuarantine', { ...decision, setting: 'UNSPECIFIED' }, false],
      ['muteMonitor', { ...mute, until: decision.expires_at }, true],
      ['muteMonitor', { ...mute, muted: false, until: null }, true],
      ['muteMonitor', { ...mute, muted: false, until: decision.expires_at }, false],
    ];
    for (const [name, body, fits] of [...cases, ...more]) {
      const validator = OPERATIONS.find((each) => each.name === name)?.body as TSchema;
      assert.deepEqual([bodyOf(name).Check(body), Compile(validator).Check(body)], [fits, fits], JSON.stringify(body));
    }
  });

  test('says what a monitor needs, as it is parsed [H36]', () => {
    const { operation } = DESCRIBED.find((each) => each.name === 'setMonitor') ?? {};
    const schema = inline(operation?.requestBody?.content['application/json']?.schema) as { properties: object };
    const documented = Compile((schema.properties as { monitor: TSchema }).monitor);
    const classify = { action: { classify: 'FLAKY' } };
    const labels = { action: { labels: ['slow'] } };
    for (const [monitor, fits] of [
      [{ type: 'pass_on_retry', ...classify }, true],
      [{ type: 'pass_on_retry', action: { classify: 'BROKEN' } }, false],
      [{ type: 'pass_on_retry', action: { ...classify.action, ...labels.action } }, false],
      [{ type: 'pass_on_retry', action: {} }, false],
      [{ type: 'pass_on_retry' }, false],
      [classify, false],
      [{ type: 'new_test', parameters: { new_days: 7 }, ...labels }, true],
      [{ type: 'new_test', parameters: { new_days: 7 }, ...classify }, false],
      [{ type: 'new_test', parameters: {}, ...labels }, false],
      [{ type: 'new_test', ...labels }, false],
    ] as const) {
      const parsed = parseMonitor(monitor, { id: randomUUID(), createdAt: 0 as Instant });
      assert.deepEqual([documented.Check(monitor), parsed.kind === 'monitor'], [fits, fits], JSON.stringify(monitor));
    }
    assert.ok(documented.Check({ id: randomUUID(), enabled: false }), 'a change names only what it changes');
  });

  test('keeps our own keywords to itself', () => {
    assert.doesNotMatch(JSON.stringify(DOCUMENT), /x-sluice-|~kind|~optional|\$id/);
  });

  test('knows the address of the server it describes', () => {
    assert.deepEqual(pluck(DOCUMENT.servers, 'url'), ['https://sluice.example/v1']);
  });
});

describe('the examples of the OpenAPI document', () => {
  test('fit their schemas, those of errors too', () => {
    for (const { operation, name } of DESCRIBED) {
      const { requestBody: body, responses } = operation;
      for (const content of Object.values(body?.content ?? {})) assertExamplesFit(content, `${name} body`);
      for (const [status, response] of Object.entries(responses)) {
        const contents = Object.values(resolve(response).content ?? {});
        for (const content of contents) assertExamplesFit(content, `${name} ${status}`);
      }
      for (const parameter of operation.parameters ?? []) {
        assertExamplesFit({ schema: parameter.schema, example: parameter.example }, `${name} ${parameter.name}`);
      }
    }
  });

  test('have no field that their schema does not know', () => {
    for (const operation of OPERATIONS) {
      assertKnown(operation.body as ApiSchema, operation.example.body, `${operation.name} body`);
      assertKnown(operation.reply as ApiSchema, operation.example.reply, `${operation.name} reply`);
    }
  });

  test('in error responses have the status and code they are listed under', () => {
    for (const [code, { value }] of Object.entries(DOCUMENT.components.examples)) {
      const problem = value as { code: string; status: number; detail: string };
      assert.equal(problem.code, code);
      assert.equal(problem.status, ERRORS[code as keyof typeof ERRORS].status);
      assert.match(problem.detail, /\.$/);
    }
  });

  test('list every error that an operation names', () => {
    for (const { name, errors } of OPERATIONS as readonly Operation[]) {
      const found = DESCRIBED.find((each) => each.name === name);
      for (const code of errors) {
        const response = found?.operation.responses[String(ERRORS[code].status)];
        const content = response === undefined ? undefined : resolve(response).content?.['application/problem+json'];
        assert.ok(content?.examples !== undefined && code in content.examples, `${name} ${code}`);
      }
    }
  });
});

type Json = Record<string, unknown>;

function collect<T>(node: unknown, pick: (node: { $ref?: string }) => T | undefined): T[] {
  if (typeof node !== 'object' || node === null) return [];
  const own = pick(node);
  const inner = Object.values(node).flatMap((value) => collect(value, pick));
  return own === undefined ? inner : [own, ...inner];
}

function follow(reference: string): unknown {
  const steps = reference.split('/').slice(1);
  return steps.reduce<unknown>((node, step) => (node as Json | undefined)?.[step], DOCUMENT);
}

function resolve<T extends { readonly $ref?: string }>(node: T): T {
  return node.$ref === undefined ? node : (follow(node.$ref) as T);
}

/** Visits every schema of the document, also nested ones. */
function visitSchemas(visit: (schema: ApiSchema, where: string, isNamed: boolean) => void): void {
  const walk = (schema: ApiSchema, where: string, isNamed = false): void => {
    visit(schema, where, isNamed);
    for (const [name, field] of Object.entries(schema.properties ?? {})) walk(field, `${where}.${name}`);
    if (schema.items !== undefined) walk(schema.items, `${where}[]`);
    for (const alternative of schema.anyOf ?? []) walk(alternative, where);
  };
  for (const [name, schema] of Object.entries(DOCUMENT.components.schemas)) walk(schema, name, true);
  for (const { operation, name } of DESCRIBED) {
    const contents = [operation.requestBody, ...Object.values(operation.responses)].flatMap((each) =>
      Object.values(each?.content ?? {}),
    );
    for (const { schema } of contents) walk(schema, name);
  }
}

function assertExamplesFit(content: ApiContent, where: string): void {
  const values =
    content.examples === undefined
      ? [content.example]
      : Object.values(content.examples).map((each) => resolve(each).value);
  assert.ok(values.length > 0 && values.every((value) => value !== undefined), `${where}: no example`);
  const schema = Compile(inline(content.schema) as TSchema);
  for (const value of values) assert.deepEqual([...schema.Errors(value)], [], where);
}

/** Resolves references, as the compiler needs it. A recursive schema is resolved once. */
function inline(schema: unknown, outer: readonly string[] = []): unknown {
  if (Array.isArray(schema)) return schema.map((item) => inline(item, outer));
  if (typeof schema !== 'object' || schema === null) return schema;
  const { $ref } = schema as { $ref?: string };
  if ($ref !== undefined && outer.includes($ref)) return {};
  const within = $ref === undefined ? outer : [...outer, $ref];
  return Object.fromEntries(Object.entries(resolve(schema)).map(([key, value]) => [key, inline(value, within)]));
}

function assertKnown(schema: ApiSchema, value: unknown, where: string): void {
  if (Array.isArray(value)) {
    for (const item of value) assertKnown(schema.items ?? {}, item, `${where}[]`);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const shapes = schema.properties === undefined ? (schema.anyOf ?? []) : [schema];
  for (const [name, field] of Object.entries(value)) {
    const known = shapes.find((shape) => Object.hasOwn(shape.properties ?? {}, name))?.properties?.[name];
    assert.ok(known !== undefined, `${where}.${name} is not in the schema`);
    assertKnown(known, field, `${where}.${name}`);
  }
}
