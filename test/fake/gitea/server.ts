import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listen } from '../../helpers/listen.ts';
import type { Answer, NoAnswer } from '../hosted/answer.ts';
import type { ApiFault, ApiFaults } from '../hosted/faults.ts';
import { findGitPlace } from '../hosted/git-http.ts';
import { type Body, Refused, type Routes } from './call.ts';
import { refuseGit, serveGit } from './git-backend.ts';
import type { Token, User, World } from './model.ts';

export interface RequestRecord {
  readonly method: string;
  readonly path: string;
  readonly route: string;
  readonly status: number | NoAnswer;
  readonly who: string | undefined;
}

interface Ask {
  readonly method: string;
  readonly path: string;
  readonly route: string;
  readonly area: string;
  readonly body: Buffer;
}

interface Understood {
  readonly ask: Ask;
  readonly who: string | undefined;
  readonly act: () => Promise<Answer>;
}

const WRONG = 'invalid username, password or token';
const KEEP_ALIVE_MS = 120_000;

/** Serves the API below `/api/v1`, and git. Injected faults come first. */
export async function startServer(world: World, faults: ApiFaults, routes: Routes): Promise<Server> {
  const table = Object.entries(routes).map(([route, handle]) => ({ route, handle, pattern: patternOf(route) }));
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      world.violations.push(`${request.method} ${request.url}: ${(error as Error).stack}`);
      response.destroy();
    });
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  world.url = await listen(server);
  return server;

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request).catch(() => undefined);
    if (body === undefined) return;
    const { ask, who, act } = understand(request, body);
    const answer = await meddle(faults.take(ask), act);
    const status = typeof answer === 'string' ? answer : answer.status;
    world.requests.push({ method: ask.method, path: ask.path, route: ask.route, status, who });
    if (answer === 'silence') return;
    if (answer === 'reset') request.socket.destroy();
    else send(response, answer);
  }

  function understand(request: IncomingMessage, body: Buffer): Understood {
    const { method = 'GET', url = '/' } = request;
    const headers = request.headers as Record<string, string | undefined>;
    const { pathname, searchParams: query } = new URL(url, world.url);
    const path = pathname.replace(/^\/api\/v1(?=\/)/, '');
    const identity = identify(world, headers);
    const caller = identity.token?.user ?? identity.user;
    const common = { method, path, body };
    const place = findGitPlace(path, query);
    if (place !== undefined) {
      const ask = { ...common, route: place.service, area: 'git' };
      const act = () =>
        identity.isWrong ? refuseGit(401) : serveGit(world, { ...place, headers, body, query, caller });
      return { ask, who: caller?.login, act };
    }
    const wanted = `${method === 'HEAD' ? 'GET' : method} ${path}`;
    for (const { route, pattern, handle } of table) {
      const found = pattern.exec(wanted);
      if (found === null) continue;
      const params = decode(found.groups ?? {});
      const act = () =>
        orRefusal(() => {
          if (identity.isWrong) throw new Refused(401, WRONG, world);
          checkScope(world, identity.token, method, path);
          return handle({ world, params, query, caller, body: parse(world, body), url });
        });
      return { ask: { ...common, route, area: 'rest' }, who: caller?.login, act };
    }
    const act = async () => ({ status: 404, body: { message: `The fake Gitea does not have ${wanted}` } });
    return { ask: { ...common, route: `${method} ?`, area: 'rest' }, who: caller?.login, act };
  }
}

function patternOf(route: string): RegExp {
  const source = route
    .replaceAll('.', '\\.')
    .replaceAll(/\{\*(\w+)\}/g, '(?<$1>.+)')
    .replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)');
  return new RegExp(`^${source}$`);
}

function decode(params: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, decodeURIComponent(value)]));
}

interface Identity {
  readonly user?: User | undefined;
  readonly token?: Token | undefined;
  readonly isWrong?: boolean;
}

/** A token in either header, or a name and a password. An administrator may act as somebody else with `Sudo`. */
function identify(world: World, headers: Readonly<Record<string, string | undefined>>): Identity {
  const [kind = '', value = ''] = (headers['authorization'] ?? '').split(' ');
  if (kind === '') return {};
  const [login = '', password = ''] =
    kind.toLowerCase() === 'basic' ? Buffer.from(value, 'base64').toString().split(':') : [];
  const token = world.tokens.get(kind.toLowerCase() === 'basic' ? password : value) ?? world.tokens.get(login);
  const known = world.users.get(login.toLowerCase());
  const user = token?.user ?? (known?.password === password ? known : undefined);
  if (user === undefined) return { isWrong: true };
  const other = headers['sudo'] === undefined ? undefined : world.users.get(headers['sudo'].toLowerCase());
  if (other !== undefined && user.isAdmin) return { user: other };
  return token === undefined ? { user } : { token };
}

const CATEGORIES: readonly (readonly [RegExp, string])[] = [
  [/^\/repos\/[^/]+\/[^/]+\/(?:issues|labels)/, 'issue'],
  [/^\/(?:repos|repositories|user\/repos)/, 'repository'],
  [/^\/admin/, 'admin'],
  [/^\/org/, 'organization'],
  [/^\/user/, 'user'],
];

function checkScope(world: World, token: Token | undefined, method: string, path: string): void {
  const category = CATEGORIES.find(([pattern]) => pattern.test(path))?.[1];
  if (token === undefined || category === undefined || token.scopes.includes('all')) return;
  const wanted = `${method === 'GET' ? 'read' : 'write'}:${category}`;
  if (token.scopes.includes(wanted) || token.scopes.includes(`write:${category}`)) return;
  throw new Refused(
    403,
    `token does not have at least one of required scope(s), required=[${wanted}], token scope=${token.scopes.join(',')}`,
    world,
  );
}

function parse(world: World, body: Buffer): Body {
  if (body.length === 0) return {};
  try {
    return JSON.parse(body.toString()) as Body;
  } catch (error) {
    throw new Refused(422, String(error), world);
  }
}

async function orRefusal(act: () => Answer | Promise<Answer>): Promise<Answer> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof Refused) return error.answer;
    throw error;
  }
}

async function meddle(fault: ApiFault | undefined, act: () => Promise<Answer>): Promise<Answer | NoAnswer> {
  if (fault === undefined) return act();
  if (fault.kind === 'slow') await new Promise((resolve) => setTimeout(resolve, fault.byMs));
  const wrong = troubleOf(fault);
  if (wrong === undefined) return act();
  if ('when' in fault && fault.when === 'after') await act();
  return wrong;
}

function troubleOf(fault: ApiFault): Answer | NoAnswer | undefined {
  switch (fault.kind) {
    case 'slow':
      return undefined;
    case 'silence':
    case 'reset':
      return fault.kind;
    case 'error':
      return { status: fault.status, body: { message: '' } };
    case 'unauthorized':
      return { status: 401, body: { message: WRONG } };
    case 'hidden':
      return { status: 404, body: { message: "The target couldn't be found." } };
    case 'forbidden':
      return { status: 403, body: { message: 'Forbidden' } };
    case 'secondary_limit':
      return { status: 429, headers: { 'retry-after': String(fault.retryAfterSeconds ?? 1) } };
    case 'answer':
      return fault.answer;
  }
}

function send(response: ServerResponse, { status, headers = {}, body }: Answer): void {
  const isBytes = Buffer.isBuffer(body);
  const bytes = isBytes ? body : Buffer.from(body === undefined ? '' : JSON.stringify(body));
  const type = isBytes || body === undefined ? {} : { 'content-type': 'application/json;charset=utf-8' };
  response.writeHead(status, {
    ...type,
    ...(status === 204 ? {} : { 'content-length': String(bytes.length) }),
    ...headers,
  });
  response.end(status === 204 || response.req.method === 'HEAD' ? undefined : bytes);
}
