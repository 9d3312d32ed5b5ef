import { authorize, type Need } from '../auth.ts';
import type { Answer, Ask } from '../exchange.ts';
import type { Repository, User } from '../model.ts';
import { invalid, Moved, notFound, Refused } from '../refused.ts';
import { findRequestProblem } from '../validate.ts';
import { findRenamed, findRepository } from '../world.ts';

export type Params = Readonly<Record<string, string>>;

export const READ: Need = { permission: 'metadata', access: 'read', role: 'read' };

export function need(permission: Need['permission'], access: 'read' | 'write'): Need {
  return { permission, access, role: access };
}

/** Finds the repository of a path and authorizes the caller. */
export function repositoryOf(ask: Ask, params: Params, wanted: Need = READ): Repository {
  const fullName = `${params['owner']}/${params['repo']}`;
  const repository = findRepository(ask.world, fullName);
  if (repository === undefined) throw movedOrGone(ask, fullName);
  authorize(ask.caller, repository, wanted);
  return repository;
}

export function movedOrGone({ world, method, path, query }: Ask, fullName: string): Error {
  const renamed = findRenamed(world, fullName);
  if (renamed === undefined) return notFound();
  const rest = path.split('/').slice(4).join('/');
  const search = query.size === 0 ? '' : `?${query.toString()}`;
  return new Moved(`${world.url}/repositories/${renamed.id}${rest === '' ? '' : `/${rest}`}${search}`, method);
}

export function actorOf({ caller }: Pick<Ask, 'caller'>): User {
  if (caller.kind === 'nobody') throw new Refused(401, 'Requires authentication');
  return caller.user;
}

export function numberOf(params: Params, name: string): number {
  const value = Number(params[name]);
  if (!Number.isSafeInteger(value)) throw notFound();
  return value;
}

export type Body = Readonly<Record<string, unknown>>;

/** Refuses a body that violates GitHub's description of the request. */
export function bodyOf(ask: Ask): Body {
  const value = ask.body.length === 0 ? {} : parse(ask.body);
  const problem = findRequestProblem(ask.route, value);
  if (problem !== undefined) throw new Refused(422, `Invalid request.\n\n${problem}`);
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    throw new Refused(400, 'Problems parsing JSON');
  }
}

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

export function choiceOf<T extends string>(body: Body, field: string, choices: readonly T[]): T | undefined {
  const value = textOf(body, field);
  const choice = choices.find((candidate) => candidate === value);
  if (value !== undefined && choice === undefined) throw invalid({ field, code: 'invalid', value });
  return choice;
}

export function instantOf(body: Body, field: string): number | undefined {
  const value = textOf(body, field);
  return value === undefined ? undefined : Date.parse(value);
}

export function ok(body: unknown, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status: 200, body, headers };
}

export function created(body: unknown): Answer {
  return { status: 201, body };
}

export function nothing(): Answer {
  return { status: 204 };
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly headers: Readonly<Record<string, string>>;
}

/** The requested page of a list, with links to the others. */
export function pageOf<T>({ world, path, query }: Ask, all: readonly T[]): Page<T> {
  const size = Math.min(100, Math.max(1, Number(query.get('per_page') ?? 30) || 30));
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
  const headers: Record<string, string> = links.length === 0 ? {} : { link: links.join(', ') };
  return { items: all.slice((page - 1) * size, page * size), headers };
}

export function listed<T>(ask: Ask, all: readonly T[], view: (item: T) => unknown): Answer {
  const { items, headers } = pageOf(ask, all);
  return ok(items.map(view), headers);
}
