import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listen } from '../../helpers/listen.ts';
import type { Answer, NoAnswer } from './answer.ts';
import type { ApiFault, ApiFaults } from './faults.ts';
import { findGitPlace, type GitPlace } from './git-http.ts';

export interface RequestRecord {
  readonly method: string;
  readonly path: string;
  readonly route: string;
  readonly area: 'git' | 'rest';
  readonly status: number | NoAnswer;
  readonly who: string | undefined;
  readonly at: number;
}

export interface Asked {
  readonly method: string;
  /** Without the prefix of the API. */
  readonly path: string;
  /** The path and query as requested. */
  readonly url: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
}

/** A request to a route, with the parts of its path. */
export interface Routed<Route> extends Asked {
  readonly name: string;
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

export interface RestForge<Route> {
  /** Of the API: `/api/v1`. */
  readonly prefix: RegExp;
  /** `GET /repos/{owner}/{repo}`. A `{*name}` takes slashes too. */
  readonly routes: Readonly<Record<string, Route>>;
  readonly faults: ApiFaults;
  readonly requests: RequestRecord[];
  /** Errors of the fake itself. */
  readonly violations: string[];
  /** Words of the forge for injected refusals. */
  readonly refusals: Readonly<Record<'unauthorized' | 'hidden' | 'forbidden', string>>;
  whoIs(headers: Asked['headers']): string | undefined;
  answer(asked: Routed<Route>): Promise<Answer>;
  serveGit(asked: Asked, place: GitPlace): Promise<Answer>;
}

interface Understood {
  readonly route: string;
  readonly area: RequestRecord['area'];
  readonly act: () => Promise<Answer>;
}

const KEEP_ALIVE_MS = 120_000;

/** Serves the API of a forge, and git. Injected faults come first. Answers its address too. */
export async function startRestServer<Route>(forge: RestForge<Route>): Promise<{ server: Server; url: string }> {
  const table = Object.entries(forge.routes).map(([name, route]) => ({ name, route, pattern: patternOf(name) }));
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      forge.violations.push(`${request.method} ${request.url}: ${(error as Error).stack}`);
      response.destroy();
    });
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  return { server, url: await listen(server) };

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request).catch(() => undefined);
    if (body === undefined) return;
    const at = Date.now();
    const asked = readAsked(request, body);
    const { route, area, act } = understand(asked);
    const answer = await meddle(forge.faults.take({ ...asked, route, area }), act);
    const status = typeof answer === 'string' ? answer : answer.status;
    const who = forge.whoIs(asked.headers);
    forge.requests.push({ method: asked.method, path: asked.path, route, area, status, who, at });
    if (answer === 'silence') return;
    if (answer === 'reset') request.socket.destroy();
    else send(response, answer);
  }

  function readAsked({ method = 'GET', url = '/', headers }: IncomingMessage, body: Buffer): Asked {
    const { pathname, searchParams: query } = new URL(url, 'http://fake.test');
    const path = pathname.replace(forge.prefix, '');
    return { method, path, url, query, headers: headers as Asked['headers'], body };
  }

  function understand(asked: Asked): Understood {
    const { method, path, query } = asked;
    const place = findGitPlace(path, query);
    if (place !== undefined) return { route: place.service, area: 'git', act: () => forge.serveGit(asked, place) };
    const wanted = `${method === 'HEAD' ? 'GET' : method} ${path}`;
    for (const { name, route, pattern } of table) {
      const found = pattern.exec(wanted);
      if (found === null) continue;
      const params = decode(found.groups ?? {});
      return { route: name, area: 'rest', act: () => forge.answer({ ...asked, name, route, params }) };
    }
    const act = async () => ({ status: 404, body: { message: `The fake does not have ${wanted}` } });
    return { route: `${method} ?`, area: 'rest', act };
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
    const refusal = (status: number, message: string) => ({ status, body: { message } });
    switch (fault.kind) {
      case 'slow':
        return undefined;
      case 'silence':
      case 'reset':
        return fault.kind;
      case 'error':
        return refusal(fault.status, '');
      case 'unauthorized':
        return refusal(401, forge.refusals.unauthorized);
      case 'hidden':
        return refusal(404, forge.refusals.hidden);
      case 'forbidden':
        return refusal(403, forge.refusals.forbidden);
      case 'secondary_limit':
        return { status: 429, headers: { 'retry-after': String(fault.retryAfterSeconds ?? 1) } };
      case 'answer':
        return fault.answer;
    }
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
