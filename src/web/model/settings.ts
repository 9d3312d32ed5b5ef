/** A setting of a queue, as the API describes it. */
export interface Setting {
  readonly name: string;
  readonly sentence: string;
  readonly kind: 'choice' | 'flag' | 'number' | 'text' | 'json';
  readonly choices: readonly string[];
  readonly least?: number;
  readonly most?: number;
  /** It may be unset. */
  readonly isNullable: boolean;
}

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
}

export interface OpenApi {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** These fields of the request act, and set nothing. */
const NO_SETTINGS = new Set([
  'repo',
  'targetBranch',
  'state',
  'reason',
  'until',
  'addFreeze',
  'removeFreeze',
  'deleteRequiredStatuses',
]);

/** The settings that updateQueue takes, from the server's own description of it. */
export function readSettings({ components: { schemas } }: OpenApi): readonly Setting[] {
  const fields = schemas['UpdateQueueRequest']?.properties ?? {};
  return Object.entries(fields)
    .filter(([name]) => !NO_SETTINGS.has(name))
    .map(([name, schema]) => readSetting(name, resolve(schema, schemas)));
}

function resolve(schema: Schema, schemas: OpenApi['components']['schemas']): Schema {
  const name = schema.$ref?.split('/').at(-1);
  return name === undefined
    ? schema
    : { ...schemas[name], ...(schema.description ? { description: schema.description } : {}) };
}

function readSetting(name: string, schema: Schema): Setting {
  const plain = schema.anyOf?.find(({ type }) => type !== 'null') ?? schema;
  const choices = (plain.enum ?? []).map(String).filter((choice) => choice === choice.toUpperCase());
  return {
    name,
    sentence: schema.description ?? plain.description ?? '',
    kind: kindOf(plain, choices),
    choices,
    ...(plain.minimum === undefined ? {} : { least: plain.minimum }),
    ...(plain.maximum === undefined ? {} : { most: plain.maximum }),
    isNullable: schema.anyOf?.some(({ type }) => type === 'null') ?? false,
  };
}

function kindOf({ type }: Schema, choices: readonly string[]): Setting['kind'] {
  if (choices.length > 0) return 'choice';
  if (type === 'boolean') return 'flag';
  if (type === 'integer' || type === 'number') return 'number';
  return type === 'string' ? 'text' : 'json';
}

/** The value of a setting as a field of a form shows it. */
export function toField({ kind }: Setting, value: unknown): string {
  if (value === null || value === undefined) return '';
  return kind === 'json' ? JSON.stringify(value) : String(value);
}

/** The value that a field stands for. Throws a sentence if it stands for none. */
export function fromField({ name, kind, isNullable }: Setting, field: string): unknown {
  if (field.trim() === '' && isNullable) return null;
  if (kind === 'flag') return field === 'true';
  if (kind === 'number') {
    const value = Number(field);
    if (field.trim() === '' || Number.isNaN(value)) throw new Error(`${name} must be a number.`);
    return value;
  }
  if (kind !== 'json') return field;
  try {
    return JSON.parse(field) as unknown;
  } catch {
    throw new Error(`${name} must be JSON, such as ["unit", "lint"].`);
  }
}
