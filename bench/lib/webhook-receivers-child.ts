import { createServer, type RequestListener, type Server } from 'node:http';
import { serveParent } from './child.ts';

/**
 * Receives webhooks at 50 addresses, whose ports `GET /ports` answers. Those to `/dead/…` are never answered. Of the others
 * the parent is told, each second, how long after their events they came: the events tell their own time, which is before
 * their commit.
 */
const ADDRESSES = 50;
let late: number[] = [];
const receive: RequestListener = (request, response) => {
  let text = '';
  request.setEncoding('utf8');
  request.on('data', (chunk: string) => {
    text += chunk;
  });
  request.on('end', () => {
    if (request.url === '/ports') response.end(JSON.stringify(ports));
    if (request.method === 'GET' || request.url?.startsWith('/dead/') === true) return;
    const { timestamp, at = timestamp } = JSON.parse(text) as { readonly timestamp?: string; readonly at?: string };
    late.push(Date.now() - Date.parse(at as string));
    response.writeHead(204).end();
  });
};

async function listen(): Promise<number> {
  const server: Server = createServer(receive);
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve);
  await promise;
  return (server.address() as { readonly port: number }).port;
}

const ports = await Promise.all(Array.from({ length: ADDRESSES }, listen));
setInterval(() => {
  const { user, system } = process.cpuUsage();
  // Also the CPU time: the parent may have asked for it and takes the next message for the answer.
  process.send?.({ late, cpu: user + system });
  late = [];
}, 1_000);
serveParent(`http://127.0.0.1:${ports[0]}`, async () => process.exit());
