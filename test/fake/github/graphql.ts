import { readFileSync } from 'node:fs';
import {
  buildSchema,
  type DocumentNode,
  execute,
  type GraphQLError,
  type GraphQLFieldResolver,
  type GraphQLSchema,
  parse,
  validate,
} from 'graphql';
import type { Answer } from '../hosted/answer.ts';
import type { Ask, Route } from './exchange.ts';
import { mutationFields } from './graphql-mutations.ts';
import { Complaint } from './graphql-node.ts';
import { queryFields } from './graphql-repository.ts';
import { MAX_NODES, weigh } from './graphql-weight.ts';
import type { RateLimits } from './rate-limit.ts';

let schema: GraphQLSchema | undefined;
/** By their text: a client asks the same again and again. */
const documents = new Map<string, DocumentNode | readonly GraphQLError[]>();

/** Validates against the official schema. Unknown fields are refused; fields that the fake lacks are errors. */
export function graphqlRoute(limits: RateLimits): Route {
  return { method: 'POST', path: '/graphql', handle: (ask) => answerGraphql(ask, limits) };
}

async function answerGraphql(ask: Ask, limits: RateLimits): Promise<Answer> {
  if (ask.caller.kind === 'nobody') return unauthorized('This endpoint requires you to be authenticated.');
  if (ask.caller.kind === 'app') return unauthorized('A JSON web token could not be decoded');
  const question = readQuestion(ask.body);
  if (question === undefined) return { status: 400, body: { message: 'Problems parsing JSON' } };
  const document = documents.get(question.query) ?? readDocument(question.query);
  documents.set(question.query, document);
  if (Array.isArray(document)) return { status: 200, body: { errors: document.map(errorView) } };
  const weight = weigh(document as DocumentNode, question.variables);
  if (weight.nodes > MAX_NODES) return tooMuch(weight.nodes);
  limits.spendMore(ask, weight.cost - 1);
  const scope = { world: ask.world, caller: ask.caller };
  const result = await execute({
    schema: officialSchema(),
    document: document as DocumentNode,
    rootValue: { ...queryFields(scope), ...mutationFields(scope) },
    variableValues: question.variables,
    operationName: question.operationName,
    fieldResolver: resolveField,
  });
  const body = result.errors === undefined ? result : { data: result.data, errors: result.errors.map(errorView) };
  return { status: 200, body };
}

interface Question {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly operationName: string | undefined;
}

function readQuestion(body: Buffer): Question | undefined {
  try {
    const { query, variables, operationName } = JSON.parse(body.toString());
    return { query: String(query), variables: variables ?? {}, operationName: operationName ?? undefined };
  } catch {
    return undefined;
  }
}

function readDocument(query: string): DocumentNode | readonly GraphQLError[] {
  try {
    const document = parse(query);
    const errors = validate(officialSchema(), document);
    return errors.length === 0 ? document : errors;
  } catch (error) {
    return [error as GraphQLError];
  }
}

function officialSchema(): GraphQLSchema {
  if (schema === undefined) {
    const text = new URL('schema.graphql', import.meta.resolve('@octokit/graphql-schema'));
    // The official schema violates deprecation rules of the newest graphql package.
    schema = buildSchema(readFileSync(text, 'utf8'), { assumeValid: true, assumeValidSDL: true });
  }
  return schema;
}

const resolveField: GraphQLFieldResolver<Record<string, unknown>, unknown> = (source, args, _context, info) => {
  if (!(info.fieldName in source)) {
    throw new Error(`The fake GitHub does not have ${info.parentType.name}.${info.fieldName}`);
  }
  const value = source[info.fieldName];
  return typeof value === 'function' ? value(args) : value;
};

function errorView(error: GraphQLError): Readonly<Record<string, unknown>> {
  const complaint = error.originalError instanceof Complaint ? { type: error.originalError.type } : {};
  const { path, locations, message } = error;
  return { ...complaint, ...(path === undefined ? {} : { path }), locations, message };
}

function tooMuch(nodes: number): Answer {
  const message = `This query requests up to ${nodes} possible nodes which exceeds the maximum limit of ${MAX_NODES}.`;
  return { status: 200, body: { errors: [{ type: 'MAX_NODE_LIMIT_EXCEEDED', message }] } };
}

function unauthorized(message: string): Answer {
  return { status: 401, body: { message, documentation_url: 'https://docs.github.com/graphql' } };
}
