import { readFileSync } from 'node:fs';

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
type JsonObject = { readonly [key: string]: Json };

interface OfficialEvent {
  readonly name: string;
  readonly examples: readonly JsonObject[];
}

/** Objects whose keys are data: permission names, and changed fields. */
const FREE = /(^|\.)(permissions|changes)$/;

/** Only checks of a deployment have this. */
const OPTIONAL = ['check_run.deployment'];

let events: readonly OfficialEvent[] | undefined;

/** Examples of an event and action, or of the event when that action has none. */
export function officialExamples(event: string, action: string | undefined): readonly JsonObject[] {
  events ??= JSON.parse(
    readFileSync(new URL(import.meta.resolve('@octokit/webhooks-examples')), 'utf8'),
  ) as readonly OfficialEvent[];
  const examples = events.find(({ name }) => name === event)?.examples ?? [];
  const exact = examples.filter((example) => example['action'] === action);
  return exact.length > 0 ? exact : examples;
}

/** The fields that a payload lacks compared with the most similar official example. */
export function findLacks(event: string, payload: unknown): readonly string[] {
  const action = (payload as JsonObject)['action'];
  const examples = officialExamples(event, typeof action === 'string' ? action : undefined);
  if (examples.length === 0) return [`there is no official example of ${event}`];
  const lacks = examples.map((example) => lacksOf(example, payload as Json, ''));
  return lacks.sort((one, other) => one.length - other.length)[0] ?? [];
}

function lacksOf(example: Json, value: Json | undefined, path: string): readonly string[] {
  if (value === undefined) return OPTIONAL.includes(path) ? [] : [`${path} is missing`];
  if (example === null || value === null) return [];
  if (kindOf(example) !== kindOf(value)) return [`${path} is ${kindOf(value)}, not ${kindOf(example)}`];
  if (Array.isArray(example)) {
    const [first] = example;
    return first === undefined ? [] : (value as readonly Json[]).flatMap((item) => lacksOf(first, item, `${path}[]`));
  }
  if (typeof example !== 'object' || FREE.test(path)) return [];
  return Object.entries(example).flatMap(([key, inner]) =>
    lacksOf(inner, (value as JsonObject)[key], path === '' ? key : `${path}.${key}`),
  );
}

function kindOf(value: Json): string {
  return Array.isArray(value) ? 'list' : typeof value;
}
