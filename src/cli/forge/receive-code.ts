import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { escapeHtml } from '../../lib/text.ts';
import { CliError, EXIT, usageError } from '../core/exit.ts';
import type { Manifest } from './manifest.ts';

/** Serves a setup page to a browser on this machine, and receives the code that GitHub redirects back with. */
export interface CodeReceiver {
  readonly url: string;
  /** GitHub redirects the browser to this URL. */
  readonly redirectUrl: string;
  /** Serves this page from now on. */
  show(html: string, formTarget: string): void;
  /** Resolves when a browser comes back with a code. */
  readonly code: Promise<string>;
  close(): void;
}

// SPEC G93
export async function receiveCode(options: { readonly port: number; readonly state: string }): Promise<CodeReceiver> {
  let shown = { html: '', formTarget: '' };
  let settle: (code: string) => void = () => undefined;
  const code = new Promise<string>((resolve) => {
    settle = resolve;
  });
  // The page contains the state, so its path is random: other users of this machine, and other pages in the browser,
  // know only the port.
  const page = `/${randomBytes(12).toString('hex')}`;
  const server = createServer((request, response) => answer(request, response));
  function answer(request: IncomingMessage, response: ServerResponse): void {
    const address = `http://127.0.0.1${request.url ?? '/'}`;
    const { pathname, searchParams } = new URL(URL.canParse(address) ? address : 'http://127.0.0.1/');
    const given = searchParams.get('code') ?? '';
    if (request.method !== 'GET') return send(response, 405, renderEnd('Not here', 'Open this page with a browser.'));
    if (pathname === page) return send(response, 200, shown.html, shown.formTarget);
    if (pathname !== '/created')
      return send(response, 404, renderEnd('Nothing here', 'Open the page that was printed.'));
    // A foreign page must not be able to submit its own App.
    if (searchParams.get('state') !== options.state || !isCode(given)) {
      const text = 'This did not come from the page that Sluice showed. Open that one again.';
      return send(response, 400, renderEnd('That did not work', text));
    }
    send(
      response,
      200,
      renderEnd('The App is there', 'Go back to the terminal: it says what comes next. You can close this page.'),
    );
    settle(given);
  }
  const { port } = await listen(server, options.port);
  const origin = `http://127.0.0.1:${port}`;
  return {
    url: `${origin}${page}`,
    redirectUrl: `${origin}/created`,
    show: (html, formTarget) => {
      shown = { html, formTarget };
    },
    code,
    close: () => {
      server.close();
      server.closeIdleConnections();
    },
  };
}

function isCode(text: string): boolean {
  return /^[A-Za-z0-9_-]{8,200}$/.test(text);
}

function send(response: ServerResponse, status: number, html: string, formTarget = ''): void {
  const form = formTarget === '' ? "'none'" : new URL(formTarget).origin;
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': `default-src 'none'; style-src 'unsafe-inline'; form-action ${form}; frame-ancestors 'none'`,
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    connection: 'close',
  });
  response.end(html);
}

function listen(server: Server, port: number): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(describe(error, port)));
    server.listen(port, '127.0.0.1', () => resolve(server.address() as AddressInfo));
  });
}

function describe({ code }: NodeJS.ErrnoException, port: number): CliError {
  if (code === 'EADDRINUSE') return usageError(`Port ${port} is in use. Choose another one with --port.`);
  return new CliError(EXIT.unavailable, `No page can be shown on port ${port} of this machine (${code}).`);
}

/** The URL that receives the manifest. */
export function creationUrl(webUrl: string, org: string | undefined, state: string): string {
  const owner = org === undefined ? '' : `/organizations/${encodeURIComponent(org)}`;
  return `${webUrl}${owner}/settings/apps/new?state=${state}`;
}

/** GitHub accepts a manifest from a form only, so that a person sees the App before it is created. */
export function renderSetupPage(action: string, manifest: Manifest): string {
  return page(
    'Connect Sluice to GitHub',
    `<p>GitHub shows the name of the App next, and asks you to create it.</p>
<form action="${escapeHtml(action)}" method="post">
<input type="hidden" name="manifest" value="${escapeHtml(JSON.stringify(manifest))}">
<button>Create the App on ${escapeHtml(new URL(action).host)}</button>
</form>`,
  );
}

function renderEnd(title: string, text: string): string {
  return page(title, `<p>${escapeHtml(text)}</p>`);
}

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title>
<style>body{font:1.1rem/1.5 system-ui,sans-serif;max-width:34rem;margin:4rem auto;padding:0 1rem}button{font:inherit;padding:.5rem 1rem}</style>
</head><body><h1>${escapeHtml(title)}</h1>
${body}
</body></html>
`;
}

/** Accepts the code itself, or the whole URL that contains it. */
export function parseCode(given: string): string | undefined {
  const text = given.trim();
  const found = URL.canParse(text) ? new URL(text).searchParams.get('code') : text.replace(/^.*\bcode=|&.*$/g, '');
  return found !== null && isCode(found) ? found : undefined;
}

interface PastedCode {
  /** Resolves with a pasted code; rejects if standard input ends first. */
  readonly code: Promise<string>;
  close(): void;
}

/** Reads the code from standard input, because every user of the machine can see arguments. */
// SPEC G94
export function readPastedCode(input: NodeJS.ReadableStream, complain: (line: string) => void): PastedCode {
  const lines = createInterface({ input, terminal: false });
  const code = new Promise<string>((resolve, reject) => {
    lines.on('line', (line) => {
      const found = parseCode(line);
      if (found !== undefined) resolve(found);
      else if (line.trim() !== '') complain(line);
    });
    lines.once('close', () => reject(new Error('standard input ended')));
  });
  // Prevents an unhandled rejection if no caller awaits the code.
  code.catch(() => undefined);
  return { code, close: () => lines.close() };
}
