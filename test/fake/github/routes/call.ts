import type { Answer } from '../../hosted/answer.ts';
import { authorize, type Need } from '../auth.ts';
import type { Ask, Params, Route } from '../exchange.ts';
import type { PullRequest, Repository, User, World } from '../model.ts';
import { getPullRequest } from '../pulls.ts';
import { invalid, Moved, notFound, Refused } from '../refused.ts';
import { findRequestProblem } from '../validate.ts';
import { findRenamed, findRepository } from '../world.ts';

export const METADATA: Need = { permission: 'metadata', access: 'read', role: 'read' };

export function need(permission: Need['permission'], access: 'read' | 'write'): Need {
  return { permission, access, role: access };
}

/** `spec` is a method and a path of GitHub's description. */
export function route(spec: string, handle: Route['handle']): Route {
  const [method = '', path = ''] = spec.split(' ');
  return { method, path, handle };
}

/** A route of a repository, for callers that have what `wanted` says. */
export function inRepository(spec: string, wanted: Need, act: (call: Call) => Answer | Promise<Answer>): Route {
  const path = spec.replace(' ', ' /repos/{owner}/{repo}');
  return route(path, (ask, params) => act(new Call(ask, params, repositoryOf(ask, params, wanted))));
}

function repositoryOf(ask: Ask, params: Params, wanted: Need): Repository {
  const repository = findNamed(ask, params);
  authorize(ask.caller, repository, wanted);
  return repository;
}

/** The repository of the path, whoever asks. A former name redirects. */
export function findNamed({ world, method, path, query }: Ask, { owner, repo }: Params): Repository {
  const fullName = `${owner}/${repo}`;
  const repository = findRepository(world, fullName);
  if (repository !== undefined) return repository;
  const renamed = findRenamed(world, fullName);
  if (renamed === undefined) throw notFound();
  const rest = path.split('/').slice(4).join('/');
  const search = query.size === 0 ? '' : `?${query.toString()}`;
  throw new Moved(`${world.url}/repositories/${renamed.id}${rest === '' ? '' : `/${rest}`}${search}`, method);
}

/** An authorized request to a repository. */
export class Call {
  readonly ask: Ask;
  readonly repository: Repository;
  readonly #params: Params;

  constructor(ask: Ask, params: Params, repository: Repository) {
    this.ask = ask;
    this.#params = params;
    this.repository = repository;
  }

  get world(): World {
    return this.ask.world;
  }

  get actor(): User {
    return actorOf(this.ask);
  }

  get pr(): PullRequest {
    return getPullRequest(this.repository, numberIn(this.text('pull_number') || this.text('issue_number')));
  }

  text(param: string): string {
    return this.#params[param] ?? '';
  }

  /** The object of the repository with the id in the path. */
  pick<T extends { readonly id: number }>(from: readonly T[], param: string): T {
    const found = from.find(({ id }) => id === numberIn(this.text(param)));
    if (found === undefined) throw notFound();
    return found;
  }

  /** Refuses a body that violates GitHub's description of the request. */
  body(): Body {
    const { body, route: spec } = this.ask;
    const value: unknown = body.length === 0 ? {} : JSON.parse(body.toString());
    const problem = findRequestProblem(spec, value);
    if (problem !== undefined) throw new Refused(422, `Invalid request.\n\n${problem}`);
    return { ...(value as Body) };
  }

  list<T>(all: readonly T[], view: (item: T) => unknown): Answer {
    const { items, headers } = pageOf(this.ask, all);
    return ok(items.map(view), headers);
  }

  /** A list inside an object, with its length. */
  count<T>(name: string, all: readonly T[], view: (item: T) => unknown): Answer {
    const { items, headers } = pageOf(this.ask, all);
    return ok({ total_count: all.length, [name]: items.map(view) }, headers);
  }
}

export function actorOf({ caller }: Pick<Ask, 'caller'>): User {
  if (caller.kind === 'nobody') throw new Refused(401, 'Requires authentication');
  return caller.user;
}

export function numberIn(text: string | undefined): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw notFound();
  return value;
}

export type Body = Readonly<Record<string, unknown>>;

/** Undefined when it is absent or null. */
export function textOf(body: Body, field: string): string | undefined {
  const value = body[field];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw invalid({ field, code: 'invalid', message: `${field} is not a string` });
  return value;
}

export function requiredText(body: Body, field: string): string {
  const value = textOf(body, field);
  if (value === undefined) throw invalid({ resource: 'Body', field, code: 'missing_field' });
  return value;
}

export function ok(body: unknown, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status: 200, body, headers };
}

export function created(body: unknown): Answer {
  return { status: 201, body };
}

export function sizeOf({ query }: Ask): number {
  return Math.min(100, Math.max(1, Number(query.get('per_page') ?? 30) || 30));
}

/** The requested page of a list, with links to the others. */
export function pageOf<T>(ask: Ask, all: readonly T[]): { readonly items: readonly T[]; readonly headers: Links } {
  const { world, path, query } = ask;
  const size = sizeOf(ask);
  const page = Math.max(1, Number(query.get('page') ?? 1) || 1);
  const last = Math.max(1, Math.ceil(all.length / size));
  const link = (to: number, rel: string) => {
    const search = new URLSearchParams(query);
    search.set('page', String(to));
    return `<${world.url}${path}?${search.toString()}>; rel="${rel}"`;
  };
  // A page beyond the end links back to the last one.
  const links = [
    ...(page > 1 ? [link(Math.min(page - 1, last), 'prev')] : []),
    ...(page < last ? [link(page + 1, 'next')] : []),
    ...(page === last ? [] : [link(last, 'last')]),
    ...(page > 1 ? [link(1, 'first')] : []),
  ];
  const headers: Links = links.length === 0 ? {} : { link: links.join(', ') };
  return { items: all.slice((page - 1) * size, page * size), headers };
}

type Links = Readonly<Record<string, string>>;
