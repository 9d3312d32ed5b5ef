import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { listen } from './listen.ts';

export interface Asked {
  /** `GET /repos/acme/app`, without the query string. */
  readonly route: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** `silence`: no answer until the server is closed. `reset`: the connection breaks. */
export type Said =
  | { readonly status?: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: unknown }
  | 'silence'
  | 'reset'
  | 'half';

export interface ScriptedGithub {
  readonly url: string;
  readonly asked: readonly Asked[];
  readonly routes: () => readonly string[];
  close(): Promise<void>;
}

/** A server with answers from the test, for those that an honest GitHub would not give. */
export async function startScriptedGithub(answer: (asked: Asked) => Said): Promise<ScriptedGithub> {
  const asked: Asked[] = [];

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://github.test');
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const one = {
      route: `${request.method} ${decodeURIComponent(url.pathname)}`,
      query: url.searchParams,
      headers: request.headers,
      body,
    };
    asked.push(one);
    say(answer(one), response);
  }

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  return {
    url: await listen(server),
    asked,
    routes: () => asked.map(({ route }) => route),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function say(said: Said, response: ServerResponse): void {
  if (said === 'silence') return;
  if (said === 'reset') {
    response.destroy();
    return;
  }
  if (said === 'half') {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
    response.write('{"id":1,"na', () => response.destroy());
    return;
  }
  const { status = 200, headers = {}, body } = said;
  const isText = typeof body === 'string';
  response.writeHead(status, { 'content-type': isText ? 'text/html' : 'application/json', ...headers });
  response.end(body === undefined || status === 304 ? undefined : isText ? body : JSON.stringify(body));
}

/** A private key as GitHub issues it. */
export function anAppKey(): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  return privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
}
