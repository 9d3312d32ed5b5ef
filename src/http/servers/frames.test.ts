import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { it } from 'node:test';
import { Frames } from './frames.ts';

it('a line of another protocol ends the link, and the server goes on [D32]', async (t) => {
  const seen: unknown[] = [];
  const server = createServer((socket: Socket) => void new Frames(socket, (line) => seen.push(JSON.parse(line))));
  t.after(() => server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  for (const bytes of ['[1]\n[2', ',"é"]\nGET / HTTP/1.1\r\n\r\n']) {
    const socket = connect(port, '127.0.0.1');
    socket.write('[0]\n');
    socket.write(bytes);
    if (!bytes.startsWith('[')) await once(socket.resume(), 'close');
    else socket.end(',"é"]\n');
  }
  while (seen.length < 4) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(
    seen.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b))),
    [[0], [0], [1], [2, 'é']],
  );
});
