import { ERRORS, type ErrorCode } from '../contract/errors.ts';
import { renderFieldList, renderFields } from './docs-page-fields.ts';
import { type Html, html, NOTHING, renderJson, renderLine, renderPage, renderText } from './docs-page-html.ts';
import { DOCS_PAGE_STYLE } from './docs-page-style.ts';
import type { ApiContent, ApiOperation, ApiResponse, OpenApi } from './openapi.ts';

interface Shown {
  readonly method: string;
  readonly path: string;
  readonly operation: ApiOperation;
}

/** A page for people, made from the OpenAPI document, without scripts and external resources. */
export function renderDocsPage(document: OpenApi): string {
  const shown = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
  const { title, summary } = document.info;
  const body = html`<a class="skip" href="#introduction">Skip to the content</a>
<header><a class="brand" href="#introduction">${title} <span>API</span></a><span class="tagline">${summary}</span><a class="download" href="/docs/README.md">Guides</a><a href="openapi.json">openapi.json</a></header>
<div class="page">
<input type="checkbox" id="menu"><label class="menu" for="menu">Contents</label>
<nav aria-label="Operations">${renderNavigation(document, shown)}</nav>
<main>
${renderIntroduction(document)}
${document.tags.map((tag) => renderTag(document, tag, shown))}
${renderErrors(document, shown)}
</main>
</div>`;
  return renderPage(`${title} API`, DOCS_PAGE_STYLE, body);
}

function renderNavigation({ tags }: OpenApi, shown: readonly Shown[]): Html {
  const groups = tags.map(
    ({ name }) =>
      html`<h2><a href="#${anchorOf(name)}">${name}</a></h2><ul>${operationsOf(shown, name).map(
        ({ operation }) => html`<li><a href="#${operation.operationId}">${operation.operationId}</a></li>`,
      )}</ul>`,
  );
  return html`<h2><a href="#introduction">Introduction</a></h2>${groups}<h2><a href="#errors">Errors</a></h2>`;
}

function renderIntroduction({ info, servers }: OpenApi): Html {
  const base = servers[0]?.url ?? '';
  const command = `export SLUICE_TOKEN=slc_…\n\ncurl -sS ${quote(`${base}/listQueues`)} \\\n  -H "x-api-token: $SLUICE_TOKEN" \\\n  -H 'content-type: application/json' \\\n  -d '{}'`;
  return html`<section id="introduction" class="operation">
<div class="prose"><h1>${info.title} API</h1>${renderText(info.description)}</div>
<div class="examples">${renderCode('Base address', html`${base}`)}${renderCode('First request', html`${command}`)}</div>
</section>`;
}

function renderTag(document: OpenApi, tag: OpenApi['tags'][number], shown: readonly Shown[]): Html {
  return html`<section id="${anchorOf(tag.name)}"><h2 class="tag">${tag.name}</h2><p class="lead">${renderLine(tag.description)}</p>
${operationsOf(shown, tag.name).map((each) => renderOperation(document, each))}</section>
`;
}

function renderOperation(document: OpenApi, shown: Shown): Html {
  const { method, path, operation } = shown;
  const pathname = `${document.servers[0]?.url ?? ''}${path}`.replace(/^\w+:\/\/[^/]*/, '');
  const [status = '', success] = Object.entries(operation.responses).find(([code]) => code.startsWith('2')) ?? [];
  const [type, reply] = Object.entries(success?.content ?? {})[0] ?? ['', undefined];
  return html`<article id="${operation.operationId}" class="operation">
<div class="prose">
<h3><a href="#${operation.operationId}">${operation.operationId}</a></h3>
<p class="address"><span class="method ${method.toLowerCase()}">${method}</span> <code>${pathname}</code> <span class="scope">scope <a href="#createApiToken">${operation['x-required-scope']}</a></span></p>
<p class="summary">${operation.summary}.</p>
${renderText(withoutScope(operation.description))}
<h4>Request</h4>
${renderRequest(document, operation)}
<h4>Answer <span class="type">${status}, ${type}</span></h4>
${reply === undefined ? NOTHING : renderFields(reply.schema, document.components.schemas, 'answer')}
<h4>Errors</h4>
${renderErrorLinks(document, operation)}
</div>
<div class="examples">
${renderCode('Request', html`${formatCurl(document, shown)}`)}
${reply === undefined ? NOTHING : renderCode('Answer', renderExample(type, reply))}
</div>
</article>
`;
}

/** The page shows the scope beside the address. */
function withoutScope(description: string): string {
  return description.replace(/\n\nNeeds the scope .*$/, '');
}

function renderRequest({ components }: OpenApi, operation: ApiOperation): Html {
  const body = operation.requestBody?.content['application/json'];
  if (body !== undefined) return renderFields(body.schema, components.schemas, 'request');
  const form = operation.requestBody?.content[FORM];
  if (form !== undefined) {
    const where = 'In a form (multipart/form-data); or one file as the body, and the other fields in the query string.';
    return html`<p class="none">${where}</p>${renderFields(form.schema, components.schemas, 'request')}`;
  }
  const fields = (operation.parameters ?? []).map(({ name, schema, required }) => ({
    name,
    schema,
    isRequired: required,
  }));
  return html`<p class="none">In the query string.</p>${renderFieldList(fields, components.schemas)}`;
}

const FORM = 'multipart/form-data';

function renderExample(type: string, { example }: ApiContent): Html {
  return type === 'application/json' ? renderJson(example) : html`${String(example)}`;
}

function renderCode(title: string, code: Html): Html {
  return html`<figure><figcaption>${title}</figcaption><pre tabindex="0"><code>${code}</code></pre></figure>`;
}

/** The command works as printed in a POSIX shell with SLUICE_TOKEN set. */
function formatCurl({ servers }: OpenApi, { method, path, operation }: Shown): string {
  const token = '-H "x-api-token: $SLUICE_TOKEN"';
  const url = quote(`${servers[0]?.url ?? ''}${path}`);
  if (method === 'GET') {
    const query = (operation.parameters ?? []).map(
      ({ name, example }) => `--data-urlencode ${quote(`${name}=${String(example)}`)}`,
    );
    return [`curl -sSG ${url}`, token, ...query].join(' \\\n  ');
  }
  const form = operation.requestBody?.content[FORM];
  if (form !== undefined) {
    const { files, ...fields } = form.example as Readonly<Record<string, unknown>>;
    const parts = Object.entries(fields).map(([name, value]) => `-F ${quote(`${name}=${String(value)}`)}`);
    return [`curl -sS ${url}`, token, ...parts, `-F ${quote(`files=@${String(files)}`)}`].join(' \\\n  ');
  }
  const body = JSON.stringify(operation.requestBody?.content['application/json']?.example, null, 2);
  return [`curl -sS ${url}`, token, `-H ${quote('content-type: application/json')}`, `-d ${quote(body)}`].join(
    ' \\\n  ',
  );
}

function quote(text: string): string {
  if (/^[\w./:-]+$/.test(text)) return text;
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function renderErrorLinks(document: OpenApi, operation: ApiOperation): Html {
  const codes = codesOf(document, operation);
  // Errors that every operation has come last.
  const isCommon = (code: ErrorCode): boolean =>
    Object.values(document.components.responses).some((response) => hasCode(response, code));
  const link = (code: ErrorCode): Html =>
    html`<li><span class="status">${ERRORS[code].status}</span> <a href="#${code}">${code}</a> <span class="why">${ERRORS[code].title}</span></li>`;
  const own = codes.filter((code) => !isCommon(code));
  const common = codes.filter(isCommon);
  return html`${own.length === 0 ? NOTHING : html`<ul class="errors">${own.map(link)}</ul>`}
<details><summary>${own.length === 0 ? '' : 'and '}${common.length} that every operation has</summary><ul class="errors">${common.map(link)}</ul></details>`;
}

function codesOf({ components }: OpenApi, operation: ApiOperation): ErrorCode[] {
  return Object.values(operation.responses).flatMap((response) => {
    const name = response.$ref?.split('/').at(-1);
    const found = name === undefined ? response : components.responses[name];
    return Object.values(found?.content ?? {}).flatMap(({ examples }) => Object.keys(examples ?? {}) as ErrorCode[]);
  });
}

function hasCode(response: ApiResponse, code: ErrorCode): boolean {
  return Object.values(response.content ?? {}).some(({ examples }) => examples !== undefined && code in examples);
}

function renderErrors(document: OpenApi, shown: readonly Shown[]): Html {
  const given = shown.flatMap((giver) => codesOf(document, giver.operation).map((code) => ({ code, giver })));
  const givers = Map.groupBy(given, ({ code }) => code);
  return html`<section id="errors"><h2 class="tag">Errors</h2><p class="lead">Codes are stable; titles and details may be reworded.</p>
${(Object.keys(ERRORS) as ErrorCode[]).map((code) =>
  renderError(document, code, givers.get(code)?.map(({ giver }) => giver) ?? [], shown.length),
)}</section>`;
}

function renderError({ components }: OpenApi, code: ErrorCode, givers: readonly Shown[], total: number): Html {
  const { status, title, help } = ERRORS[code];
  const example = components.examples[code]?.value;
  return html`<article id="${code}" class="error">
<h3><span class="status">${status}</span> <a href="#${code}">${code}</a></h3>
<p class="summary">${title}.</p><p>${renderLine(help)}</p>${renderGivers(givers, total)}
${example === undefined ? NOTHING : html`<details><summary>Example</summary><pre tabindex="0"><code>${renderJson(example)}</code></pre></details>`}
</article>
`;
}

function renderGivers(givers: readonly Shown[], total: number): Html {
  if (givers.length === 0) return html`<p class="none">Given outside the operations.</p>`;
  if (givers.length === total) return html`<p class="none">Every operation can give it.</p>`;
  const links = givers.map(
    ({ operation: { operationId } }, index) =>
      html`${index === 0 ? '' : ', '}<a href="#${operationId}">${operationId}</a>`,
  );
  return html`<p class="none">Given by ${links}.</p>`;
}

function operationsOf(shown: readonly Shown[], tag: string): readonly Shown[] {
  return shown.filter(({ operation }) => operation.tags.includes(tag));
}

function anchorOf(tag: string): string {
  return tag.toLowerCase().replaceAll(' ', '-');
}
