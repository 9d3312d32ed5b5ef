import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { listen } from './listen.ts';

/** Serves the bare repositories of a folder with `git http-backend`, to clients with the right header. */
export interface GitServer {
  readonly url: string;
  readonly requests: readonly { readonly path: string; readonly authorization: string | undefined }[];
  /** Undefined: every request is refused. */
  accept(authorization: string | undefined): void;
  /** Answers every request like this from now on. */
  answer(status: number, text: string): void;
  redirectTo(url: string): void;
  /** Makes every repository of the folder refuse pushes with this sentence. */
  refusePushes(sentence: string): Promise<void>;
  /** Requests that arrive meanwhile are answered afterwards. */
  whileHeld<Answer>(work: () => Promise<Answer>): Promise<Answer>;
  untilHeld(count: number): Promise<void>;
  close(): Promise<void>;
}

export async function startGitServer(folder: string): Promise<GitServer> {
  const requests: { readonly path: string; readonly authorization: string | undefined }[] = [];
  const held: (() => void)[] = [];
  let accepted: string | undefined;
  let isHolding = false;
  let fixed: ((response: ServerResponse, path: string) => void) | undefined;
  let onHeld = (): void => undefined;

  const serve = (request: IncomingMessage, response: ServerResponse) => {
    const path = request.url ?? '/';
    if (fixed !== undefined) return fixed(response, path);
    if (request.headers.authorization !== accepted || accepted === undefined) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="Git"', 'content-type': 'text/plain' });
      return response.end('Bad credentials.\n');
    }
    return runBackend(folder, request, response);
  };
  const server = createServer((request, response) => {
    requests.push({ path: request.url ?? '/', authorization: request.headers.authorization });
    if (!isHolding) return serve(request, response);
    held.push(() => serve(request, response));
    return onHeld();
  });
  const url = await listen(server);

  return {
    url,
    requests,
    accept: (authorization) => {
      accepted = authorization;
    },
    answer: (status, text) => {
      fixed = (response) => response.writeHead(status, { 'content-type': 'text/plain' }).end(`${text}\n`);
    },
    redirectTo: (target) => {
      fixed = (response, path) => response.writeHead(301, { location: `${target}${path}` }).end();
    },
    refusePushes: (sentence) =>
      writeFile(join(folder, 'app.git', 'hooks', 'pre-receive'), `#!/bin/sh\necho "error: ${sentence}" >&2\nexit 1\n`, {
        mode: 0o755,
      }),
    whileHeld: async (work) => {
      isHolding = true;
      try {
        return await work();
      } finally {
        isHolding = false;
        for (const go of held.splice(0)) go();
      }
    },
    untilHeld: async (count) => {
      while (held.length < count)
        await new Promise<void>((resolve) => {
          onHeld = resolve;
        });
    },
    close: async () => {
      server.close();
      server.closeAllConnections();
      if (server.listening) await once(server, 'close');
    },
  };
}

function runBackend(folder: string, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, search } = new URL(request.url ?? '/', 'http://localhost');
  const child = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env['PATH'],
      HOME: folder,
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: '1',
      REMOTE_USER: 'somebody',
      PATH_INFO: decodeURIComponent(pathname),
      QUERY_STRING: search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'safe.directory',
      GIT_CONFIG_VALUE_0: '*',
    },
  });
  request.pipe(child.stdin.on('error', () => undefined));
  // A client that hung up sends no end.
  if (request.destroyed) child.stdin.end();
  else request.once('close', () => child.stdin.end());
  child.stderr.resume();
  let head = Buffer.alloc(0);
  const onData = (chunk: Buffer) => {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end === -1) return;
    child.stdout.off('data', onData);
    const lines = head.subarray(0, end).toString('latin1').split('\r\n');
    const headers = lines.map((line) => line.split(/: (.*)/s) as [string, string]);
    const status = Number(headers.find(([name]) => name === 'Status')?.[1].split(' ')[0] ?? 200);
    response.writeHead(status, Object.fromEntries(headers.filter(([name]) => name !== 'Status')));
    response.write(head.subarray(end + 4));
    child.stdout.pipe(response);
  };
  child.stdout.on('data', onData);
  child.on('close', () => response.end());
}
