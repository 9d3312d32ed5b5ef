import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { serveParent } from './child.ts';
import { TOKEN } from './world.ts';

/** Opens streams of events on raw sockets, and tells the parent when the last of them has an event. */
const { url, streams } = JSON.parse(process.argv[2] as string) as {
  readonly url: string;
  readonly streams: number;
};
const { hostname, port } = new URL(url);
const AT_ONCE = 50;
const seen = new Map<string, number>();
const sockets: Socket[] = [];
let broken = 0;

function open(): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = connect(Number(port), hostname, () =>
    socket.write(`GET /v1/events HTTP/1.1\r\nHost: ${hostname}\r\nX-Api-Token: ${TOKEN}\r\n\r\n`),
  );
  sockets.push(socket);
  socket.setEncoding('latin1');
  let isOpen = false;
  let rest = '';
  socket.on('data', (chunk: Buffer | string) => {
    const text = rest + chunk;
    if (!isOpen && text.includes('retry: ')) {
      isOpen = true;
      resolve();
    }
    // A chunk may end within the id.
    const lines = text.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.startsWith('id: ')) note(line.slice(4));
  });
  socket.on('error', reject);
  socket.on('close', () => {
    broken += 1;
  });
  return promise;
}

/** The monotonic clock is the same in all processes of a machine. */
function note(id: string): void {
  const count = (seen.get(id) ?? 0) + 1;
  seen.set(id, count);
  if (count === streams) process.send?.({ id: Number(id), atMs: Number(process.hrtime.bigint()) / 1e6, broken });
}

for (let first = 0; first < streams; first += AT_ONCE) {
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, streams - first) }, open));
  await sleep(1);
}
serveParent(url, async () => {
  for (const socket of sockets) socket.destroy();
});
