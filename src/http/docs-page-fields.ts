import { type Html, html, NOTHING, renderLine } from './docs-page-html.ts';
import type { OpenApi } from './openapi.ts';
import type { ApiSchema } from './openapi-schemas.ts';

type Schemas = OpenApi['components']['schemas'];

interface Field {
  readonly name: string;
  readonly schema: ApiSchema;
  readonly isRequired: boolean;
}

/** Requests mark required fields, replies optional ones. */
export type Direction = 'request' | 'answer';

interface FieldPosition {
  readonly schemas: Schemas;
  readonly direction: Direction;
  /** The enclosing objects. */
  readonly outer: readonly ApiSchema[];
}

/** The fields of an object, nested ones indented. For a union of objects, the fields of each. */
export function renderFields(schema: ApiSchema, schemas: Schemas, direction: Direction): Html {
  const place = { schemas, direction, outer: [] };
  const node = resolve(schema, schemas);
  const alternatives = objectsOf(node, schemas);
  if (alternatives.length > 1) {
    return html`${alternatives.map(
      (each, index) =>
        html`<div class="either"><span class="label">${index === 0 ? 'Either' : 'Or'}</span>${renderObject(each, place)}</div>`,
    )}`;
  }
  const [only] = alternatives;
  if (only === undefined) return html`<p>${renderLine(node.description ?? '')}</p>`;
  return renderObject(only, place);
}

/** Parameters: fields outside of an object. */
export function renderFieldList(fields: readonly Field[], schemas: Schemas): Html {
  return html`<ul class="fields">${fields.map((field) => renderField(field, { schemas, direction: 'request', outer: [] }))}</ul>`;
}

function renderObject(schema: ApiSchema, place: FieldPosition): Html {
  const { properties = {}, required = [] } = schema;
  const fields = Object.entries(properties).map(([name, each]) => ({
    name,
    schema: each,
    isRequired: required.includes(name),
  }));
  if (fields.length === 0) return html`<p class="none">No fields.</p>`;
  return html`<ul class="fields">${fields.map((field) => renderField(field, { ...place, outer: [...place.outer, schema] }))}</ul>`;
}

function renderField({ name, schema, isRequired }: Field, place: FieldPosition): Html {
  const { schemas, direction } = place;
  const node = resolve(schema, schemas);
  return html`<li><div class="field"><div class="what"><code class="name">${name}</code> <span class="type">${typeOf(node, schemas)}</span>${renderPresence(isRequired, direction)}</div><div class="why">${renderLine(schema.description ?? node.description ?? '')}${renderRules(node, schemas)}</div></div>${renderInner(node, place)}</li>`;
}

function renderPresence(isRequired: boolean, direction: Direction): Html {
  if (direction === 'request') return isRequired ? html` <span class="required">required</span>` : NOTHING;
  return isRequired ? NOTHING : html` <span class="absent">may be absent</span>`;
}

/** Larger objects are folded, so that the outline stays visible. */
const FOLD_FROM = 6;

function renderInner(node: ApiSchema, place: FieldPosition): Html {
  const inner = objectsOf(node, place.schemas).filter((each) => Object.keys(each.properties ?? {}).length > 0);
  return html`${inner.map((each) => {
    // A recursive schema is named, and not shown again.
    if (place.outer.includes(each)) return NOTHING;
    const count = Object.keys(each.properties ?? {}).length;
    const list = renderObject(each, place);
    if (count < FOLD_FROM) return html`<div class="inner">${list}</div>`;
    return html`<details class="inner"><summary>${count} fields</summary>${list}</details>`;
  })}`;
}

/** The objects that a value of this schema is, or is a list of. */
function objectsOf(schema: ApiSchema, schemas: Schemas): ApiSchema[] {
  const node = resolve(schema, schemas);
  if (node.properties !== undefined || isObjectAlone(node)) return [node];
  if (node.items !== undefined) return objectsOf(node.items, schemas);
  return (node.anyOf ?? []).flatMap((each) => objectsOf(each, schemas));
}

function isObjectAlone(node: ApiSchema): boolean {
  return node.type === 'object' && node.anyOf === undefined;
}

function typeOf(schema: ApiSchema, schemas: Schemas): string {
  const node = resolve(schema, schemas);
  if (node.anyOf !== undefined && node.properties === undefined) {
    return [...new Set(node.anyOf.map((each) => typeOf(each, schemas)))].join(' or ');
  }
  const types = typeof node.type === 'string' ? [node.type] : (node.type ?? ['any']);
  return types.map((type) => nameType(type, node, schemas)).join(' or ');
}

function nameType(type: string, node: ApiSchema, schemas: Schemas): string {
  if (type === 'array') return node.items === undefined ? 'list' : `list of ${typeOf(node.items, schemas)}`;
  if (type === 'string' && node.format !== undefined) return node.format;
  if (type === 'string' && node.enum !== undefined) return 'enum';
  return type;
}

function renderRules(node: ApiSchema, schemas: Schemas): Html {
  const parts = [node, ...(node.anyOf ?? [])].map((each) => resolve(each, schemas));
  const rules = parts.flatMap((part) => [
    ...rangesOf(part),
    ...(part.items === undefined ? [] : rangesOf(resolve(part.items, schemas))),
  ]);
  const values = parts.flatMap(
    (part) => part.enum ?? (part.items === undefined ? [] : (resolve(part.items, schemas).enum ?? [])),
  );
  const shown = [
    ...new Set(rules),
    ...(node.default === undefined ? [] : [`default ${JSON.stringify(node.default)}`]),
  ].map((rule) => html`<span class="rule">${rule}</span>`);
  const choices = values.map((value) => html`<code class="choice">${String(value)}</code>`);
  return html`${shown.length === 0 ? NOTHING : html`<div class="rules">${shown}</div>`}${choices.length === 0 ? NOTHING : html`<div class="rules">${choices}</div>`}`;
}

function rangesOf(node: ApiSchema): string[] {
  return [
    ...describeRange(node.minimum, node.maximum, ''),
    // A required string has at least one character anyway.
    ...describeRange(node.minLength === 1 ? undefined : node.minLength, node.maxLength, ' characters'),
    ...describeRange(node.minItems, node.maxItems, ' items'),
    ...(node.uniqueItems === true ? ['all different'] : []),
  ];
}

function describeRange(from: number | undefined, to: number | undefined, unit: string): string[] {
  if (from === undefined && to === undefined) return [];
  if (from === undefined) return [`at most ${to}${unit}`];
  if (to === undefined) return [`at least ${from}${unit}`];
  return [`${from} to ${to}${unit}`];
}

function resolve(schema: ApiSchema, schemas: Schemas): ApiSchema {
  const name = schema.$ref?.split('/').at(-1);
  if (name === undefined) return schema;
  const { $ref: _, ...beside } = schema;
  return Object.keys(beside).length === 0 ? (schemas[name] ?? {}) : { ...schemas[name], ...beside };
}
