import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import zlib from 'node:zlib';
import { problemOf, type ServerProcess, startServer } from './harness.ts';
import { chunk, connect, head, type RawConnection } from './harness-sockets.ts';
import { createQueue, type TestQueue } from './test-queue.ts';

const MIB = 1024 * 1024;
const LIMIT = 20 * MIB;
const TOO_LARGE = '413 BODY_TOO_LARGE';

describe('bodies', () => {
  let server: ServerProcess;
  let queue: TestQueue;
  let number: number;
  before(async () => {
    server = await startServer();
    queue = await createQueue(server.api);
    number = await queue.openPullRequest();
  });
  const connections: RawConnection[] = [];
  afterEach(() => {
    for (const connection of connections.splice(0)) connection.destroy();
  });
  after(async () => {
    assert.equal(server.child.exitCode, null, server.output.err);
    assert.ok(!server.output.err.includes('because of a bug'), server.output.err);
    await queue.close();
    await server.stop();
  });

  const raw = async () => {
    const connection = await connect(server.port);
    connections.push(connection);
    return connection;
  };
  const json = (more: Record<string, string | number> = {}) => ({
    'x-api-token': server.token,
    'content-type': 'application/json',
    ...more,
  });
  /** A valid request of exactly this size that stores nothing. */
  const questionOf = (bytes: number) => {
    const body = Buffer.alloc(bytes, 0x20);
    body.write(JSON.stringify(queue.ref));
    return body;
  };
  /** A valid upload of exactly this size, with targets of 10,000 characters. */
  const uploadOf = (bytes: number) => {
    const empty = JSON.stringify({ ...queue.ref, pr: { number }, impactedTargets: [] }).slice(0, -2);
    const target = `"${'t'.repeat(9_997)}",`;
    const count = Math.floor((bytes - empty.length - 4) / target.length);
    const text = `${empty}${target.repeat(count)}`;
    const body = Buffer.from(`${text}"${'e'.repeat(bytes - text.length - 4)}"]}`);
    assert.equal(body.length, bytes);
    return body;
  };
  const send = (
    body: Uint8Array<ArrayBuffer>,
    headers: Record<string, string> = {},
    operation = 'setImpactedTargets',
  ) =>
    server.api.send(operation, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body });

  describe('of the largest size', () => {
    test('20 MiB are accepted', async () => {
      const answer = await send(uploadOf(LIMIT));
      assert.equal(answer.status, 200, answer.text);
    });

    test('20 MiB are accepted in chunks', async () => {
      const connection = await raw();
      connection.write(head('/v1/setImpactedTargets', json({ 'transfer-encoding': 'chunked' })));
      const body = uploadOf(LIMIT);
      for (let at = 0; at < body.length; at += MIB) connection.write(chunk(body.subarray(at, at + MIB)));
      connection.write('0\r\n\r\n');
      assert.equal((await connection.answer()).status, 200);
    });

    test('many of 20 MiB at once wait for each other, and all are accepted [H14]', async () => {
      const body = questionOf(LIMIT);
      const answers = await Promise.all(Array.from({ length: 6 }, () => send(body, {}, 'getQueue')));
      for (const { status, text } of answers) assert.equal(status, 200, text);
    });

    test('more than 100,000 values are refused, wherever they are but in the list that is meant [H13]', async () => {
      const about = { ...queue.ref, pr: { number } };
      const many = Array.from({ length: 100_000 }, () => 0);
      const targets = Array.from({ length: 100_000 }, (_, index) => `//t${index}`);
      await server.api.refused(TOO_LARGE, 'getSubmittedPullRequest', { ...about, impactedTargets: targets });
      await server.api.refused(TOO_LARGE, 'setImpactedTargets', { ...about, impactedTargets: 'ALL', more: many });
      await server.api.refused('400 VALIDATION_FAILED', 'setImpactedTargets', { ...about, impactedTargets: many });
      await server.api.ok('setImpactedTargets', { ...about, impactedTargets: targets });
    });

    test('one byte more is refused for its length, before it is sent [H3]', async () => {
      const connection = await raw();
      connection.write(head('/v1/setImpactedTargets', json({ 'content-length': LIMIT + 1 })));
      problemOf(await connection.answer(), TOO_LARGE);
    });

    test('one byte more is refused while it streams in chunks [H3]', async () => {
      const connection = await raw();
      connection.write(head('/v1/setImpactedTargets', json({ 'transfer-encoding': 'chunked' })));
      const body = Buffer.concat([uploadOf(LIMIT), Buffer.from(' ')]);
      for (let at = 0; at < body.length; at += MIB) connection.write(chunk(body.subarray(at, at + MIB)));
      problemOf(await connection.answer(), TOO_LARGE);
    });

    test('a length that is no number is no request', async () => {
      for (const length of ['-1', '1e3', 'x', '99999999999999999999999']) {
        const connection = await raw();
        connection.write(head('/v1/getQueue', json({ 'content-length': length })));
        problemOf(await connection.answer(), '400 MALFORMED_JSON');
      }
    });
  });

  describe('a refusal reaches a client that is still sending', () => {
    for (const [what, headers, expected] of [
      ['too large', {}, TOO_LARGE],
      ['without a token', { 'x-api-token': '' }, '401 AUTHENTICATION_REQUIRED'],
      ['that is no gzip', { 'content-encoding': 'gzip' }, '400 MALFORMED_JSON'],
      ['to nowhere', { path: '/v1/nowhere' }, '404 ROUTE_NOT_FOUND'],
    ] as const) {
      test(`a socket that sends 22 MiB ${what}, and reads only afterwards`, async () => {
        const { path = '/v1/setImpactedTargets', ...more } = headers as { path?: string } & Record<string, string>;
        const connection = await raw();
        connection.socket.pause();
        connection.write(head(path, json({ 'transfer-encoding': 'chunked', ...more })));
        for (let sent = 0; sent < 22; sent++) {
          connection.write(chunk(Buffer.alloc(MIB, 'x')));
          await connection.drain();
        }
        connection.write('0\r\n\r\n');
        connection.socket.resume();
        problemOf(await connection.answer(), expected);
        assert.equal(connection.error(), undefined);
        // The connection still works.
        const body = Buffer.from(JSON.stringify(queue.ref));
        connection.write(head('/v1/getQueue', json({ 'content-length': body.length })));
        connection.write(body);
        assert.equal((await connection.answer()).status, 200);
      });
    }

    for (const [what, token, expected] of [
      ['413', () => server.token, TOO_LARGE],
      ['401', () => 'nobody', '401 INVALID_TOKEN'],
    ] as const) {
      test(`fetch reads the ${what} of 22 MiB, with and without a length [H4]`, async () => {
        const client = server.api.withToken(token());
        const bytes = new Uint8Array(22 * MIB).fill(0x20);
        const headers = { 'content-type': 'application/json' };
        problemOf(await client.send('getQueue', { method: 'POST', headers, body: bytes }), expected);
        const stream = new Blob([bytes]).stream();
        const init = { method: 'POST', headers, body: stream, duplex: 'half' } as const;
        problemOf(await client.send('getQueue', init), expected);
      });
    }
  });

  describe('Expect: 100-continue', () => {
    test('is answered with 100, and then with the answer', async () => {
      const connection = await raw();
      const body = Buffer.from(JSON.stringify(queue.ref));
      connection.write(head('/v1/getQueue', json({ 'content-length': body.length, expect: '100-continue' })));
      assert.equal((await connection.answer()).status, 100);
      connection.write(body);
      assert.equal((await connection.answer()).status, 200);
    });

    test('of a body too large is refused without a 100, and the connection ends', async () => {
      const connection = await raw();
      connection.write(head('/v1/getQueue', json({ 'content-length': LIMIT + 1, expect: '100-continue' })));
      problemOf(await connection.answer(), TOO_LARGE);
      await connection.closed();
      assert.ok(!connection.received().includes('HTTP/1.1 100'));
    });

    test('any other expectation is passed over', async () => {
      const connection = await raw();
      const body = Buffer.from(JSON.stringify(queue.ref));
      connection.write(head('/v1/getQueue', json({ 'content-length': body.length, expect: 'tea' })));
      connection.write(body);
      assert.equal((await connection.answer()).status, 200);
    });
  });

  describe('that are compressed', () => {
    const ENCODERS = {
      gzip: zlib.gzipSync,
      'x-gzip': zlib.gzipSync,
      deflate: zlib.deflateSync,
      br: (bytes: Buffer) => zlib.brotliCompressSync(bytes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } }),
      zstd: zlib.zstdCompressSync,
    };
    for (const [encoding, encode] of Object.entries(ENCODERS)) {
      const headers = { 'content-encoding': encoding };
      const bomb = encode(Buffer.alloc(40 * MIB, 0x20));

      test(`${encoding} is read, up to 20 MiB unpacked`, async () => {
        assert.equal((await send(new Uint8Array(encode(questionOf(LIMIT))), headers, 'getQueue')).status, 200);
        problemOf(await send(new Uint8Array(encode(questionOf(LIMIT + 1))), headers, 'getQueue'), TOO_LARGE);
      });

      test(`${encoding}: a bomb is refused, and so is one with a broken end`, async () => {
        problemOf(await send(new Uint8Array(bomb), headers), TOO_LARGE);
        const broken = Buffer.concat([bomb.subarray(0, -5), Buffer.alloc(50, 0xff)]);
        problemOf(await send(new Uint8Array(broken), headers), TOO_LARGE);
        await queue.getQueue();
      });

      test(`${encoding}: corrupt, cut and empty data is malformed`, async () => {
        const good = encode(Buffer.from(JSON.stringify(queue.ref)));
        const corrupt = Buffer.from(good).fill(0xff, 2, 12);
        for (const bytes of [corrupt, good.subarray(0, -10), good.subarray(0, 3), Buffer.from('not at all')]) {
          problemOf(await send(new Uint8Array(bytes), headers, 'getQueue'), '400 MALFORMED_JSON');
        }
        await queue.getQueue();
      });

      test(`${encoding}: a client that goes away in the middle does not disturb others`, async () => {
        for (const sent of [10, Math.floor(bomb.length / 2), bomb.length - 1]) {
          const connection = await raw();
          connection.write(head('/v1/getQueue', json({ ...headers, 'content-length': bomb.length })));
          connection.write(bomb.subarray(0, sent));
          await connection.drain();
          connection.destroy();
        }
        await queue.getQueue();
      });
    }

    test('an encoding that is not known, or two of them, is not supported', async () => {
      for (const encoding of ['lzma', 'gzip, gzip', 'compress', 'x'.repeat(1_000)]) {
        const answer = await send(Buffer.from('{}'), { 'content-encoding': encoding });
        problemOf(answer, '415 UNSUPPORTED_MEDIA_TYPE');
      }
    });

    test('identity and blank are no encodings', async () => {
      for (const encoding of ['identity', '', ' ']) {
        const answer = await send(Buffer.from(JSON.stringify(queue.ref)), { 'content-encoding': encoding }, 'getQueue');
        assert.equal(answer.status, 200);
      }
    });

    test('zstd with a window over 8 MiB is malformed', async () => {
      const params = { [zlib.constants.ZSTD_c_windowLog]: 27, [zlib.constants.ZSTD_c_enableLongDistanceMatching]: 1 };
      const compressor = zlib.createZstdCompress({ params });
      compressor.end(uploadOf(19 * MIB));
      const bytes = Buffer.concat(await compressor.toArray());
      problemOf(await send(new Uint8Array(bytes), { 'content-encoding': 'zstd' }), '400 MALFORMED_JSON');
    });
  });

  describe('that do not arrive whole', () => {
    test('one that stops half way and closes changes nothing', async () => {
      const own = await queue.openPullRequest();
      const body = Buffer.from(JSON.stringify(queue.entry(own)));
      for (const sent of [0, 1, body.length - 1]) {
        const connection = await raw();
        connection.write(head('/v1/submitPullRequest', json({ 'content-length': body.length })));
        connection.write(body.subarray(0, sent));
        connection.socket.end();
        await connection.closed();
      }
      await queue.api.refused('404 PULL_REQUEST_NOT_FOUND', 'getSubmittedPullRequest', queue.entry(own));
    });

    test('chunks that are none are no request', async () => {
      const connection = await raw();
      connection.write(head('/v1/getQueue', json({ 'transfer-encoding': 'chunked' })));
      connection.write('5\r\n{"a":\r\nzz\r\n');
      problemOf(await connection.answer(), '400 MALFORMED_JSON');
      await connection.closed();
      assert.equal(connection.received().split('HTTP/1.1').length, 2, 'one answer and no more');
    });

    test('a body byte by byte is read like any other', async () => {
      const connection = await raw();
      const body = Buffer.from(JSON.stringify(queue.ref));
      connection.socket.setNoDelay(true);
      connection.write(head('/v1/getQueue', json({ 'content-length': body.length })));
      for (const byte of body) {
        connection.write(Uint8Array.of(byte));
        await new Promise((resolve) => setImmediate(resolve));
      }
      assert.equal((await connection.answer()).status, 200);
    });
  });

  describe('HTTP that is none', () => {
    for (const [what, bytes] of [
      ['text', 'hello\r\n\r\n'],
      ['TLS', '\u0016\u0003\u0001\u0002\u0000\u0001'],
      ['a version that does not exist', 'GET /healthz HTTP/9.9\r\n\r\n'],
      ['a method that does not exist', 'FETCH /healthz HTTP/1.1\r\nhost: x\r\n\r\n'],
      ['a header with a line break', 'GET /healthz HTTP/1.1\r\nhost: x\r\na: b\n c\r\n\r\n'],
      ['two lengths', 'POST /v1/getQueue HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n'],
      [
        'a length and chunks',
        'POST /v1/getQueue HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n',
      ],
    ] as const) {
      test(`${what} is a 400 problem, and the connection ends`, async () => {
        const connection = await raw();
        connection.write(bytes);
        problemOf(await connection.answer(), '400 MALFORMED_JSON');
        await connection.closed();
      });
    }

    for (const [what, bytes] of [
      ['100 kB of headers', `GET /healthz HTTP/1.1\r\nhost: x\r\na: ${'x'.repeat(100_000)}\r\n\r\n`],
      ['an address of 100 kB', `GET /${'x'.repeat(100_000)} HTTP/1.1\r\nhost: x\r\n\r\n`],
    ] as const) {
      test(`${what} are a 431 problem that says how much there may be, and the connection ends [H17]`, async () => {
        const connection = await raw();
        connection.write(bytes);
        const answer = await connection.answer();
        assert.match(problemOf(answer, '431 HEADERS_TOO_LARGE').detail, /16 KiB/);
        await connection.closed();
      });
    }

    test('a request without Host is a 400 problem', async () => {
      const connection = await raw();
      connection.write('GET /healthz HTTP/1.1\r\n\r\n');
      problemOf(await connection.answer(), '400 VALIDATION_FAILED');
    });

    test('two requests at once are answered in their order', async () => {
      const connection = await raw();
      const body = JSON.stringify(queue.ref);
      const request = `${head('/v1/getQueue', json({ 'content-length': body.length }))}${body}`;
      connection.write(`${request}GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n${request}`);
      const answers = [await connection.answer(), await connection.answer(), await connection.answer()];
      assert.deepEqual(
        answers.map((answer) => [answer.status, answer.text.includes('"concurrency"')]),
        [
          [200, true],
          [200, false],
          [200, true],
        ],
      );
    });

    test('idle connections do not disturb others', async () => {
      const idle = await Promise.all(Array.from({ length: 200 }, () => raw()));
      assert.equal(idle.length, 200);
      await queue.getQueue();
    });
  });
});
