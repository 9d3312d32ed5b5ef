import { collect, collectNames, parseInteger, parseNumber, toFlag, upperNames } from './core/arguments.ts';
import { choice, type Specs } from './core/command.ts';
import { type FieldSchema, QUEUE_SETTINGS } from './core/operations.ts';

/** Options for the settings of a queue, made from the server's validation schemas. */

type Kind = 'integer' | 'number' | 'nullableInteger' | 'boolean' | 'choice' | 'text' | 'names' | 'statuses' | 'rules';

// Commander turns a parser's null into an empty text.
const UNSET = Symbol('unset');

const schemas = Object.entries(QUEUE_SETTINGS);
// A freeze has too many parts for an option: `sluice queue freeze` changes them.
const optional = schemas.filter(([name]) => name !== 'freezes');

export const SETTING_OPTIONS: Specs = Object.assign(
  {},
  ...optional.map(([name, schema]) => describeOption(`--${toFlag(name)}`, schema)),
);

/** Converts options to the API's fields. Options that were not given are absent. */
export function readSettings(options: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const settings: Record<string, unknown> = {};
  for (const [name, schema] of optional) {
    const value = options[name];
    if (value === undefined) continue;
    settings[name] = toSetting(kindOf(schema), value);
  }
  return settings;
}

function toSetting(kind: Kind, value: unknown): unknown {
  if (kind === 'rules') return toRules(value as readonly string[]);
  if (kind === 'statuses') return (value as readonly string[]).map(toStatus);
  return value === UNSET ? null : value;
}

/** `unit@github-actions`: the app follows the last @. A number there is a version: `node@20` is a name. */
function toStatus(text: string): unknown {
  const [, name, app] = /^(.+)@(?=.*[A-Za-z]|\*$)(\*|[A-Za-z0-9][A-Za-z0-9._-]*)$/.exec(text) ?? [];
  return app === undefined ? text : { name, app };
}

/** The settings that differ from a new queue's; with `all`, every setting. */
export function listSettings(
  queue: Readonly<Record<string, unknown>>,
  { all }: { readonly all: boolean },
): [string, string][] {
  const rows: [string, string][] = [];
  const automatic = (queue['automaticSettings'] ?? []) as readonly string[];
  for (const [name, schema] of schemas) {
    const value = queue[name];
    if (name === 'state' || value === undefined) continue;
    const isAutomatic = automatic.includes(name);
    const isDefault = isAutomatic || JSON.stringify(value) === JSON.stringify(schema.default);
    if (all || !isDefault) rows.push([name, `${formatSetting(name, value)}${isAutomatic ? ' (automatic)' : ''}`]);
  }
  return rows;
}

function formatSetting(name: string, value: unknown): string {
  if (name === 'requiredStatuses' && value === null) return 'as the repository or the forge says';
  if (value === null || value === '') return 'none';
  if (!Array.isArray(value)) return String(value);
  if (name === 'freezes') return value.map(({ name: title }: { name: string }) => title).join(', ') || 'none';
  if (value.length === 0) return 'none';
  return value.map(formatItem).join(', ');
}

type Item = string | { readonly name: string; readonly app: string } | { targetPattern: string; policy: string };

function formatItem(item: Item): string {
  if (typeof item === 'string') return item;
  return 'app' in item ? `${item.name}@${item.app}` : `${item.targetPattern} ${item.policy}`;
}

function describeOption(flag: string, schema: FieldSchema): Specs {
  const text = describe(schema);
  switch (kindOf(schema)) {
    case 'integer':
      return { [`${flag} <number>`]: [text, parseInteger] };
    case 'number':
      return { [`${flag} <number>`]: [text, parseNumber] };
    case 'nullableInteger':
      return { [`${flag} <number>`]: [`${text} Write none for null.`, parseNullableInteger] };
    case 'boolean':
      // Two options for the parser, one line for the reader.
      return {
        [flag]: { text, shown: flag.replace('--', '--[no-]') },
        [flag.replace('--', '--no-')]: { text: '', shown: '' },
      };
    case 'choice':
      return { [`${flag} <choice>`]: choice(text, upperNames(schema)) };
    case 'text':
      return { [`${flag} <text>`]: text };
    case 'names':
      return { [`${flag} <names>`]: [`${text} Separated by commas, or repeated; '' for none.`, collectNames] };
    case 'statuses':
      return {
        [`${flag} <names>`]: [
          `${text} Separated by commas, or repeated; '' for none; NAME@APP names the app or account.`,
          collectNames,
        ],
      };
    case 'rules':
      return { [`${flag} <pattern>`]: [`${text} Repeat it for several; '' for none.`, collect] };
  }
}

function parseNullableInteger(text: string): number | typeof UNSET {
  return text === 'none' ? UNSET : parseInteger(text);
}

function describe({ description = '', default: initial }: FieldSchema): string {
  const isWorthTelling = initial !== undefined && initial !== null && !Array.isArray(initial);
  return isWorthTelling ? `${description} (default: ${String(initial).toLowerCase()})` : description;
}

function toRules(patterns: readonly string[]): unknown {
  return patterns.filter((pattern) => pattern !== '').map((targetPattern) => ({ targetPattern, policy: 'ISOLATE' }));
}

function kindOf(schema: FieldSchema): Kind {
  if (schema.anyOf !== undefined) {
    const inner = schema.anyOf.find(({ type }) => type !== 'null') ?? {};
    return inner.type === 'integer' ? 'nullableInteger' : kindOf(inner);
  }
  if (schema.enum !== undefined) return 'choice';
  if (schema.type === 'integer' || schema.type === 'number' || schema.type === 'boolean') return schema.type;
  if (schema.type !== 'array') return 'text';
  if (schema.items?.anyOf !== undefined) return 'statuses';
  return schema.items?.type === 'object' ? 'rules' : 'names';
}
