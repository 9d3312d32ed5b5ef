import { type Command, Option } from 'commander';
import {
  choiceOption,
  collect,
  collectNames,
  parseInteger,
  parseNumber,
  toFlag,
  upperNames,
} from './core/arguments.ts';
import { type FieldSchema, QUEUE_SETTINGS } from './core/operations.ts';

/** Options for the settings of a queue, made from the server's validation schemas. */

type Kind = 'integer' | 'number' | 'nullableInteger' | 'boolean' | 'choice' | 'text' | 'names' | 'statuses' | 'rules';

// Commander turns a parser's null into an empty text.
const UNSET = Symbol('unset');

const schemas = Object.entries(QUEUE_SETTINGS);
// A freeze has too many parts for an option: `sluice queue freeze` changes them.
const optional = schemas.filter(([name]) => name !== 'freezes');

export function addSettingOptions(command: Command): Command {
  for (const [name, schema] of optional) for (const option of makeOptions(name, schema)) command.addOption(option);
  return command;
}

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
  for (const [name, schema] of schemas) {
    const value = queue[name];
    if (name === 'state' || value === undefined) continue;
    // If unset, the server reports the concurrency here.
    const isDefault =
      JSON.stringify(value) === JSON.stringify(schema.default) ||
      (schema.default === null && name === 'bisectionConcurrency' && value === queue['concurrency']);
    if (all || !isDefault) rows.push([name, formatSetting(name, value)]);
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

function makeOptions(name: string, schema: FieldSchema): Option[] {
  const flag = toFlag(name);
  const text = describe(schema);
  switch (kindOf(schema)) {
    case 'integer':
      return [new Option(`--${flag} <number>`, text).argParser(parseInteger)];
    case 'number':
      return [new Option(`--${flag} <number>`, text).argParser(parseNumber)];
    case 'nullableInteger':
      return [new Option(`--${flag} <number>`, `${text} Write none for null.`).argParser(parseNullableInteger)];
    case 'boolean':
      return makeSwitch(flag, text);
    case 'choice':
      return [choiceOption(`--${flag} <choice>`, text, upperNames(schema))];
    case 'text':
      return [new Option(`--${flag} <text>`, text)];
    case 'names':
      return [
        new Option(`--${flag} <names>`, `${text} Separated by commas, or repeated; '' for none.`).argParser(
          collectNames,
        ),
      ];
    case 'statuses':
      return [
        new Option(
          `--${flag} <names>`,
          `${text} Separated by commas, or repeated; '' for none; NAME@APP names the app or account.`,
        ).argParser(collectNames),
      ];
    case 'rules':
      return [new Option(`--${flag} <pattern>`, `${text} Repeat it for several; '' for none.`).argParser(collect)];
  }
}

/** Two options for the parser, one line for the reader. */
function makeSwitch(flag: string, text: string): Option[] {
  const on = new Option(`--${flag}`, text);
  on.flags = `--[no-]${flag}`;
  return [on, new Option(`--no-${flag}`).hideHelp()];
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
