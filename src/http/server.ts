import type { ServerResponse } from 'node:http';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { admit, reachesAll } from '../app/access/admit.ts';
import { answerOnce } from '../app/access/answer-once.ts';
import { ForkProofs } from '../app/access/fork-proofs.ts';
import type { Caller } from '../app/core/caller.ts';
import { isRefusal, type Refusal } from '../app/core/refusal.ts';
import { UploadBodies } from '../app/uploads/upload-body.ts';
import type { Operation } from '../contract/operation.ts';
import { runIn } from '../lib/trace.ts';
import {
  createAdmission,
  createMetricsAdmission,
  createRateLimit,
  findForkRunId,
  type Hook,
} from './core/admission.ts';
import { type BaseUrlOf, createBaseUrl } from './core/base-url.ts';
import { BodyBudget } from './core/body-budget.ts';
import { compressReplies } from './core/compress.ts';
import { createReader } from './core/convert.ts';
import { type Dialect, sluiceDialect, trunkDialect, webDialect } from './core/dialect.ts';
import { NOT_JSON, toProblem } from './core/error-response.ts';
import { query } from './core/parse.ts';
import { HttpProblem, invalidField } from './core/problem.ts';
import { BODY_LIMIT_BYTES, endIfUnread } from './core/read-body.ts';
import { createReplyWriter, type Reply } from './core/reply-writer.ts';
import { requestCountsOf } from './core/request-counts.ts';
import type { RequestContext, Route } from './core/route.ts';
import type { ServerDeps } from './core/server-deps.ts';
import { createValidator } from './core/validate.ts';
import { registerLinkPages } from './link-pages.ts';
import { registerPublicPages } from './public-pages.ts';
import { type BodyDeps, ParseTurns, readJson } from './read-json.ts';
import { answerBrokenRequest, answerExpectations, rejectMalformed } from './reject-malformed.ts';
import { createRequestIds, logRequest } from './request-log.ts';
import { traceRequests } from './request-spans.ts';
import { ROUTES } from './routes.ts';
import { closeIfStopping, sendError, sendProblem } from './send-error.ts';
import { registerUploader, toIncomingUpload, type UploaderDeps } from './uploader.ts';
import { Dashboard, registerDashboard } from './web/dashboard.ts';
import { createSessionAdmission } from './web/session-admission.ts';
import { registerSessions } from './web/sessions.ts';
import { registerSignIn } from './web/sign-in.ts';
import { createStrangerRoutes } from './web/stranger-routes.ts';
import { Strangers } from './web/strangers.ts';
import { registerWebhooks } from './webhooks.ts';

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | undefined;
    arrivedAt: number;
    /** Asks again whose request this is; undefined if nobody is admitted any more. */
    readmit: () => Promise<Caller | undefined>;
    answer: ServerResponse;
    /** The configuration of the route. `routeOptions` has it too, and is made anew each time. */
    route: FastifyRequest['routeOptions']['config'];
  }
  interface FastifyContextConfig {
    dialect?: Dialect;
    operation?: Operation;
    /** The handler reads the body itself. */
    readsBody?: boolean;
  }
  interface FastifyInstance {
    isStopping: boolean;
  }
}

/** An upload may be five times as large as other bodies, and may come over a slow line. */
const UPLOAD_PATIENCE = 15;

/** Clients append their path to a configured address, which often ends with a slash. */
const MOUNT = /^\/+(trunk\/)?\/*(?=v1\/)/;

export function createServer(deps: ServerDeps): FastifyInstance {
  const server = Fastify({
    bodyLimit: BODY_LIMIT_BYTES,
    // For any request, also the largest upload; `readBody` has a limit of its own for other bodies.
    requestTimeout: UPLOAD_PATIENCE * deps.requestTimeoutMs,
    http: {
      // Node swaps the two timeouts if this one is larger, and by default checks them only every 30 s.
      headersTimeout: Math.min(60_000, deps.requestTimeoutMs),
      connectionsCheckingInterval: Math.min(30_000, Math.ceil(deps.requestTimeoutMs / 4)),
      // Node would answer a request without a Host itself, without a body.
      requireHostHeader: false,
    },
    genReqId: createRequestIds(),
    forceCloseConnections: 'idle',
    // Requests that arrive during the stop are served: the store closes last.
    return503OnClosing: false,
    routerOptions: { ignoreTrailingSlash: false, maxParamLength: 200 },
    rewriteUrl: ({ url = '/' }) => (url.includes('//') ? url.replace(MOUNT, '/$1') : url),
    clientErrorHandler: answerBrokenRequest,
    // A URL that cannot be decoded bypasses all hooks.
    frameworkErrors: (error, request, reply) => {
      setCommonHeaders(request, reply, deps.version);
      reply.raw.once('finish', () => endIfUnread(request.raw, deps.requestTimeoutMs));
      sendProblem(reply, toProblem(error), request.id);
    },
  });
  server.decorate('isStopping', false);
  server.decorateRequest('caller', undefined);
  server.decorateRequest('readmit', nobody);
  server.decorateRequest('arrivedAt', 0);
  server.decorateRequest('answer', null as never);
  server.decorateRequest('route', null as never);
  server.decorateRequest('span', undefined);
  addHooks(server, deps);
  compressReplies(server);
  if (deps.app.tracing !== undefined) traceRequests(server, deps.app.tracing);
  const budget = new BodyBudget();
  const turns = new ParseTurns();
  addBodyParser(server, { ...deps, budget, turns });
  const baseUrlOf = createBaseUrl(deps);
  registerPublicPages(server, { ...deps, baseUrlOf });
  const limit = createRateLimit(deps);
  const admission = createAdmission(deps, limit);
  const ofScrapers = createMetricsAdmission(deps, admission);
  const bodies = new UploadBodies(deps.app);
  registerUploader(server, { ...deps, admission, bodies });
  registerWebhooks(server, { ...deps, budget, turns });
  const addRoute = createRouteAdder(server, { ...deps, admission, bodies, baseUrlOf, forks: new ForkProofs(deps.app) });
  const ofSession = createSessionAdmission({ ...deps, baseUrlOf, limit, strangers: new Strangers(deps) });
  const openToStrangers = createStrangerRoutes(deps);
  for (const route of ROUTES) {
    const { operation } = route;
    const isOfServer = operation.path === '/metrics';
    addRoute(route, sluiceDialect, (isOfServer ? ofScrapers : admission)(operation));
    if (operation.isOnlyOnV1 !== true) addRoute(route, trunkDialect, admission(operation));
    if (operation.hasFiles !== true) addRoute(openToStrangers(route), webDialect, ofSession(operation));
    // Scrapers look for metrics at this path.
    if (isOfServer) addRoute(route, { ...sluiceDialect, mount: '' }, ofScrapers(operation));
  }
  registerSessions(server, { ...deps, baseUrlOf });
  registerSignIn(server, { ...deps, baseUrlOf });
  const dashboard = new Dashboard(deps);
  registerDashboard(server, dashboard);
  registerLinkPages(server, dashboard);
  server.setErrorHandler((error, request, reply) => runIn(request.span, () => sendError(deps, error, request, reply)));
  answerExpectations(server);
  return server;
}

async function nobody(): Promise<undefined> {
  return undefined;
}

// SPEC H18
// SPEC H41
function setCommonHeaders(request: FastifyRequest, reply: FastifyReply, version: string): void {
  reply.header('x-request-id', request.id);
  reply.header('x-content-type-options', 'nosniff');
  reply.header('sluice-version', version);
}

function addHooks(server: FastifyInstance, { app, requestTimeoutMs, version }: ServerDeps): void {
  const counts = requestCountsOf(app);
  server.addHook('onRequest', (request, reply, done) => {
    request.arrivedAt = performance.now();
    request.answer = reply.raw;
    request.route = request.routeOptions.config;
    setCommonHeaders(request, reply, version);
    done(rejectMalformed(server, request, reply));
  });
  server.addHook('onResponse', (request, reply, done) => {
    counts.add(request, reply.statusCode);
    endIfUnread(request.raw, requestTimeoutMs);
    done();
  });
  server.addHook('preClose', (done) => {
    server.isStopping = true;
    done();
  });
}

function addBodyParser(server: FastifyInstance, deps: BodyDeps): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', (request, _payload, done) => {
    if (request.route.readsBody) return done(null);
    done(new HttpProblem('UNSUPPORTED_MEDIA_TYPE', NOT_JSON));
  });
  server.addContentTypeParser('application/json', (request, _payload, done) => {
    if (request.route.readsBody) return done(null);
    const charset = /charset\s*=\s*"?([^";\s]+)/i.exec(request.headers['content-type'] ?? '')?.[1]?.toLowerCase();
    if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8') {
      return done(new HttpProblem('UNSUPPORTED_MEDIA_TYPE', 'JSON is always UTF-8: send it without another charset.'));
    }
    readJson(request, deps, done);
  });
}

interface RouteDeps extends UploaderDeps {
  readonly forks: ForkProofs;
  readonly baseUrlOf: BaseUrlOf;
}

const JSON_CONTENT_TYPE = 'application/json; charset=utf-8';

function createRouteAdder(
  server: FastifyInstance,
  deps: RouteDeps,
): (route: Route, dialect: Dialect, admission: Hook) => void {
  return (route, dialect, admission) => {
    const { operation } = route;
    server.route({
      method: operation.method,
      url: `${dialect.mount}${dialect.pathOf(operation)}`,
      config: { dialect, operation, readsBody: operation.hasFiles ?? false },
      onRequest: admitInTime(deps, admission),
      handler: createHandler(server, deps, route, dialect),
    });
  };
}

function createHandler(server: FastifyInstance, deps: RouteDeps, route: Route, dialect: Dialect) {
  const { operation, handle, isReused } = route;
  const validate = createValidator(operation.body);
  const read = createReader(operation.body);
  const accept = dialect.readerFor(operation);
  const translate = dialect.translatorFor(operation);
  const { replyType: contentType = JSON_CONTENT_TYPE, status = 200 } = operation;
  const isOwn = dialect !== trunkDialect && operation.replyType === undefined;
  const write = isOwn ? createReplyWriter(operation, { isReused }) : undefined;
  const validated = (request: FastifyRequest): unknown => {
    const body = operation.method === 'GET' ? query(request.query) : accept(request.body);
    validate(body);
    return body;
  };
  return async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const context = new Context(deps, request, dialect);
    const body = operation.hasFiles ? toIncomingUpload(deps, request) : validated(request);
    if (needsBody(operation, request.caller)) await admitWithBody(deps, request, { operation, body });
    const formed = (given: unknown): unknown => {
      const answer = orThrow(given);
      const isWritten = write === undefined || typeof answer === 'string';
      return isWritten ? translate(answer) : write(answer as Reply, { reply, body });
    };
    const key = findIdempotencyKey(operation, request);
    const asked = operation.hasFiles || read === undefined ? body : read(body, '');
    const act = async () => formed(await handle(context.app, context.caller, asked as never, context));
    const acting = key === undefined ? act() : actOnce(context, { key, operation, body, reply }, act);
    const answer = await (operation.hasFiles ? acting : inTime(deps, acting, reply));
    reply.code(status).type(contentType);
    closeIfStopping(server, reply);
    logRequest(deps.log, request, status);
    return answer;
  };
}

/** A request does not outwait a store that is away. An upload may wait for its sender. */
// SPEC D43
function inTime<T>({ storeHealth }: RouteDeps, work: Promise<T>, reply: FastifyReply): Promise<T> {
  return storeHealth === undefined ? work : storeHealth.answer(work, reply.elapsedTime);
}

function admitInTime(deps: RouteDeps, admission: Hook): Hook {
  if (deps.storeHealth === undefined) return admission;
  return (request, reply, done) => {
    const admitted = new Promise<void>((resolve, reject) =>
      admission(request, reply, (error) => (error === undefined ? resolve() : reject(error))),
    );
    inTime(deps, admitted, reply).then(() => done(), done);
  };
}

/** Most requests are admitted before their body is read. */
function needsBody({ openFields }: Operation, caller: Caller | undefined): caller is Caller {
  return (
    caller !== undefined && (caller.person !== undefined || caller.maker !== undefined || openFields !== undefined)
  );
}

async function admitWithBody(
  { app }: RouteDeps,
  request: FastifyRequest,
  asked: { readonly operation: Operation; readonly body: unknown },
): Promise<void> {
  const admitted = orThrow(await admit(app, request.caller as Caller, asked));
  request.caller = admitted;
  const { readmit } = request;
  request.readmit = async () => {
    const found = await readmit();
    const now = found && (await admit(app, found, asked));
    return now === undefined || isRefusal(now) || !reachesAll(now, admitted) ? undefined : now;
  };
}

function orThrow<T>(answer: T | Refusal): T {
  if (isRefusal(answer)) throw new HttpProblem(answer.code, answer.detail, answer.errors, answer.result);
  return answer;
}

interface Keyed {
  readonly key: string;
  readonly operation: Operation;
  readonly body: unknown;
  readonly reply: FastifyReply;
}

async function actOnce({ app, caller, dialect }: Context, of: Keyed, act: () => Promise<unknown>): Promise<string> {
  const { key, operation, body, reply } = of;
  const subject = [dialect.mount, operation.name, JSON.stringify(body)];
  const { text, isRepeated } = orThrow(
    await answerOnce(app, caller, { key, subject }, async () => {
      const answer = await act();
      const written = typeof answer === 'string' ? answer : JSON.stringify(answer);
      return { text: written, stored: withoutSecrets(operation, written) };
    }),
  );
  if (isRepeated) reply.header('idempotency-replayed', 'true');
  return text;
}

class Context implements RequestContext {
  readonly #deps: RouteDeps;
  readonly #request: FastifyRequest;
  readonly dialect: Dialect;

  constructor(deps: RouteDeps, request: FastifyRequest, dialect: Dialect) {
    this.#deps = deps;
    this.#request = request;
    this.dialect = dialect;
  }

  get app() {
    return this.#deps.app;
  }

  get caller() {
    return this.#request.caller as Caller;
  }

  get fork() {
    const runId = this.#request.caller === undefined ? findForkRunId(this.#request) : undefined;
    return runId === undefined ? undefined : { runId, proofs: this.#deps.forks };
  }

  get baseUrl() {
    return this.#deps.baseUrlOf(this.#request);
  }

  get lastEventId() {
    const given = this.#request.headers['last-event-id'];
    return typeof given === 'string' ? given : undefined;
  }

  async isAdmitted() {
    return (await this.#request.readmit()) !== undefined;
  }
}

const MAX_LENGTH = 255;

/** Undefined without a key, or for an operation that has none. A blank header counts as absent. */
// SPEC H39
function findIdempotencyKey({ isIdempotent }: Operation, { headers }: FastifyRequest): string | undefined {
  const given = isIdempotent === true ? headers['idempotency-key'] : undefined;
  const key = typeof given === 'string' ? given.trim() : '';
  if (key === '') return undefined;
  if (key.length <= MAX_LENGTH && /^[\x20-\x7e]+$/.test(key)) return key;
  throw invalidField('/Idempotency-Key', `must be a header of 1 to ${MAX_LENGTH} visible characters`);
}

// SPEC H40
function withoutSecrets({ secrets }: Operation, text: string): string {
  if (secrets === undefined) return text;
  const kept = Object.entries(JSON.parse(text) as object).filter(([name]) => !secrets.includes(name));
  const note = `This answer repeats an earlier one, which had the ${secrets.join(' and ')}: it is shown only once.`;
  return JSON.stringify({ ...Object.fromEntries(kept), note });
}
