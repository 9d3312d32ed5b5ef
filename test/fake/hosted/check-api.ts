import type { Answer } from './answer.ts';

/** `integer`, `string?` for what may be null, `[Note]` for a list, or the name of an entity. */
type Type = string;
type Fields = Readonly<Record<string, Type>>;

interface Route {
  /** Of the query, or of the body. A name with a star is required. */
  readonly takes?: Fields;
  readonly answers?: Type;
}

/** The routes of a forge's API, and the fields of what they answer. */
export interface Api {
  readonly entities: Readonly<Record<string, Fields>>;
  readonly routes: Readonly<Record<string, Route>>;
}

interface Sent {
  readonly query: URLSearchParams;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The ways in which a request or its answer is none that the API allows. */
export function violationsOf(api: Api, route: string, sent: Sent, { status, body }: Answer): readonly string[] {
  const known = api.routes[route];
  if (known === undefined) return [`${route} is no route`];
  const asked = checkSent(api, known.takes ?? {}, sent);
  const said = status < 300 && known.answers !== undefined ? checkType(api, known.answers, body, 'answer') : [];
  return [...asked, ...said].map((what) => `${route}: ${what}`);
}

function checkSent(api: Api, takes: Fields, { query, body }: Sent): readonly string[] {
  const types = Object.fromEntries(Object.entries(takes).map(([name, type]) => [name.replace('*', ''), type]));
  const names = [...query.keys(), ...Object.keys(body)];
  const unknown = names.filter((name) => types[name] === undefined).map((name) => `takes no ${name}`);
  const missing = Object.keys(takes).filter((name) => name.endsWith('*') && !names.includes(name.replace('*', '')));
  const wrong = [...query].filter(([name, text]) => types[name] === 'integer' && !/^\d+$/.test(text));
  return [
    ...unknown,
    ...missing.map((name) => `needs ${name.replace('*', '')}`),
    ...wrong.map(([name, text]) => `${name} is no integer: ${text}`),
    ...Object.entries(body).flatMap(([name, value]) => checkType(api, types[name] ?? 'any', value, name)),
  ];
}

function checkType(api: Api, type: Type, value: unknown, path: string): readonly string[] {
  if (type.endsWith('?')) return value === null ? [] : checkType(api, type.slice(0, -1), value, path);
  const item = /^\[(.+)\]$/.exec(type)?.[1];
  if (item !== undefined)
    return Array.isArray(value)
      ? value.flatMap((each, index) => checkType(api, item, each, `${path}.${index}`))
      : [`${path} is no list`];
  const fields = api.entities[type];
  if (fields === undefined) return fits(type, value) ? [] : [`${path} is no ${type}: ${JSON.stringify(value)}`];
  if (typeof value !== 'object' || value === null) return [`${path} is no ${type}`];
  return Object.entries(value).flatMap(([name, each]) =>
    fields[name] === undefined
      ? [`${path}.${name} is no field of ${type}`]
      : checkType(api, fields[name], each, `${path}.${name}`),
  );
}

function fits(type: Type, value: unknown): boolean {
  switch (type) {
    case 'any':
      return true;
    case 'integer':
      return Number.isSafeInteger(value);
    case 'time':
      return typeof value === 'string' && !Number.isNaN(Date.parse(value));
    default:
      return typeof value === type;
  }
}
