// The receivers in examples/webhooks, told of real events by a real server.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { collectOutput, endWithProcess } from '../helpers/children.ts';
import { ROOT } from '../helpers/doc-pages.ts';
import { madeOnce } from '../helpers/made.ts';
import { WebhookReceiver } from '../helpers/webhook-receiver.ts';
import { type Environment, until } from './harness.ts';
import { caseOf, FAILURE, reportOf, upload } from './quarantine-world.ts';
import { useServer } from './test-queue.ts';

const PATIENCE_MS = 20_000;

/** Without the package, the Python receiver cannot run. */
function findProblem(): string | false {
  try {
    execFileSync('python3', ['-c', 'import svix.webhooks'], { stdio: 'ignore', timeout: PATIENCE_MS });
    return false;
  } catch {
    return 'python3 with the package svix is not there: pip install svix';
  }
}

describe('the receivers in examples/webhooks', () => {
  const world = useServer({ SLUICE_WEBHOOK_NETWORKS: '127.0.0.1' });
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const queue = madeOnce(() => world.aQueue());

  /** Starts an example, and a webhook that tells it. */
  const open = async (command: readonly [string, string], types: readonly string[], env: Environment = {}) => {
    const [program, file] = command;
    const child = spawn(program, [`${ROOT}examples/webhooks/${file}`], {
      env: { PATH: process.env['PATH'], PORT: '0', SLUICE_WEBHOOK_SECRET: secret, ...env },
    });
    endWithProcess(child);
    after(() => child.kill());
    const output = collectOutput(child);
    const says = (line: RegExp) =>
      until(`it prints ${line}`, PATIENCE_MS, async () => {
        assert.equal(child.exitCode, null, output.err);
        return line.exec(output.out) ?? undefined;
      });
    const [, port] = await says(/listens on port (\d+)\n/);
    const url = `http://127.0.0.1:${port}/`;
    const body = { name: file, url, format: 'STANDARD', types, repositories: [queue.repo], secret };
    const { id } = await world.server.api.ok<{ id: string }>('createWebhook', body);
    return { id, url, output, says };
  };

  const receive = async (program: string, file: string) => {
    const { id, url, output, says } = await open([program, file], ['pull_request.submitted']);
    const prNumber = await queue.submitOne();
    const line = `pull_request.submitted ${prNumber}\n`;
    await says(new RegExp(line));
    // Once more, under the same id.
    const list = () =>
      world.server.api.ok<{ deliveries: { id: string; state: string }[] }>('listWebhookDeliveries', { id });
    const [sent] = (await list()).deliveries;
    await world.server.api.ok('replayWebhookDelivery', { id, deliveryId: sent?.id });
    await until('it was sent again', PATIENCE_MS, async () =>
      (await list()).deliveries.every(({ state }) => state === 'DELIVERED') ? true : undefined,
    );
    assert.deepEqual(await world.server.api.ok('testWebhook', { id }), { delivered: true, status: 204 });
    assert.equal(output.out.split(line).length, 2, output.out);
    const forged = {
      'webhook-id': 'msg_1',
      'webhook-timestamp': `${Math.floor(Date.now() / 1000)}`,
      'webhook-signature': `v1,${randomBytes(32).toString('base64')}`,
    };
    assert.equal((await fetch(url, { method: 'POST', headers: forged, body: '{}' })).status, 401);
    await world.server.api.ok('deleteWebhook', { id });
  };

  test('Node, with standardwebhooks, verifies messages', () => receive(process.execPath, 'receiver.mjs'));

  test('Python, with svix, verifies messages', { skip: findProblem() }, () => receive('python3', 'receiver.py'));

  test('tickets: a test that becomes flaky gets one, and keeps it', async () => {
    const tracker = await new WebhookReceiver().start();
    after(() => tracker.close());
    const ticket = { url: 'https://tracker.acme.dev/KAN-1' };
    tracker.answer = (response) => response.writeHead(201).end(JSON.stringify(ticket));
    const { id, says } = await open([process.execPath, 'tickets.mjs'], ['test_case.status_changed'], {
      ...world.server.env,
      ...{ SLUICE_REPO: queue.name, TRACKER_URL: tracker.url },
    });
    const sha = await queue.git.git(['rev-parse', 'main']);
    for (const inside of [FAILURE, '']) {
      await upload(queue.api, queue, { sha, branch: 'main', job_name: 'unit' }, reportOf(caseOf('shaky', inside)));
    }
    await says(/shaky: https:\/\/tracker\.acme\.dev\/KAN-1\n/);
    const scope = { repo: queue.repo, org_url_slug: 'default' };
    const { tests } = await queue.api.ok<{ tests: { ticket?: { html_url: string } }[] }>('flaky-tests/search-tests', {
      ...scope,
      query: 'shaky',
    });
    assert.deepEqual(tests[0]?.ticket, { html_url: ticket.url });
    const [asked] = tracker.received;
    assert.match(asked?.body ?? '', /"title":"shaky is flaky"/);
    assert.match(asked?.headers['idempotency-key'] ?? '', /^msg_/);
    await world.server.api.ok('deleteWebhook', { id });
  });
});
