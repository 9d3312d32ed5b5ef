import type { Route } from './exchange.ts';
import type { World } from './model.ts';
import { fullNameOf } from './world.ts';

export interface Match {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

const patterns = new WeakMap<Route, RegExp>();

export function findRoute({ routes }: World, method: string, path: string): Match | undefined {
  for (const route of routes) {
    if (route.method !== method) continue;
    const found = patternOf(route).exec(path);
    if (found !== null) return { route, params: decode(found.groups ?? {}) };
  }
  return undefined;
}

/** Names of refs have slashes, which not every client escapes. */
function patternOf(route: Route): RegExp {
  const known = patterns.get(route);
  if (known !== undefined) return known;
  const source = route.path
    .replaceAll('.', '\\.')
    .replaceAll(/\{(\w+)\}/g, (_, name: string) => `(?<${name}>${isRef(route, name) ? '.+' : '[^/]+'})`);
  const pattern = new RegExp(`^${source}$`);
  patterns.set(route, pattern);
  return pattern;
}

function isRef({ path }: Route, name: string): boolean {
  return name === 'ref' && path.includes('/git/');
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

/** GitHub's own pages of a server, and numbers instead of names, lead to the same places. */
export function canonicalPath(world: World, path: string): string {
  const bare = path === '/api/graphql' ? '/graphql' : path.replace(/^\/api\/v3(?=\/)/, '');
  const [, id, rest = ''] = /^\/repositories\/(\d+)(\/.*)?$/.exec(bare) ?? [];
  if (id === undefined) return bare;
  const repository = world.repositories.get(Number(id));
  return repository === undefined ? bare : `/repos/${fullNameOf(repository)}${rest}`;
}
