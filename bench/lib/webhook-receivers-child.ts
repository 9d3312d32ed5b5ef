import { createServer } from 'node:http';
import { serveParent } from './child.ts';

/**
 * Receives webhooks. Those to `/dead/…` are never answered. Of the others the parent is told, each second, how long after
 * their events they came: the events tell their own time, which is before their commit.
 */
let late: number[] = [];
const server = createServer((request, response) => {
  let text = '';
  request.setEncoding('utf8');
  request.on('data', (chunk: string) => {
    text += chunk;
  });
  request.on('end', () => {
    if (request.url?.startsWith('/dead/') === true) return;
    const { timestamp, at = timestamp } = JSON.parse(text) as { readonly timestamp?: string; readonly at?: string };
    late.push(Date.now() - Date.parse(at as string));
    response.writeHead(204).end();
  });
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as { readonly port: number };
  setInterval(() => {
    const { user, system } = process.cpuUsage();
    // Also the CPU time: the parent may have asked for it and takes the next message for the answer.
    process.send?.({ late, cpu: user + system });
    late = [];
  }, 1_000);
  serveParent(`http://127.0.0.1:${port}`, async () => process.exit());
});
