import { createServer, request as send } from 'node:http';
import { listen } from '../helpers/listen.ts';

/** Stands between Sluice and a Gitea, real or fake, and answers some requests itself. */
export interface GiteaProxy {
  readonly url: string;
  /** Answers with this status from now on where the method and path match. Returns how to end that. */
  fail(matching: RegExp, status: number, body?: string): () => void;
  close(): Promise<void>;
}

export async function startProxy(target: string): Promise<GiteaProxy> {
  const faults = new Set<{ readonly matching: RegExp; readonly status: number; readonly body: string }>();
  const { hostname, port } = new URL(target);
  const server = createServer((request, response) => {
    const { method = 'GET', url: path = '/', headers } = request;
    const about = `${method} ${path}`;
    const fault = [...faults].find(({ matching }) => matching.test(about));
    if (fault !== undefined) {
      request.resume();
      response.writeHead(fault.status, { 'content-type': 'application/json' }).end(fault.body);
      return;
    }
    const onward = send({ hostname, port, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => {
      if (!response.headersSent) response.writeHead(502);
      response.end();
    });
    request.pipe(onward);
  });
  const url = await listen(server);
  return {
    url,
    fail(matching, status, body = '{"message":"Bad gateway"}') {
      const fault = { matching, status, body };
      faults.add(fault);
      return () => faults.delete(fault);
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
