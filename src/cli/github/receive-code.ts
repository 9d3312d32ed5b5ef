import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CliError, EXIT, usageError } from '../core/exit.ts';
import { renderEnd } from './setup-page.ts';

/** A page for the browser of whoever sets up, on this machine only, and the code that GitHub sends it back with. */
export interface CodeReceiver {
  readonly url: string;
  /** Where GitHub sends the browser back to. */
  readonly redirectUrl: string;
  /** The page to show; from now on. */
  show(html: string, formTarget: string): void;
  /** Until a browser comes back with a code. */
  readonly code: Promise<string>;
  close(): void;
}

export async function receiveCode(options: { readonly port: number; readonly state: string }): Promise<CodeReceiver> {
  let shown = { html: '', formTarget: '' };
  let settle: (code: string) => void = () => undefined;
  const code = new Promise<string>((resolve) => {
    settle = resolve;
  });
  // The page holds the state. Others on this machine, or pages in the same browser, know the port, and not this.
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
    // A page of somebody else must not be able to hand in an App of its own.
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

export function isCode(text: string): boolean {
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
