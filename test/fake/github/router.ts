import type { Route } from './exchange.ts';
import type { World } from './model.ts';
import { isKnownRoute } from './validate.ts';
import { fullNameOf } from './world.ts';

export interface Match {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

interface Patterns {
  readonly exact: RegExp;
  readonly loose: RegExp;
}

const patterns = new WeakMap<Route, Patterns>();

/** Not every client escapes slashes. So when no route matches exactly, names of refs and paths may contain them. */
export function findRoute({ routes }: World, method: string, path: string): Match | undefined {
  const wanted = method === 'HEAD' ? 'GET' : method;
  const meant = routes.filter((route) => route.method === wanted);
  const found = findBy('exact', meant, path);
  return found !== undefined || isKnownRoute(wanted, path) ? found : findBy('loose', meant.toSorted(longerFirst), path);
}

function longerFirst(one: Route, other: Route): number {
  return other.path.length - one.path.length;
}

function findBy(kind: keyof Patterns, routes: readonly Route[], path: string): Match | undefined {
  for (const route of routes) {
    const found = patternsOf(route)[kind].exec(path);
    if (found !== null) return { route, params: decode(found.groups ?? {}) };
  }
  return undefined;
}

function patternsOf(route: Route): Patterns {
  const known = patterns.get(route) ?? { exact: patternOf(route, []), loose: patternOf(route, SLASHED) };
  patterns.set(route, known);
  return known;
}

const SLASHED = ['ref', 'branch', 'path', 'basehead'];

function patternOf({ path }: Route, slashed: readonly string[]): RegExp {
  const source = path
    .replaceAll('.', '\\.')
    .replaceAll(/\{(\w+)\}/g, (_, name: string) => `(?<${name}>${slashed.includes(name) ? '.*' : '[^/]+'})`);
  return new RegExp(`^${source}$`);
}

function decode(params: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, decodeLeniently(value)]));
}

function decodeLeniently(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Maps Enterprise paths, and repository ids instead of names, to the usual routes. */
export function canonicalPath(world: World, path: string): string {
  const bare = path === '/api/graphql' ? '/graphql' : path.replace(/^\/api\/v3(?=\/)/, '');
  const [, id, rest = ''] = /^\/repositories\/(\d+)(\/.*)?$/.exec(bare) ?? [];
  if (id === undefined) return bare;
  const repository = world.repositories.get(Number(id));
  return repository === undefined ? bare : `/repos/${fullNameOf(repository)}${rest}`;
}
