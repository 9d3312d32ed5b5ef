import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { before, describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import Fastify from 'fastify';
import { madeOnce } from '../../../test/helpers/made.ts';
import { TOKEN } from '../../../test/worlds/server/in-process.ts';
import { createQueueInProcess } from '../../../test/worlds/server/queue-in-process.ts';
import { compressReplies } from './compress.ts';

describe('replies on the wire', () => {
  const world = madeOnce(() => createQueueInProcess());
  let large: string;
  const pages = Fastify();
  before(async () => {
    const prs = world.open(40).map((number) => ({ number }));
    await world.ok('/v1/submitPullRequest', { ...world.ref, prs });
    const page = 'x'.repeat(10_000);
    compressReplies(pages);
    pages.get('/packed', (_, reply) => reply.header('content-encoding', 'gzip').send(page));
    pages.get('/stream', (_, reply) => reply.send(Readable.from([page])));
    pages.get('/secret', { config: { operation: { secrets: ['token'] } as never } }, () => page);
    large = (await read('/v1/getQueue')).rawPayload.toString();
    assert.ok(large.length > 10_000);
  });

  const read = (url: string, accepted?: string) => {
    const headers = { 'x-api-token': TOKEN, ...(accepted === undefined ? {} : { 'accept-encoding': accepted }) };
    if (!url.startsWith('/v1')) return pages.inject({ url, headers });
    return world.server.inject({ method: 'POST', url, headers, payload: world.ref });
  };

  for (const accepted of ['br, deflate, gzip', 'gzip', 'br;q=0, GZIP;q=0.5', 'gzip; q=1.0, *;q=0']) {
    it(`are compressed for a client that accepts ${accepted} [H53]`, async () => {
      const { headers, rawPayload } = await read('/v1/getQueue', accepted);
      assert.deepEqual([headers['content-encoding'], headers['vary']], ['gzip', 'accept-encoding']);
      assert.equal(headers['content-length'], String(rawPayload.length));
      assert.ok(rawPayload.length < large.length / 4);
      assert.equal(gunzipSync(rawPayload).toString(), large);
    });
  }

  for (const [what, url, accepted, expected] of [
    ['for a client that accepts nothing', '/v1/getQueue', undefined, undefined],
    ['for a client that refuses it', '/v1/getQueue', 'gzip;q=0, br', undefined],
    ['for a client that refuses it in another way', '/v1/getQueue', 'br, gzip ; q=0.0', undefined],
    ['where the reply is small', '/v1/listQueues', 'gzip', undefined],
    ['where the reply holds a secret', '/secret', 'gzip', undefined],
    ['where the reply is a stream', '/stream', 'gzip', undefined],
    ['a second time', '/packed', 'gzip', 'gzip'],
  ] as const) {
    it(`are not compressed ${what} [H53]`, async () => {
      const { headers, rawPayload, statusCode } = await read(url, accepted);
      assert.deepEqual([statusCode, headers['content-encoding']], [200, expected]);
      assert.match(rawPayload.toString().slice(0, 1), /[{x]/);
    });
  }
});
