import type { ApiSchema } from '../contract/schema.ts';
import { assert } from '../lib/assert.ts';

/** Objects and enums without a name are named for their place, so that every generator of clients calls them alike. */
// SPEC H35
export class SchemaComponents {
  readonly schemas: Record<string, ApiSchema> = {};

  /** `name` is for a schema that the contract does not name. */
  describe(schema: unknown, name: string): ApiSchema {
    return this.#describe(schema as ApiSchema, name);
  }

  /** The same for a body or a reply, which always has a name. */
  describeWhole(schema: unknown, name: string): ApiSchema {
    return this.#describe({ 'x-sluice-component': name, ...(schema as ApiSchema) }, name);
  }

  #describe(node: ApiSchema, place: string): ApiSchema {
    // A recursive component.
    if (node.$ref !== undefined) return referTo(node.$ref.slice(0, -1));
    const name = node['x-sluice-component'] ?? (needsName(node) ? place : undefined);
    const described = this.#describeKeywords(node, name ?? place);
    if (name === undefined) return described;
    const { default: initial, ...shared } = described;
    this.#add(name, shared);
    return { ...referTo(name), ...(initial === undefined ? {} : { default: initial }) };
  }

  #add(name: string, schema: ApiSchema): void {
    const known = this.schemas[name];
    this.schemas[name] = known ?? schema;
    assert(known === undefined || shapeOf(known) === shapeOf(schema), `two schemas are called ${name}`);
  }

  #describeKeywords(node: ApiSchema, place: string): ApiSchema {
    const { properties, items, anyOf, 'x-sluice-shown-rules': rules = {}, ...rest } = node;
    return {
      ...(withoutOwnKeywords({ ...rest, ...rules }) as ApiSchema),
      ...(properties === undefined ? {} : { properties: this.#describeFields(properties, place) }),
      ...(items === undefined ? {} : { items: this.#describe(items, singular(place)) }),
      ...(anyOf === undefined ? {} : { anyOf: anyOf.map((each) => this.#describe(each, place)) }),
    };
  }

  #describeFields(properties: Readonly<Record<string, ApiSchema>>, place: string): Record<string, ApiSchema> {
    const fields = Object.entries(properties);
    return Object.fromEntries(fields.map(([name, each]) => [name, this.#describe(each, place + pascalCase(name))]));
  }
}

function referTo(name: string): ApiSchema {
  return { $ref: `#/components/schemas/${name}` };
}

function needsName({ properties = {}, enum: values }: ApiSchema): boolean {
  return values !== undefined || Object.keys(properties).length > 0;
}

/** Descriptions may differ: the first one that the document needs is shown. */
function shapeOf({ description: _, ...shape }: ApiSchema): string {
  return JSON.stringify(Object.entries(shape).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

export function pascalCase(name: string): string {
  return name.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function singular(name: string): string {
  return name.replace(/(?<=[a-z])s$/, '');
}

/** An enum that accepts several spellings has one in the document. */
function withoutOwnKeywords(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutOwnKeywords);
  if (typeof node !== 'object' || node === null) return node;
  const { 'x-sluice-shown': shown } = node as ApiSchema;
  const entries = Object.entries(node).filter(([key]) => key !== '$id' && !key.startsWith('x-sluice-'));
  return Object.fromEntries(
    entries.map(([key, value]) => [key, key === 'enum' ? (shown ?? value) : withoutOwnKeywords(value)]),
  );
}
