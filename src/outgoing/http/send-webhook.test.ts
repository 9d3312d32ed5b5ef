import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { pluck } from '../../../test/helpers/pluck.ts';
import { WebhookReceiver } from '../../../test/helpers/webhook-receiver.ts';
import { Fault } from '../../lib/fault.ts';
import type { SendResult, WebhookSender } from '../outgoing.ts';
import { isReachable, parseNetworks, type Resolve } from './reachable.ts';
import { createSecretBox, loadSecretKey } from './secret-box.ts';
import { createWebhookSender } from './send-webhook.ts';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const OTHER = `whsec_${Buffer.alloc(24, 9).toString('base64')}`;
const userAgent = 'Sluice/test';

describe('a webhook message', () => {
  let receiver: WebhookReceiver;
  let sender: WebhookSender;
  before(async () => {
    receiver = await new WebhookReceiver().start();
    sender = createWebhookSender({ networks: ['127.0.0.1'], timeoutMs: 400, userAgent });
  });
  beforeEach(() => {
    receiver.received.length = 0;
    receiver.answer = (response) => response.writeHead(204).end();
  });
  after(async () => {
    await sender.close();
    await receiver.close();
  });

  const send = (url = `${receiver.url}/hook`, by = sender, mayReachPrivate = true): Promise<SendResult> =>
    by.send({
      id: 'msg_1',
      url,
      body: '{"text":"é 😀"}',
      secrets: [SECRET, OTHER],
      timestampSeconds: Math.floor(Date.now() / 1_000),
      mayReachPrivate,
    });

  test('is verified by standardwebhooks and by svix, with either secret [X30]', async () => {
    assert.deepEqual(await send(), { kind: 'answered', status: 204, isAborted: false });
    const [got] = receiver.received;
    assert.ok(got);
    for (const secret of [SECRET, OTHER]) {
      assert.deepEqual(new StandardWebhook(secret).verify(got.body, got.headers), { text: 'é 😀' });
      new SvixWebhook(secret).verify(got.body, got.headers);
      const { 'svix-id': id, 'svix-timestamp': at, 'svix-signature': by } = got.headers;
      const only = { 'svix-id': id ?? '', 'svix-timestamp': at ?? '', 'svix-signature': by ?? '' };
      new SvixWebhook(secret).verify(got.body, only);
    }
    assert.throws(() => new StandardWebhook(SECRET).verify(`${got.body} `, got.headers));
    const stranger = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
    assert.throws(() => new SvixWebhook(stranger).verify(got.body, got.headers));
    assert.equal(got.headers['content-type'], 'application/json');
  });

  test('follows no redirect [X43]', async () => {
    receiver.answer = (response) => response.writeHead(302, { location: `${receiver.url}/elsewhere` }).end();
    assert.deepEqual(await send(), { kind: 'answered', status: 302, isAborted: false });
    assert.deepEqual(pluck(receiver.received, 'path'), ['/hook']);
  });

  test('fails where the endpoint hangs, answers late, or closes early', async () => {
    receiver.answer = () => undefined;
    assert.deepEqual(await send(), { kind: 'failed', problem: 'TIMEOUT' });
    receiver.answer = (response) => {
      const late = setTimeout(() => response.writeHead(200).end(), 600);
      response.on('close', () => clearTimeout(late));
    };
    assert.deepEqual(await send(), { kind: 'failed', problem: 'TIMEOUT' });
    receiver.answer = (_response, _received, request) => request.socket.destroy();
    assert.deepEqual(await send(), { kind: 'failed', problem: 'CONNECTION_FAILED' });
  });

  test('fails where the answer is no HTTP, has endless headers, or comes line by line', async (t) => {
    const answers: ((socket: Socket) => void)[] = [
      (socket) => socket.end('220 mail.example.com ESMTP\r\n'),
      (socket) => socket.write(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(2 ** 20)}`),
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\n');
        const timer = setInterval(() => socket.write('x: y\r\n'), 50);
        socket.on('close', () => clearInterval(timer));
      },
      (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\ncut'),
    ];
    const results: string[] = [];
    for (const answer of answers) {
      const server = createServer((socket) => {
        socket.on('error', () => undefined);
        socket.once('data', () => answer(socket));
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      t.after(() => server.close());
      const result = await send(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
      results.push(result.kind === 'answered' ? `${result.status}` : result.problem);
    }
    // The status of the last one came, and no more of an answer counts.
    assert.deepEqual(results, ['CONNECTION_FAILED', 'CONNECTION_FAILED', 'TIMEOUT', '200']);
  });

  test('reads 64 KiB of an answer without end, and ends the connection [X45]', async () => {
    let sent = 0;
    const closed = new Promise<void>((resolve) => {
      receiver.answer = (response) => {
        response.writeHead(200);
        const more = () => {
          while (!response.destroyed && response.write(Buffer.alloc(16_384))) sent += 16_384;
          response.once('drain', more);
        };
        more();
        response.on('close', () => resolve());
      };
    });
    assert.deepEqual(await send(), { kind: 'answered', status: 200, isAborted: false });
    await closed;
    // The kernel's buffers fill before the sender stops reading.
    assert.ok(sent < 20 * 2 ** 20, `${sent} bytes were sent`);
  });

  test('heeds the wish for no further attempt [X24]', async () => {
    receiver.answer = (response) => response.writeHead(400, { 'webhook-delivery': 'abort-message' }).end();
    assert.deepEqual(await send(), { kind: 'answered', status: 400, isAborted: true });
  });

  test('goes to no address that is not public, however it is written, and does not tell whether a name exists [X42] [X56]', async () => {
    const { port } = new URL(receiver.url);
    for (const host of ['127.0.0.1', '2130706433', '0x7f.1', '[::ffff:127.0.0.1]', '[::1]', 'localhost', '0.0.0.0']) {
      assert.deepEqual(
        await send(`http://${host}:${port}/`, sender, false),
        { kind: 'failed', problem: 'NO_ALLOWED_ADDRESS' },
        host,
      );
    }
    assert.equal(receiver.received.length, 0);
    assert.deepEqual(await send('http://no-such-host.invalid/', sender, false), {
      kind: 'failed',
      problem: 'NO_ALLOWED_ADDRESS',
    });
    assert.equal(sender.mayReach(new URL('http://2130706433/'), false), false);
    assert.equal(sender.mayReach(new URL('http://2130706433/'), true), true);
    assert.equal(sender.mayReach(new URL('https://example.com/'), false), true);
  });

  test('goes to the address that was checked, and looks the name up once [X43]', async () => {
    const asked: string[] = [];
    const resolve: Resolve = async (hostname) => {
      asked.push(hostname);
      return [{ address: asked.length === 1 ? '127.0.0.1' : '10.0.0.1', family: 4 }];
    };
    const rebound = createWebhookSender({ networks: ['127.0.0.1'], timeoutMs: 400, userAgent, resolve });
    const { port } = new URL(receiver.url);
    assert.equal((await send(`http://rebinding.test:${port}/`, rebound)).kind, 'answered');
    assert.deepEqual(asked, ['rebinding.test']);
    assert.equal(receiver.received[0]?.headers['host'], `rebinding.test:${port}`);
    await rebound.close();
    const later = createWebhookSender({ networks: ['127.0.0.1'], timeoutMs: 400, userAgent, resolve });
    assert.deepEqual(await send(`http://rebinding.test:${port}/`, later), {
      kind: 'failed',
      problem: 'NO_ALLOWED_ADDRESS',
    });
    await later.close();
  });

  test('is interrupted by the end of the server, which is no failure of the endpoint', async () => {
    const stopping = createWebhookSender({ networks: ['127.0.0.1'], timeoutMs: 5_000, userAgent });
    const asked = new Promise<void>((resolve) => {
      receiver.answer = () => resolve();
    });
    const sent = send(receiver.url, stopping);
    await asked;
    await stopping.close();
    await assert.rejects(sent, (error) => error instanceof Fault && error.code === 'SHUTTING_DOWN');
  });
});

test('only public unicast addresses are reachable, and the networks of the operator [X42]', () => {
  const own = parseNetworks(['10.1.0.0/16', 'fd00::/8', '192.168.0.7']);
  const forbidden = ['10.0.0.1', '172.16.0.1', '192.168.0.8', '169.254.169.254', '100.64.0.1', '224.0.0.1', '0.0.0.0'];
  for (const address of [...forbidden, '255.255.255.255', '::', '::1', '::7f00:1', '::ffff:10.0.0.1', 'fe80::1']) {
    assert.equal(isReachable(address, own), false, address);
  }
  for (const address of ['64:ff9b::a00:1', '2002:a00:1::', 'fc00::1', 'ff02::1', '2001:db8::1', 'x', '']) {
    assert.equal(isReachable(address, own), false, address);
  }
  for (const address of ['8.8.8.8', '2606:4700::1111', '10.1.2.3', '::ffff:10.1.2.3', 'fd12::1', '192.168.0.7']) {
    assert.equal(isReachable(address, own), true, address);
  }
  assert.equal(isReachable('10.1.2.3'), false);
});

describe('a secret box', () => {
  const key = Buffer.alloc(32, 3);

  test('opens its own sealed texts, for the same purpose and with the same key alone [X41]', () => {
    const box = createSecretBox(key);
    const sealed = box.seal('https://hooks.example/é', 'webhook 1 url');
    assert.ok(!sealed.includes('hooks'));
    assert.notEqual(sealed, box.seal('https://hooks.example/é', 'webhook 1 url'));
    assert.equal(box.open(sealed, 'webhook 1 url'), 'https://hooks.example/é');
    assert.equal(box.open(sealed, 'webhook 2 url'), undefined);
    assert.equal(createSecretBox(Buffer.alloc(32, 4)).open(sealed, 'webhook 1 url'), undefined);
    const other = sealed.endsWith('AAAA') ? 'BBBB' : 'AAAA';
    assert.equal(box.open(`${sealed.slice(0, -4)}${other}`, 'webhook 1 url'), undefined);
    for (const text of ['', 'v1', 'v1.x.y', sealed.slice(0, 30)])
      assert.equal(box.open(text, 'webhook 1 url'), undefined);
  });

  test('has the key of the environment, or one of a file that only the server reads [X41]', async (t) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'sluice-key-'));
    t.after(() => rm(folder, { recursive: true }));
    const made = await loadSecretKey(folder, undefined);
    assert.equal((await stat(path.join(folder, 'secret-key'))).mode & 0o777, 0o600);
    assert.deepEqual(Buffer.from(await loadSecretKey(folder, undefined)), Buffer.from(made));
    assert.deepEqual(Buffer.from(await loadSecretKey(folder, key.toString('hex'))), key);
    assert.deepEqual(Buffer.from(await loadSecretKey(folder, key.toString('base64'))), key);
    await writeFile(path.join(folder, 'secret-key'), 'cut sho');
    await assert.rejects(loadSecretKey(folder, undefined), /must be 32 bytes/);
    assert.equal(await readFile(path.join(folder, 'secret-key'), 'utf8'), 'cut sho');
  });
});
