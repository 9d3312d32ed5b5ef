import type { Answer } from '../hosted/answer.ts';
import {
  findProject,
  fullPathOf,
  LEVEL,
  levelOf,
  type MergeRequest,
  type Project,
  type User,
  type World,
} from './model.ts';

/** A request to a route, understood. */
export interface Call {
  readonly world: World;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: Body;
  /** Undefined when nobody signed in. */
  readonly caller: User | undefined;
  readonly tokenId: number | undefined;
  /** The path and query as requested. */
  readonly url: string;
  readonly method: string;
}

export interface CallIn extends Call {
  readonly project: Project;
  readonly user: User;
}

export interface CallAbout extends CallIn {
  readonly request: MergeRequest;
}

export type Body = Readonly<Record<string, unknown>>;
export type View = Readonly<Record<string, unknown>>;
type Act<C> = (call: C) => Answer | Promise<Answer>;
export type Routes = Readonly<Record<string, Act<Call>>>;

/** An answer with an error, as GitLab words it. */
export class Refused extends Error {
  readonly answer: Answer;

  constructor(status: number, message: unknown) {
    super(String(message));
    this.answer = { status, body: { message } };
  }
}

export const notFound = (what: string) => new Refused(404, `404 ${what} Not Found`);

/** Finds the project, and asks for the role: 302 after a rename, 404 where nothing may be seen. */
export function inProject(role: keyof typeof LEVEL, act: Act<CallIn>): Act<Call> {
  return (call) => {
    const { world, params, caller, method, url } = call;
    const name = params['id'] ?? '';
    const project = findProject(world, name);
    if (caller === undefined) throw new Refused(401, '401 Unauthorized');
    if (project === undefined || levelOf(project, caller) < LEVEL.guest) throw notFound('Project');
    if (!/^\d+$/.test(name) && fullPathOf(project).toLowerCase() !== name.toLowerCase()) {
      if (method !== 'GET') throw new Refused(405, '405 Non GET methods are not allowed for moved projects');
      return { status: 302, headers: { location: url.replace(encodeURIComponent(name), String(project.id)) } };
    }
    if (levelOf(project, caller) < LEVEL[role]) throw new Refused(403, '403 Forbidden');
    return act({ ...call, project, user: caller });
  };
}

export function aboutRequest(role: keyof typeof LEVEL, act: Act<CallAbout>): Act<Call> {
  return inProject(role, (call) => {
    const request = call.project.requests.get(Number(call.params['iid']));
    if (request === undefined) throw notFound('Merge Request');
    return act({ ...call, request });
  });
}

export const ok = (body: unknown): Answer => ({ status: 200, body });
export const created = (body: unknown): Answer => ({ status: 201, body });

/** One page of a list. Headers name the next one. */
export function paged<T>({ query }: Call, items: readonly T[], view: (item: T) => View): Answer {
  const size = Math.min(Number(query.get('per_page')) || 20, 100);
  const page = Math.max(1, Number(query.get('page')) || 1);
  const pages = Math.max(1, Math.ceil(items.length / size));
  const shown = items.slice((page - 1) * size, page * size);
  const headers = {
    'x-page': String(page),
    'x-next-page': page < pages ? String(page + 1) : '',
    'x-total': String(items.length),
    'x-total-pages': String(pages),
  };
  return { status: 200, headers, body: shown.map(view) };
}

export function textOf(body: Body, field: string): string {
  const value = body[field];
  return typeof value === 'string' ? value : '';
}

export function wordsOf(body: Body, field: string): readonly string[] {
  const value = body[field];
  const list = Array.isArray(value) ? value.map(String) : textOf(body, field).split(',');
  return list.filter((word) => word !== '');
}
