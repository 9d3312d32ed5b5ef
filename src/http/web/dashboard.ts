import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { RESERVED_SLUGS } from '../../lib/text.ts';
import { HttpProblem } from '../core/problem.ts';
import type { ServerDeps } from '../core/server-deps.ts';

/** The build of the dashboard wrote it: the page, and the files that the page loads. */
interface Manifest {
  readonly html: string;
  readonly files: readonly string[];
}

/** Scripts and styles come from this server and from no text in a page; nothing is sent elsewhere. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  ...["script-src 'self'", "style-src 'self'", "img-src 'self' data:", "connect-src 'self'", "worker-src 'self'"],
  ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
].join('; ');

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

/** The dashboard: one page for every address of it. */
export class Dashboard {
  readonly #folder: string;
  readonly #manifest: Manifest | undefined;

  constructor({ webFolder }: Pick<ServerDeps, 'webFolder'>) {
    this.#folder = webFolder ?? '';
    this.#manifest = webFolder === undefined ? undefined : readManifest(webFolder);
  }

  /** Shows the page. `plain` is shown instead where there is no dashboard or no JavaScript. */
  // SPEC A38
  show(reply: FastifyReply, plain?: { readonly page: string; readonly body: string }): FastifyReply {
    reply.type('text/html; charset=utf-8').header('cache-control', 'no-cache');
    if (this.#manifest === undefined && plain !== undefined) return reply.send(plain.page);
    reply.header('content-security-policy', CONTENT_SECURITY_POLICY).header('referrer-policy', 'same-origin');
    const html = this.#manifest?.html ?? NOT_BUILT;
    return reply.send(plain === undefined ? html : html.replace('</noscript>', () => `${plain.body}</noscript>`));
  }

  findFile(name: string, isZipped: boolean): Buffer | undefined {
    if (this.#manifest?.files.includes(name) !== true) return undefined;
    return readFileSync(path.join(this.#folder, isZipped ? `${name}.gz` : name));
  }
}

const NOT_BUILT =
  '<!doctype html><html lang="en"><title>Sluice</title><p>The dashboard is not built. <code>npm start</code> builds it; the API and the command line work without it.</p>';

function readManifest(folder: string): Manifest | undefined {
  const file = path.join(folder, 'manifest.json');
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Manifest) : undefined;
}

/** Any first part of an address that is not the server's own. */
export const OF_ORGANIZATION = `/:org(^(?!(?:${RESERVED_SLUGS.join('|')})$)[a-z0-9][a-z0-9-]*$)`;

/** Serves the page at every address of the dashboard, and its files, which never change under their names. */
export function registerDashboard(server: FastifyInstance, dashboard: Dashboard): void {
  const show = (_request: FastifyRequest, reply: FastifyReply) => dashboard.show(reply);
  server.get('/', show);
  server.get('/login', show);
  server.get(OF_ORGANIZATION, show);
  server.get(`${OF_ORGANIZATION}/*`, show);
  server.get('/assets/:file', (request, reply) => {
    const { file } = request.params as { readonly file: string };
    const isZipped = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''));
    const content = dashboard.findFile(file, isZipped);
    if (content === undefined) throw new HttpProblem('ROUTE_NOT_FOUND', 'There is no such file.');
    reply.type(TYPES[path.extname(file)] ?? 'application/octet-stream').header('vary', 'accept-encoding');
    reply.header('cache-control', 'public, max-age=31536000, immutable');
    if (isZipped) reply.header('content-encoding', 'gzip');
    return reply.send(content);
  });
}
