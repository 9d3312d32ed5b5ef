import type { Params, Route } from './exchange.ts';
import type { World } from './model.ts';
import { fullNameOf } from './world.ts';

export interface Match {
  readonly route: Route;
  readonly params: Params;
}

const patterns = new WeakMap<Route, RegExp>();

export function findRoute({ routes }: World, method: string, path: string): Match | undefined {
  const wanted = method === 'HEAD' ? 'GET' : method;
  for (const route of routes) {
    const found = route.method === wanted ? patternOf(route).exec(path) : null;
    if (found !== null) return { route, params: decode(found.groups ?? {}) };
  }
  return undefined;
}

function patternOf(route: Route): RegExp {
  const source = () => route.path.replaceAll('.', '\\.').replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)');
  const known = patterns.get(route) ?? new RegExp(`^${source()}$`);
  patterns.set(route, known);
  return known;
}

function decode(params: Params): Params {
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, decodeURIComponent(value)]));
}

/** Maps Enterprise paths, and repository ids instead of names, to the usual routes. */
export function canonicalPath(world: World, path: string): string {
  const bare = path === '/api/graphql' ? '/graphql' : path.replace(/^\/api\/v3(?=\/)/, '');
  const [, id, rest = ''] = /^\/repositories\/(\d+)(\/.*)?$/.exec(bare) ?? [];
  if (id === undefined) return bare;
  const repository = world.repositories.get(Number(id));
  return repository === undefined ? bare : `/repos/${fullNameOf(repository)}${rest}`;
}
