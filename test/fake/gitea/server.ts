import type { Server } from 'node:http';
import type { Answer } from '../hosted/answer.ts';
import type { ApiFaults } from '../hosted/faults.ts';
import { type Asked, type Routed, startRestServer } from '../hosted/rest-server.ts';
import { type Body, type Call, Refused, type Routes } from './call.ts';
import { refuseGit, serveGit } from './git-backend.ts';
import type { Token, User, World } from './model.ts';

const WRONG = 'invalid username, password or token';

/** Serves the API below `/api/v1`, and git. */
export async function startServer(world: World, faults: ApiFaults, routes: Routes): Promise<Server> {
  const { server, url } = await startRestServer({
    prefix: /^\/api\/v1(?=\/)/,
    routes,
    faults,
    requests: world.requests,
    violations: world.violations,
    refusals: { unauthorized: WRONG, hidden: "The target couldn't be found.", forbidden: 'Forbidden' },
    whoIs: (headers) => callerOf(identify(world, headers))?.login,
    answer: (asked) => orRefusal(() => act(world, asked)),
    async serveGit({ headers, body, query }, place) {
      const identity = identify(world, headers);
      if (identity.isWrong) return refuseGit(401);
      return serveGit(world, { ...place, headers, body, query, caller: callerOf(identity) });
    },
  });
  world.url = url;
  return server;
}

function act(world: World, asked: Routed<(call: Call) => Answer | Promise<Answer>>): Answer | Promise<Answer> {
  const { method, path, params, query, body, url, headers, route } = asked;
  const identity = identify(world, headers);
  if (identity.isWrong) throw new Refused(401, WRONG, world);
  checkScope(world, identity.token, method, path);
  return route({ world, params, query, caller: callerOf(identity), body: parse(world, body), url });
}

interface Identity {
  readonly user?: User | undefined;
  readonly token?: Token | undefined;
  readonly isWrong?: boolean;
}

function callerOf({ token, user }: Identity): User | undefined {
  return token?.user ?? user;
}

/** A token in either header, or a name and a password. An administrator may act as somebody else with `Sudo`. */
function identify(world: World, headers: Asked['headers']): Identity {
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

async function orRefusal(action: () => Answer | Promise<Answer>): Promise<Answer> {
  try {
    return await action();
  } catch (error) {
    if (error instanceof Refused) return error.answer;
    throw error;
  }
}
