import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, describe, test } from 'node:test';
import { until } from '../../test/e2e/harness.ts';
import { madeForEach, maker } from '../../test/helpers/made.ts';
import { aRepository, storeOrganization, storeQueue } from '../../test/helpers/store-rows.ts';
import { createInProcess, type InProcess } from '../../test/worlds/server/in-process.ts';
import type { App } from '../app/core/app.ts';
import { encodeQueue } from '../app/core/queue-codec.ts';
import { createQueue } from '../engine/model/queue.ts';
import { DEFAULT_SETTINGS } from '../engine/model/settings.ts';
import type { Forge } from '../forge/forge.ts';
import { createGithubDeliveryReader } from '../forge/github/webhook.ts';
import type { Hosting } from '../forge/hosting.ts';
import type { OrganizationId } from '../storage/accounts.ts';

const HOST = 'github.com';
const SECRET = 's3cret';

/** Only the reading of webhooks is used of these forges. */
function aForge(secret: string | undefined): Forge {
  const reader = createGithubDeliveryReader({ secret: () => secret, ownAppId: undefined });
  const hosting = { kind: 'github', ...reader } as unknown as Hosting;
  return { hosting } as unknown as Forge;
}

interface WebhookWorld extends InProcess {
  readonly url: string;
  send(body: string | Buffer, headers?: Record<string, string>): Promise<{ status: number; text: string }>;
  waiting(): Promise<readonly string[]>;
}

async function createWorld(forges: App['forges'] = new Map([[HOST, aForge(SECRET)]])): Promise<WebhookWorld> {
  const world = await createInProcess();
  (world.app as { forges: App['forges'] }).forges = forges;
  await addRepository(world, world.repository.organizationId, { owner: 'Codertocat', name: 'Hello-World' });
  await world.server.listen({ host: '127.0.0.1', port: 0 });
  const { port } = world.server.server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/webhooks/github`;
  return {
    ...world,
    url,
    async send(body, headers = {}) {
      const response = await fetch(url, {
        method: 'POST',
        body: typeof body === 'string' ? body : Uint8Array.from(body),
        headers: {
          'content-type': 'application/json',
          'x-github-event': 'push',
          connection: 'close',
          ...signed(body),
          ...headers,
        },
      });
      return { status: response.status, text: await response.text() };
    },
    async waiting() {
      const now = world.clock.now() + 3_600_000;
      const claimed = await world.store.hints.claim({ holder: 'test', now, leaseUntil: now, limit: 9_999 });
      return claimed.map(({ kind }) => kind);
    },
  };
}

/** With a queue for `main`: webhooks about repositories without one are dropped. */
async function addRepository(
  { app, store }: InProcess,
  organizationId: OrganizationId,
  name: { readonly owner: string; readonly name: string },
): Promise<void> {
  const repository = aRepository({ organizationId, host: HOST, ...name });
  await store.repositories.save(repository);
  const body = encodeQueue(createQueue('main', DEFAULT_SETTINGS, 'RUNNING'));
  await storeQueue(store, { repositoryId: repository.id, branch: 'main', body });
  app.directory.forget();
}

function signed(body: string | Buffer, secret = SECRET): Record<string, string> {
  return { 'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}` };
}

const PUSH = JSON.stringify({
  ref: 'refs/heads/main',
  repository: { name: 'Hello-World', owner: { login: 'Codertocat' } },
});

function codeOf(text: string): string {
  return (JSON.parse(text) as { code: string }).code;
}

const strangers: Socket[] = [];
/** First, for a server that closes waits for them. */
afterEach(() => {
  for (const socket of strangers.splice(0)) socket.destroy();
});
const world = madeForEach(() => createWorld());
const createOther = maker(createWorld);

describe('POST /webhooks/github', () => {
  test('a signed webhook is stored and answered at once [G30]', async () => {
    let wakes = 0;
    world.app.hints.listen(() => {
      wakes += 1;
    });
    assert.deepEqual(await world.send(PUSH), { status: 202, text: '{"status":"received"}' });
    assert.equal(wakes, 1);
    assert.equal(world.app.hints.lastWebhookAt(HOST), world.clock.now());
    assert.deepEqual(await world.waiting(), ['branch']);
  });

  test('a webhook is read by the forge of its address alone, though its signature fits another [G30] [G159]', async () => {
    const headers = { 'content-type': 'application/json', 'x-github-event': 'push', ...signed(PUSH) };
    const statusAt = async (path: string) =>
      (await fetch(new URL(path, world.url), { method: 'POST', body: PUSH, headers })).status;
    assert.equal(await statusAt(`/webhooks/github/${HOST.toUpperCase()}`), 202);
    for (const path of ['/webhooks/github/elsewhere.test', '/webhooks/gitea', `/webhooks/gitea/${HOST}`])
      assert.equal(await statusAt(path), 401, path);
  });

  test('a webhook without a valid signature is refused, with the same text for every defect [G128]', async () => {
    const answers = [
      await world.send(PUSH, signed(PUSH, 'another')),
      await world.send(PUSH, signed(`${PUSH} `)),
      await world.send(PUSH, { 'x-hub-signature-256': 'sha256=' }),
      await world.send(PUSH, { 'x-hub-signature-256': '' }),
      await world.send('{', signed('[')),
    ];
    const bare = await fetch(world.url, { method: 'POST', body: PUSH, headers: { connection: 'close' } });
    answers.push({ status: bare.status, text: await bare.text() });
    const texts = new Set(answers.map(({ text }) => text.replace(/"requestId":"[^"]+"/, '')));
    assert.equal(texts.size, 1);
    for (const { status, text } of answers) assert.deepEqual([status, codeOf(text)], [401, 'INVALID_SIGNATURE']);
    assert.deepEqual(await world.waiting(), []);
    assert.equal(world.app.hints.lastWebhookAt(HOST), undefined);
  });

  test('a delivery that is replayed is a delivery that is repeated [G129]', async () => {
    for (let n = 0; n < 5; n += 1) assert.equal((await world.send(PUSH)).status, 202);
    assert.deepEqual(await world.waiting(), ['branch']);
  });

  test('25 MB are too large, announced or not [G128]', async () => {
    const large = Buffer.alloc(25_000_000, 0x20);
    const announced = await world.send(large);
    assert.deepEqual([announced.status, codeOf(announced.text)], [413, 'BODY_TOO_LARGE']);
    const chunked = await new Promise<number | undefined>((resolve, reject) => {
      const headers = { ...signed(large), 'x-github-event': 'push', 'transfer-encoding': 'chunked' };
      const asked = request(world.url, { method: 'POST', headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      asked.on('error', reject);
      asked.end(large);
    });
    assert.equal(chunked, 413);
    assert.deepEqual(await world.waiting(), []);
    assert.equal((await world.send(PUSH)).status, 202);
  });

  test('unknown events, repositories that are not ours and branches without a queue are taken, and nothing is stored [G32] [G86]', async () => {
    const foreign = PUSH.replace('Codertocat', 'somebody');
    assert.equal((await world.send(foreign)).status, 202);
    assert.equal((await world.send(PUSH.replace('heads/main', 'heads/other'))).status, 202);
    assert.equal((await world.send(PUSH, { 'x-github-event': 'of_tomorrow' })).status, 202);
    assert.equal((await world.send('{"zen":"hm"}', { 'x-github-event': 'ping' })).status, 202);
    assert.deepEqual(await world.waiting(), []);
  });

  test('a signed webhook that cannot be read is refused with the reason [G128]', async () => {
    for (const body of ['{', '[]', '', '\xff']) {
      const { status, text } = await world.send(body);
      assert.deepEqual([status, codeOf(text)], [400, 'MALFORMED_JSON']);
    }
  });

  test('the signature tells which forge it comes from', async () => {
    const forges = new Map([
      ['local', {} as Forge],
      ['ghe.acme.test', aForge('other')],
      ['unset.acme.test', aForge(undefined)],
      [HOST, aForge(SECRET)],
    ]);
    const other = await createOther(forges);
    assert.equal((await other.send(PUSH, signed(PUSH, 'other'))).status, 202);
    assert.deepEqual(await other.waiting(), []);
    assert.equal((await other.send(PUSH)).status, 202);
    assert.deepEqual(await other.waiting(), ['branch']);
  });

  test('several organizations may have the same repository, and each hears of it [G32]', async () => {
    const { id: organizationId } = await storeOrganization(world.store);
    await addRepository(world, organizationId, { owner: 'codertocat', name: 'hello-world' });
    await world.send(PUSH);
    assert.deepEqual(await world.waiting(), ['branch', 'branch']);
  });

  test('strangers who send much, slowly, keep no delivery out [G30] [H32]', async () => {
    const { port } = new URL(world.url);
    const piece = Buffer.alloc(5.2 * 1024 * 1024);
    const head = `POST /webhooks/github HTTP/1.1\r\nhost: x\r\nx-hub-signature-256: sha256=${'0'.repeat(64)}\r\n`;
    while (strangers.length < 4) strangers.push(connect(Number(port), '127.0.0.1'));
    const sent = strangers.map(
      (socket) =>
        new Promise<void>((resolve) => {
          socket.on('error', () => resolve());
          socket.write(`${head}content-length: ${20 * 1024 * 1024}\r\n\r\n`);
          socket.write(piece, () => resolve());
        }),
    );
    await Promise.all(sent);
    // The body has arrived completely when another one is refused.
    const more = Buffer.alloc(1024 * 1024);
    const isRefused = async () => (await world.send(more, signed(more, 'another'))).status === 503 || undefined;
    await until('large ones are refused', 20_000, isRefused);
    assert.equal((await world.send(PUSH)).status, 202);
  });

  test('every example that GitHub publishes is answered, all at once', async () => {
    const file = new URL(import.meta.resolve('@octokit/webhooks-examples'));
    const definitions = JSON.parse(readFileSync(file, 'utf8')) as { name: string; examples: object[] }[];
    const sent = definitions.flatMap(({ name, examples }) =>
      examples.map((example) => world.send(JSON.stringify(example), { 'x-github-event': name })),
    );
    for (const { status } of await Promise.all(sent)) assert.equal(status, 202);
    assert.deepEqual(new Set(await world.waiting()), new Set(['access', 'pull_request', 'rules']));
  });

  test('another method than POST is refused with 405', async () => {
    const response = await fetch(world.url, { headers: { connection: 'close' } });
    assert.equal(response.status, 405);
    await response.text();
  });
});
