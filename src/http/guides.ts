import { readdir, readFile } from 'node:fs/promises';
import { dirname, extname, posix, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import { HttpProblem } from './core/problem.ts';
import { asPage } from './link-pages.ts';
import { html, renderPage } from './page-html.ts';
import { PAGE_STYLE } from './page-style.ts';

/** Two folders up from the sources and from the bundles alike. */
const FOLDER = fileURLToPath(new URL('../../docs/', import.meta.url));
const INDEX = 'README.md';
const TYPES: Readonly<Record<string, string>> = { '.md': 'text/html', '.png': 'image/png', '.yml': 'text/plain' };

// SPEC H52
export function registerGuides(server: FastifyInstance): void {
  let known: Promise<ReadonlySet<string>> | undefined;
  const pages = new Map<string, Promise<string>>();
  server.get('/docs/*', async (request, reply) => {
    known ??= listFiles();
    const path = (request.params as { '*': string })['*'] || INDEX;
    const files = await known;
    // Only listed files are read, so that no path leads out of the folder.
    if (!files.has(path)) throw new HttpProblem('ROUTE_NOT_FOUND', `There is no such page. /docs/${INDEX} lists them.`);
    if (extname(path) !== '.md') return reply.type(TYPES[extname(path)] as string).send(await readFile(FOLDER + path));
    const page = pages.get(path) ?? renderGuide(path, files);
    pages.set(path, page);
    return asPage(reply, "; img-src 'self'").send(await page);
  });
}

async function listFiles(): Promise<ReadonlySet<string>> {
  // An installation may lack the folder.
  const found = await readdir(FOLDER, { recursive: true }).catch(() => []);
  return new Set(found.filter((path) => extname(path) in TYPES).map((path) => path.replaceAll(sep, '/')));
}

async function renderGuide(path: string, files: ReadonlySet<string>): Promise<string> {
  // Loaded with the first page: most servers are asked for none.
  const [{ Marked }, text] = await Promise.all([import('marked'), readFile(FOLDER + path, 'utf8')]);
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text: heading }) {
        return `<h${depth} id="${slugOf(heading)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const [target = ''] = href.split('#');
        const shown = this.parser.parseInline(tokens);
        const isHere = target === '' || files.has(posix.join(dirname(path), target));
        // Files of the clone that no server shows.
        return isHere || /^https?:/.test(href) ? html`<a href="${href}">${{ markup: shown }}</a>`.markup : shown;
      },
    },
  });
  const content = { markup: await marked.parse(text) };
  const title = /^# (.*)$/m.exec(text)?.[1] ?? 'Documentation';
  const body = html`<header><a class="brand" href="/docs/${INDEX}">Sluice <span>documentation</span></a><a class="download" href="/docs">API</a></header>
<main class="guide">${content}</main>`;
  return renderPage(`${title} - Sluice`, PAGE_STYLE, body);
}

/** As GitHub makes the address of a heading. */
function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}
