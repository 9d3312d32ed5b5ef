import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { postStream } from './post-stream.ts';

async function post(listener: RequestListener, body: () => AsyncGenerator<Uint8Array>, idleMs = 20_000) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  try {
    return await postStream(`http://127.0.0.1:${port}/`, { headers: { 'x-a': 'b' }, body: body(), idleMs });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

async function* pieces(count: number): AsyncGenerator<Uint8Array> {
  for (let index = 0; index < count; index += 1) yield Buffer.alloc(64 * 1024, 120);
}

describe('a body that is sent while it is made [W5]', () => {
  it('arrives whole', async () => {
    const answer = await post(
      async (request, response) => {
        let size = 0;
        for await (const chunk of request) size += (chunk as Buffer).length;
        response.writeHead(202, { 'content-type': 'application/json' }).end(JSON.stringify({ size }));
      },
      () => pieces(40),
    );
    assert.deepEqual(
      [answer.status, answer.type, answer.text],
      [202, 'application/json', `{"size":${40 * 64 * 1024}}`],
    );
  });

  it('gets the answer of a server that refuses before it has read everything', async () => {
    const answer = await post(
      (_request, response) => {
        response.writeHead(401, { connection: 'close' }).end('no');
      },
      async function* () {
        yield* pieces(1);
        // Endless: only the server's answer ends it.
        for (;;) {
          await new Promise((resolve) => setImmediate(resolve));
          yield Buffer.alloc(1024);
        }
      },
    );
    assert.deepEqual([answer.status, answer.text], [401, 'no']);
  });

  it('fails with the reason where the body cannot be made, the connection breaks, or nobody answers', async () => {
    const broken = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.alloc(10);
      throw Object.assign(new Error('gone'), { name: 'UnreadableBody', message: 'ENOENT' });
    };
    await assert.rejects(
      post(() => undefined, broken),
      { name: 'UnreadableBody', message: 'ENOENT' },
    );
    await assert.rejects(
      post(
        (request) => request.socket.destroy(),
        () => pieces(1),
      ),
      /hang up|ECONNRESET|EPIPE/,
    );
    await assert.rejects(
      post(
        () => undefined,
        () => pieces(1),
        50,
      ),
      { name: 'TimeoutError' },
    );
  });
});
