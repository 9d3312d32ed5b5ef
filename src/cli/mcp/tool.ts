import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox';
import Value from 'typebox/value';
import type { Context } from '../core/context.ts';
import type { Place } from '../core/place.ts';
import type { TestScope } from '../tests/scope.ts';
import type { Part } from './answer.ts';

/** The calls of a tool, and the repository and queue that are meant where none is named. */
export interface Session {
  readonly context: Context;
  findPlace(given: { readonly repo?: string; readonly branch?: string }): Promise<Place>;
  findScope(given: { readonly repo?: string }): Promise<TestScope>;
}

export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: TObject;
  readonly isWrite: boolean;
  run(session: Session, given: never): Promise<readonly Part[]>;
}

interface Definition<Fields extends TProperties> extends Omit<Tool, 'input' | 'isWrite' | 'run'> {
  readonly fields: Fields;
  readonly isWrite?: true;
  run(session: Session, given: Static<TObject<Fields>>): Promise<readonly Part[]>;
}

export function tool<Fields extends TProperties>({ fields, isWrite, ...more }: Definition<Fields>): Tool {
  return { ...more, isWrite: isWrite === true, input: Type.Object(fields, { additionalProperties: false }) };
}

/** A sentence for each argument that does not fit, which tells what it is for; undefined if all fit. */
// SPEC W55
export function describeMisfits({ properties, required }: TObject, given: unknown): string | undefined {
  const fields = properties as Readonly<Record<string, TSchema & { description?: string }>>;
  const values = (given ?? {}) as Readonly<Record<string, unknown>>;
  const names = Object.keys(fields);
  const unknown = Object.keys(values).filter((name) => !names.includes(name));
  const sentences = [
    ...unknown.map((name) => `"${name}" is no argument of this tool: it has ${names.join(', ') || 'none'}.`),
    ...names.flatMap((name) => {
      const field = fields[name] as (typeof fields)[string];
      if (!Object.hasOwn(values, name))
        return (required as readonly string[] | undefined)?.includes(name)
          ? [`${name} is required. ${field.description}`]
          : [];
      return Value.Check(field, values[name]) ? [] : [`${name} must be ${describeType(field)}. ${field.description}`];
    }),
  ];
  return sentences.length === 0 ? undefined : sentences.join('\n');
}

interface Described {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
}

function describeType(field: object): string {
  const { type, enum: names, minimum, maximum, maxLength } = field as Described;
  if (names !== undefined) return `one of ${names.join(', ')}`;
  if (type === 'integer') return `a whole number from ${minimum} to ${maximum}`;
  return type === 'boolean' ? 'true or false' : `a text of 1 to ${maxLength} characters`;
}

export const words = (description: string, maxLength = 255) => Type.String({ minLength: 1, maxLength, description });

export const choice = <Name extends string>(names: readonly Name[], description: string) =>
  Type.Unsafe<Name>({ type: 'string', enum: names, description });

const repo = Type.Optional(
  words(
    'The repository as host/owner/name, such as github.com/acme/app or local/acme/app. Default: the git remote of the folder in which this server runs. list_queues names all.',
    800,
  ),
);

export const repoFields = { repo };

export const queueFields = {
  repo,
  branch: Type.Optional(
    words(
      'The branch that the queue lands on, such as main; not the branch of the pull request. Default: that of the only queue of the repository.',
    ),
  ),
};

export const prFields = {
  ...queueFields,
  pr: Type.Integer({ minimum: 1, maximum: 4_294_967_295, description: 'The number of the pull request, such as 7.' }),
};

export const pageFields = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'How many at most. Default: 20.' }),
  ),
  cursor: Type.Optional(words('Goes on after a page: the cursor that it ended with.', 1000)),
};
