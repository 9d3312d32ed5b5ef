// Messages to people: by a real SMTP server, which also hangs, refuses and goes away, and by a double of Slack.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { SMTPServer } from 'smtp-server';
import { createPersonalSender } from '../../src/outgoing/people/send-to-people.ts';
import { until } from './harness.ts';
import { sluice } from './kept-sluice.ts';
import { openServer, type TestQueue } from './test-queue.ts';

interface Mail {
  readonly to: readonly string[];
  readonly text: string;
}

/** A mail server on a port that stays its own while it is away. */
class MailServer {
  readonly mails: Mail[] = [];
  /** An answer to each recipient, in place of 250. */
  refusal: number | undefined;
  port = 0;
  #server: SMTPServer | undefined;

  async start(): Promise<void> {
    const server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      onRcptTo: (_address, _session, done) =>
        done(this.refusal === undefined ? null : Object.assign(new Error('No'), { responseCode: this.refusal })),
      onData: (stream, session, done) => {
        let text = '';
        stream.on('data', (chunk: Buffer) => {
          text += chunk.toString();
        });
        stream.on('end', () => {
          this.mails.push({ to: session.envelope.rcptTo.map(({ address }) => address), text });
          done();
        });
      },
    });
    server.on('error', () => undefined);
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', () => resolve()));
    this.port = (server.server.address() as AddressInfo).port;
    this.#server = server;
  }

  async stop(): Promise<void> {
    await new Promise<void>((resolve) => this.#server?.close(() => resolve()));
  }
}

describe('messages to people', { timeout: 120_000 }, () => {
  const mail = new MailServer();
  const posts: { channel: string; text: string; authorization: string | undefined }[] = [];
  /** As https://docs.slack.dev/reference/methods/chat.postMessage answers: 200 in any case. */
  const slack = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      const { channel, text } = JSON.parse(body) as { channel: string; text: string };
      const isKnown = channel === 'U012AB3CD';
      if (isKnown) posts.push({ channel, text, authorization: request.headers.authorization });
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(isKnown ? { ok: true, ts: '1.2' } : { ok: false, error: 'channel_not_found' }));
    });
  });
  before(async () => {
    await mail.start();
    await once(slack.listen(0, '127.0.0.1'), 'listening');
  });
  after(async () => {
    await mail.stop();
    slack.close();
  });

  const environment = () => ({
    SLUICE_SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
    SLUICE_MAIL_FROM: 'Sluice <sluice@acme.test>',
    SLUICE_SLACK_TOKEN: 'xoxb-secret',
    SLUICE_SLACK_URL: `http://127.0.0.1:${(slack.address() as AddressInfo).port}/api/chat.postMessage`,
  });
  const grace = { host: 'local', login: 'grace' };
  const told = (queue: TestQueue, what: object) =>
    queue.api.ok<{ id: string }>('createNotification', { account: grace, via: 'EMAIL', ...what });

  async function end(queue: TestQueue, how: 'pass' | 'fail'): Promise<number> {
    const number = await queue.submitOne();
    await queue.ci[how](number);
    await queue.ci.untilState(number, how === 'pass' ? 'MERGED' : 'FAILED');
    return number;
  }

  const mailsTo = (address: string) => mail.mails.filter(({ to }) => to.includes(address));

  it('tell an author of landings and removals by mail, and only that author [X57] [X58] [W89]', async (t) => {
    const world = await openServer(t, environment());
    const queue = await world.aQueue();
    const words = ['notify', 'create', 'grace@acme.test', '--for', 'local/Grace', '--when', 'ended'];
    const made = await sluice(words, { env: world.server.env });
    assert.deepEqual([made.code, made.out], [0, 'local/Grace: ENDED by EMAIL to g…@acme.test\n']);
    await told(queue, { address: 'removed@acme.test', when: ['REMOVED'] });
    await told(queue, { address: 'other@acme.test', account: { host: 'local', login: 'Ada' } });
    const [landed, failed] = [await end(queue, 'pass'), await end(queue, 'fail')];
    const mails = await until('both mails are there', 20_000, async () =>
      mailsTo('grace@acme.test').length === 2 ? mailsTo('grace@acme.test') : undefined,
    );
    assert.match(mails[0]?.text ?? '', new RegExp(`Subject: \\[acme/app-\\d+ \\(main\\)\\] #${landed}: Landed`));
    assert.match(mails[1]?.text ?? '', new RegExp(`#${failed}: [\\s\\S]*Fix it, push, and submit it again\\.`));
    await until('the removal is told', 20_000, async () => mailsTo('removed@acme.test').length === 1 || undefined);
    assert.equal(mailsTo('other@acme.test').length, 0);
  });

  it('wait while the mail server is away or refuses, and each is sent once [X58]', async (t) => {
    const world = await openServer(t, environment());
    const queue = await world.aQueue();
    const made: string[] = [];
    for (let index = 0; index < 30; index += 1)
      made.push((await told(queue, { address: `away-${index}@acme.test` })).id);
    await mail.stop();
    await end(queue, 'pass');
    const deliveries = async () => {
      const lists = made.map((id) =>
        queue.api.ok<{ deliveries: { id: string; state: string; attempts: number }[] }>('listWebhookDeliveries', {
          id,
        }),
      );
      return (await Promise.all(lists)).flatMap((each) => each.deliveries);
    };
    await until(
      'each was tried',
      30_000,
      async () => (await deliveries()).every(({ attempts }) => attempts > 0) || undefined,
    );
    mail.refusal = 451;
    await mail.start();
    mail.refusal = undefined;
    for (const id of made) {
      const [delivery] = (await queue.api.ok<{ deliveries: { id: string }[] }>('listWebhookDeliveries', { id }))
        .deliveries;
      await queue.api.ok('replayWebhookDelivery', { id, deliveryId: delivery?.id });
    }
    await until(
      'all are sent',
      60_000,
      async () => (await deliveries()).every(({ state }) => state === 'DELIVERED') || undefined,
    );
    for (let index = 0; index < 30; index += 1) assert.equal(mailsTo(`away-${index}@acme.test`).length, 1);
  });

  it('reach a member of Slack by the token of the server, and say what Slack refuses [X58]', async (t) => {
    const world = await openServer(t, environment());
    const queue = await world.aQueue();
    await told(queue, { via: 'SLACK_MEMBER', address: 'U012AB3CD' });
    const unknown = await told(queue, { via: 'SLACK_MEMBER', address: 'U999999999' });
    await end(queue, 'pass');
    const post = await until('Slack has it', 20_000, async () => posts[0]);
    assert.equal(post.authorization, 'Bearer xoxb-secret');
    assert.match(post.text, /#1: Landed on main/);
    const tested = await queue.api.ok('testNotification', { id: unknown.id });
    assert.deepEqual(tested, { delivered: false, problem: 'REFUSED' });
  });

  it('are refused for addresses with anything else in them, and for somebody else [X57] [X59]', async (t) => {
    const world = await openServer(t, environment());
    const queue = await world.aQueue();
    for (const address of [
      'a@b\r\nBcc: c@d',
      'Ada <a@b>',
      'a@b,c@d',
      'a b@c',
      '@b',
      'a@',
      'a@b c',
      'a"@b',
      'x@[127.0.0.1]',
    ])
      await queue.api.refused('400 VALIDATION_FAILED', 'createNotification', { account: grace, via: 'EMAIL', address });
    for (const [via, address] of [
      ['SLACK_MEMBER', '#general'],
      ['TEAMS', 'mailto:a@b'],
      ['TEAMS', 'http://127.0.0.1/x'],
    ])
      await queue.api.refused('400 VALIDATION_FAILED', 'createNotification', { account: grace, via, address });
    const reader = await queue.api.withScopes('read');
    const own = { account: grace, via: 'EMAIL', address: 'a@acme.test' };
    await reader.refused('403 NOT_YOUR_ACCOUNT', 'createNotification', own);
    const made = await queue.api.ok<{ id: string; address: string }>('createNotification', own);
    assert.equal(made.address, 'a…@acme.test');
    assert.deepEqual(await reader.ok('listNotifications', {}), { notifications: [] });
    await reader.refused('404 WEBHOOK_NOT_FOUND', 'deleteNotification', { id: made.id });
    assert.deepEqual(await queue.api.ok('deleteNotification', { id: made.id }), {});
  });

  it('are off without a mail server and a token of Slack [X58]', async (t) => {
    const world = await openServer(t);
    const queue = await world.aQueue();
    const asked = { account: grace, via: 'EMAIL', address: 'a@acme.test' };
    const problem = await queue.api.refused('400 VALIDATION_FAILED', 'createNotification', asked);
    assert.match(problem.detail, /needs SLUICE_SMTP_URL and SLUICE_MAIL_FROM/);
  });

  it('give up on a mail server that hangs, and hold up nothing for it [X58]', async (t) => {
    const silent = createSocketServer(() => undefined).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    t.after(() => silent.close());
    const smtpUrl = `smtp://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const sender = createPersonalSender({ smtpUrl, mailFrom: 'a@acme.test', slackToken: undefined, timeoutMs: 200 });
    const body = JSON.stringify({ subject: 'x\r\nBcc: c@d', text: 'x' });
    const send = () => sender.send({ id: 'msg_1', format: 'EMAIL', address: 'b@acme.test', body });
    assert.deepEqual(await send(), { kind: 'failed', problem: 'TIMEOUT' });
    assert.deepEqual(await send(), { kind: 'failed', problem: 'CONNECTION_FAILED' });
  });

  it('have subjects of one line for any title [X59]', async () => {
    const sender = createPersonalSender({
      ...{ smtpUrl: `smtp://127.0.0.1:${mail.port}`, mailFrom: 'a@acme.test', slackToken: undefined },
    });
    const body = JSON.stringify({ subject: 'x\r\nBcc: evil@acme.test\r\n\r\nbody', text: '{{constructor}} <%= 1 %>' });
    const result = await sender.send({ id: 'msg_2', format: 'EMAIL', address: 'one@acme.test', body });
    assert.deepEqual(result, { kind: 'answered', status: 250, isAborted: false });
    const [sent] = mailsTo('one@acme.test');
    assert.deepEqual(sent?.to, ['one@acme.test']);
    assert.doesNotMatch(sent?.text ?? '', /^Bcc:/m);
    assert.match(sent?.text ?? '', /\{\{constructor\}\} <%(?:=3D|=) 1 %>/);
  });
});
