import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { listen } from '../../helpers/listen.ts';
import type { Answer } from '../hosted/answer.ts';
import { findGitPlace } from '../hosted/git-http.ts';
import { payerOf, readCaller, whoIs } from './auth.ts';
import type { Area, Ask } from './exchange.ts';
import { serveGit } from './git-backend.ts';
import type { Misbehaviour } from './misbehave.ts';
import type { Caller, World } from './model.ts';
import { Moved, notFound, Refused } from './refused.ts';
import { canonicalPath, findRoute } from './router.ts';
import { completeAnswer, isKnownRoute } from './validate.ts';
import { goOn } from './world.ts';

const KEEP_ALIVE_MS = 120_000;
/** These statuses have no body and no content length. */
const BODILESS = [204, 304];

export async function startServer(world: World, misbehaviour: Misbehaviour): Promise<Server> {
  const server = createServer((request, response) => {
    const served = serve(world, misbehaviour, request, response).catch((error: unknown) => {
      world.violations.push(`${request.method} ${request.url}: ${String(error)}`);
      response.destroy();
    });
    // The client may have disconnected. Its request continues, and the repository must exist until it ends.
    goOn(world, served);
  });
  // Clients reuse connections. One that closes at that moment would look like a fault.
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  world.url = await listen(server);
  return server;
}

async function serve(
  world: World,
  misbehaviour: Misbehaviour,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await readBody(request);
  if (body === undefined) return;
  const { ask, act } = understand(world, request, body);
  const answer = await misbehaviour.serve(ask, act);
  const { area, method, path, route } = ask;
  const status = typeof answer === 'string' ? answer : answer.status;
  const query = area === 'graphql' ? /\b(?:query|mutation) (\w+)/.exec(ask.body.toString())?.[1] : undefined;
  world.requests.push({ area, method, path, route, query, status, who: whoIs(ask.caller), at: world.now() });
  if (answer === 'silence') return;
  if (answer === 'reset') request.socket.destroy();
  else send(world, response, answer);
}

/** Undefined when the client disconnected. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
  } catch {
    return undefined;
  }
  return Buffer.concat(chunks);
}

interface Understood {
  readonly ask: Ask;
  readonly act: () => Promise<Answer>;
}

function understand(world: World, request: IncomingMessage, body: Buffer): Understood {
  const { method = 'GET' } = request;
  const headers = request.headers as Record<string, string | undefined>;
  const { pathname, searchParams: query } = new URL(request.url ?? '/', world.url);
  const path = canonicalPath(world, pathname);
  const { caller, refusal } = identify(world, headers['authorization']);
  const common = { world, method, path, query, headers, body, caller, payer: payerOf(caller) };
  const place = findGitPlace(path, query);
  if (place !== undefined) {
    const ask: Ask = { ...common, route: place.service, area: 'git' };
    return { ask, act: () => (refusal === undefined ? serveGit(ask, place) : refuseGit(refusal)) };
  }
  const match = findRoute(world, method, path);
  const area: Area = path === '/graphql' ? 'graphql' : 'rest';
  const ask: Ask = {
    ...common,
    route: match === undefined ? `${method} ?` : `${match.route.method} ${match.route.path}`,
    area,
  };
  return { ask, act: () => answerOf(ask, () => handle(ask, match, refusal)) };
}

function identify(world: World, authorization: string | undefined): { caller: Caller; refusal?: Refused } {
  try {
    return { caller: readCaller(world, authorization) };
  } catch (error) {
    if (error instanceof Refused) return { caller: { kind: 'nobody' }, refusal: error };
    throw error;
  }
}

async function refuseGit({ status, message }: Refused): Promise<Answer> {
  const headers = { 'content-type': 'text/plain', 'www-authenticate': 'Basic realm="GitHub"' };
  const text = status === 401 ? 'Invalid username or token.' : message;
  return { status, headers, body: Buffer.from(`${text}\n`) };
}

function handle(ask: Ask, match: ReturnType<typeof findRoute>, refusal: Refused | undefined) {
  if (refusal !== undefined) throw refusal;
  if (match === undefined) throw notThere(ask);
  return match.route.handle(ask, match.params);
}

/** A route that the fake lacks is answered with 501, so that no test takes it for a hidden resource. */
function notThere({ method, path }: Ask): Refused {
  return isKnownRoute(method, path) ? new Refused(501, `The fake GitHub does not have ${method} ${path}`) : notFound();
}

async function answerOf(ask: Ask, act: () => Answer | Promise<Answer>): Promise<Answer> {
  const answer = await orRefusal(act);
  const { area, path, route, world } = ask;
  if (area !== 'rest' || path.startsWith('/login/') || !world.options.validate) return answer;
  const { answer: whole, violation } = completeAnswer(route, answer);
  if (violation !== undefined) world.violations.push(violation);
  return whole;
}

async function orRefusal(act: () => Answer | Promise<Answer>): Promise<Answer> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof Refused || error instanceof Moved) return error.toAnswer();
    throw error;
  }
}

function send(world: World, response: ServerResponse, { status, headers = {}, body }: Answer): void {
  const isBytes = Buffer.isBuffer(body);
  const bytes = isBytes ? body : Buffer.from(body === undefined ? '' : JSON.stringify(body));
  response.writeHead(status, {
    ...(isBytes || body === undefined ? {} : { 'content-type': 'application/json; charset=utf-8' }),
    ...(BODILESS.includes(status) ? {} : { 'content-length': String(bytes.length) }),
    date: new Date(world.now()).toUTCString(),
    'x-github-request-id': `FAKE:${world.requests.length}`,
    'x-github-media-type': 'github.v3; format=json',
    ...headers,
  });
  response.end(BODILESS.includes(status) || response.req.method === 'HEAD' ? undefined : bytes);
}
