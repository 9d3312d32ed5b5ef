import { ERRORS, type ErrorCode } from '../contract/errors.ts';
import type { ApiSchema } from '../contract/schema.ts';
import { shellWord } from '../lib/text.ts';
import type { ApiOperation, OpenApi } from './openapi.ts';
import { type Html, html, joinHtml, NOTHING, renderLine, renderPage, renderText } from './page-html.ts';
import { PAGE_STYLE } from './page-style.ts';

interface Shown {
  readonly method: string;
  readonly path: string;
  readonly operation: ApiOperation;
}

/** The OpenAPI document for people, without scripts and external resources. Each schema is shown once, and linked. */
export function renderApiPage(document: OpenApi): string {
  const shown = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
  const { info, tags, components } = document;
  const ofTag = (tag: string) => shown.filter(({ operation }) => operation.tags.includes(tag));
  const body = html`<header><a class="brand" href="#introduction">${info.title} <span>API</span></a><a class="download" href="/docs/README.md">Guides</a><a href="openapi.json">openapi.json</a></header>
<main class="guide">
<section id="introduction"><h1>${info.title} API</h1>${renderText(info.description)}
${renderCode(firstRequest(document))}
<ul>${tags.map(({ name }) => html`<li>${name}: ${joinHtml(ofTag(name).map(linkOperation), ', ')}</li>`)}
<li><a href="#errors">Errors</a>, <a href="#types">Types</a></li></ul></section>
${tags.map(
  ({ name, description }) => html`<section><h2>${name}</h2><p>${renderLine(description)}</p>
${ofTag(name).map((each) => renderOperation(document, each))}</section>`,
)}
<section id="errors"><h2>Errors</h2><p>Codes are stable; titles and details may be reworded.</p>
${renderErrors(document, shown)}</section>
<section id="types"><h2>Types</h2>${Object.entries(components.schemas).map(renderType)}</section>
</main>`;
  return renderPage(`${info.title} API`, PAGE_STYLE, body);
}

function firstRequest({ servers }: OpenApi): string {
  const headers = `-H "x-api-token: $SLUICE_TOKEN" \\\n  -H 'content-type: application/json'`;
  return `export SLUICE_TOKEN=slc_…\n\ncurl -sS ${shellWord(`${servers[0]?.url ?? ''}/listQueues`)} \\\n  ${headers} \\\n  -d '{}'`;
}

function linkOperation({ operation: { operationId } }: Shown): Html {
  return html`<a href="#${operationId}">${operationId}</a>`;
}

function renderOperation(document: OpenApi, shown: Shown): Html {
  const { method, path, operation } = shown;
  const pathname = `${document.servers[0]?.url ?? ''}${path}`.replace(/^\w+:\/\/[^/]*/, '');
  const [status = '', success] = Object.entries(operation.responses).find(([code]) => code.startsWith('2')) ?? [];
  const [type, reply] = Object.entries(success?.content ?? {})[0] ?? ['', undefined];
  const example = type === 'application/json' ? JSON.stringify(reply?.example, null, 2) : String(reply?.example);
  const codes = codesOf(document, operation);
  return html`<article id="${operation.operationId}">
<h3>${linkOperation(shown)}</h3>
<p>${method} <code>${pathname}</code></p>
<p><b>${operation.summary}.</b></p>
${renderText(operation.description)}
<p>Request: ${renderRequest(operation)}</p>
${renderCode(formatCurl(document, shown))}
<p>Answer: ${status}, ${type}${reply === undefined ? NOTHING : html`, ${typeOf(reply.schema)}`}</p>
${renderCode(example)}
<p>Errors: ${joinHtml(
    codes.map((code) => html`<a href="#${code}">${code}</a>`),
    ', ',
  )}</p>
</article>
`;
}

const FORM = 'multipart/form-data';

function renderRequest({ requestBody, parameters = [] }: ApiOperation): Html {
  const body = requestBody?.content['application/json'];
  if (body !== undefined) return typeOf(body.schema);
  const form = requestBody?.content[FORM];
  if (form !== undefined) {
    return html`${typeOf(form.schema)} in a form (${FORM}); or one file as the body, and the other fields in the query string`;
  }
  const fields = parameters.map(({ name, schema, required }) => renderField(name, schema, required));
  return html`in the query string.</p><ul>${fields}</ul><p>`;
}

function renderCode(code: string): Html {
  return html`<pre tabindex="0"><code>${code}</code></pre>`;
}

/** The command works as printed in a POSIX shell with SLUICE_TOKEN set. */
function formatCurl({ servers }: OpenApi, { method, path, operation }: Shown): string {
  const url = shellWord(`${servers[0]?.url ?? ''}${path}`);
  const [flags, ...given] = argumentsOf(method, operation);
  return [`curl ${flags} ${url}`, '-H "x-api-token: $SLUICE_TOKEN"', ...given].join(' \\\n  ');
}

function argumentsOf(method: string, { parameters = [], requestBody }: ApiOperation): readonly string[] {
  if (method === 'GET') {
    return [
      '-sSG',
      ...parameters.map(({ name, example }) => `--data-urlencode ${shellWord(`${name}=${String(example)}`)}`),
    ];
  }
  const form = requestBody?.content[FORM];
  if (form === undefined) {
    const body = JSON.stringify(requestBody?.content['application/json']?.example, null, 2);
    return ['-sS', `-H ${shellWord('content-type: application/json')}`, `-d ${shellWord(body)}`];
  }
  const fields = Object.entries(form.example as Readonly<Record<string, unknown>>);
  return [
    '-sS',
    ...fields.map(([name, value]) => `-F ${shellWord(`${name}=${name === 'files' ? '@' : ''}${String(value)}`)}`),
  ];
}

function codesOf({ components }: OpenApi, operation: ApiOperation): ErrorCode[] {
  return Object.values(operation.responses).flatMap((response) => {
    const name = response.$ref?.split('/').at(-1);
    const found = name === undefined ? response : components.responses[name];
    return Object.values(found?.content ?? {}).flatMap(({ examples }) => Object.keys(examples ?? {}) as ErrorCode[]);
  });
}

function renderErrors(document: OpenApi, shown: readonly Shown[]): readonly Html[] {
  const given = shown.flatMap((giver) => codesOf(document, giver.operation).map((code) => ({ code, giver })));
  const givers = Map.groupBy(given, ({ code }) => code);
  return (Object.keys(ERRORS) as ErrorCode[]).map((code) => {
    const { status, title, help } = ERRORS[code];
    const of = givers.get(code)?.map(({ giver }) => linkOperation(giver)) ?? [];
    const where = of.length === shown.length ? 'every operation' : joinHtml(of, ', ');
    return html`<article id="${code}"><h3>${status} <a href="#${code}">${code}</a></h3>
<p><b>${title}.</b> ${renderLine(help)}</p><p>Given by ${of.length === 0 ? 'no operation' : where}.</p></article>
`;
  });
}

function renderType([name, schema]: readonly [string, ApiSchema]): Html {
  const alternatives = schema.properties === undefined ? html`<p>${typeOf(schema)}${rulesOf(schema)}</p>` : NOTHING;
  const fields = Object.entries(schema.properties ?? {});
  return html`<article id="type-${name}"><h3><a href="#type-${name}">${name}</a></h3>
<p>${renderLine(schema.description ?? '')}</p>${alternatives}
<ul>${fields.map(([field, each]) => renderField(field, each, schema.required?.includes(field) === true))}</ul></article>
`;
}

function renderField(name: string, schema: ApiSchema, isRequired: boolean): Html {
  const presence = isRequired ? '' : ', may be absent';
  return html`<li><code>${name}</code> ${typeOf(schema)}${rulesOf(schema)}${presence}. ${renderLine(schema.description ?? '')}</li>`;
}

function typeOf(schema: ApiSchema): Html {
  const name = schema.$ref?.split('/').at(-1);
  if (name !== undefined) return html`<a href="#type-${name}">${name}</a>`;
  if (schema.anyOf !== undefined) return joinHtml(schema.anyOf.map(typeOf), ' or ');
  if (schema.enum !== undefined)
    return joinHtml(
      schema.enum.map((value) => html`<code>${String(value)}</code>`),
      ', ',
    );
  if (schema.items !== undefined) return html`list of ${typeOf(schema.items)}${rulesOf(schema.items)}`;
  return html`${schema.format ?? [schema.type ?? 'any'].flat().join(' or ')}`;
}

function rulesOf(schema: ApiSchema): string {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, uniqueItems } = schema;
  const rules = [
    describeRange(minimum, maximum, ''),
    describeRange(minLength, maxLength, ' characters'),
    describeRange(minItems, maxItems, ' items'),
    uniqueItems === true ? ', all different' : '',
    schema.default === undefined ? '' : `, default ${JSON.stringify(schema.default)}`,
  ];
  return rules.join('');
}

function describeRange(from: number | undefined, to: number | undefined, unit: string): string {
  if (from === undefined) return to === undefined ? '' : `, at most ${to}${unit}`;
  return to === undefined ? `, at least ${from}${unit}` : `, ${from} to ${to}${unit}`;
}
