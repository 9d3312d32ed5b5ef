import type { Answer } from '../hosted/answer.ts';
import {
  findRenamed,
  findRepository,
  fullNameOf,
  hasMode,
  type Mode,
  type PullRequest,
  type Repository,
  type User,
  type World,
} from './model.ts';
import type { View } from './views.ts';

/** A request to a route, understood. */
export interface Call {
  readonly world: World;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: Body;
  /** Undefined when nobody signed in. */
  readonly caller: User | undefined;
  /** The path and query as requested. */
  readonly url: string;
}

export interface CallIn extends Call {
  readonly repository: Repository;
  readonly user: User;
}

export type Body = Readonly<Record<string, unknown>>;

/** `GET /repos/{owner}/{repo}`, and what it does. A `{*name}` takes slashes too. */
export type Routes = Readonly<Record<string, (call: Call) => Answer | Promise<Answer>>>;

/** An answer with an error, as Gitea words it. */
export class Refused extends Error {
  readonly answer: Answer;

  constructor(status: number, message: string, world: World) {
    super(message);
    this.answer = { status, body: { message, url: `${world.url}/api/swagger` } };
  }
}

export function notFound({ world }: Pick<Call, 'world'>): Refused {
  return new Refused(404, 'not found', world);
}

/** Finds the repository, and asks for permission: 301 after a rename, 404 where nothing may be seen. */
export function inRepository(
  mode: Mode,
  act: (call: CallIn) => Answer | Promise<Answer>,
): (call: Call) => Answer | Promise<Answer> {
  return (call) => {
    const { world, params, caller } = call;
    const fullName = `${params['owner']}/${params['repo']}`;
    const repository =
      params['id'] === undefined || params['repo'] !== undefined ? findRepository(world, fullName) : undefined;
    if (repository === undefined) return redirect(call, fullName);
    if (!hasMode(repository, caller, 'read')) throw notFound(call);
    if (caller === undefined && mode !== 'read') throw new Refused(401, 'token is required', world);
    if (!hasMode(repository, caller, mode)) throw new Refused(403, FORBIDDEN[mode] ?? '', world);
    return act({ ...call, repository, user: caller as User });
  };
}

const FORBIDDEN: Partial<Record<Mode, string>> = {
  write: 'user should have a permission to write to a repo',
  admin: 'user should be an owner or a collaborator with admin write of a repository',
  owner: 'user should be the owner of the repo',
};

function redirect(call: Call, fullName: string): Answer {
  const renamed = findRenamed(call.world, fullName);
  if (renamed === undefined) throw notFound(call);
  const [owner = '', name = ''] = fullName.split('/');
  return { status: 301, headers: { location: call.url.replace(`/${owner}/${name}`, `/${fullNameOf(renamed)}`) } };
}

export function getPullRequest(call: CallIn): PullRequest {
  const pr = call.repository.pulls.get(Number(call.params['index']));
  if (pr === undefined) throw notFound(call);
  return pr;
}

const DEFAULT_LIMIT = 30;
const MAX_LIMIT = 50;

/** One page of a list, with the total in a header. */
export function paged<T>(
  { query }: Call,
  items: readonly T[],
  view: (item: T) => View | Promise<View>,
): Promise<Answer> {
  const limit = Math.min(Number(query.get('limit')) || DEFAULT_LIMIT, MAX_LIMIT);
  const start = (Math.max(1, Number(query.get('page')) || 1) - 1) * limit;
  const page = items.slice(start, start + limit);
  const headers = { 'x-total-count': String(items.length) };
  return Promise.all(page.map(view)).then((body) => ({ status: 200, headers, body }));
}

export function textOf(body: Body, field: string): string {
  const value = body[field];
  return typeof value === 'string' ? value : '';
}

export function textsOf(body: Body, field: string): readonly string[] {
  const value = body[field];
  return Array.isArray(value) ? value.map(String) : [];
}
