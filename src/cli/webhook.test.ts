import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { sluice } from '../../test/e2e/kept-sluice.ts';
import { WebhookReceiver } from '../../test/helpers/webhook-receiver.ts';
import { createInProcess, type InProcess } from '../../test/worlds/server/in-process.ts';
import { makeSome } from '../app/webhooks/make-deliveries.ts';

describe('sluice webhook', () => {
  let world: InProcess;
  let receiver: WebhookReceiver;
  let env: Readonly<Record<string, string>>;
  before(async () => {
    receiver = await new WebhookReceiver().start();
    world = await createInProcess();
    await world.server.listen({ port: 0, host: '127.0.0.1' });
    const { port } = world.server.server.address() as AddressInfo;
    const { token } = await world.ok<{ token: string }>('/v1/createApiToken', {
      ...{ name: 'operator', scopes: ['admin', 'instance'] },
    });
    env = { SLUICE_URL: `http://127.0.0.1:${port}`, SLUICE_TOKEN: token };
  });
  after(async () => {
    await receiver.close();
    await world.app.webhooks.sender.close();
    await world.close();
  });

  const run = async (...args: string[]) => {
    const { code, out, err } = await sluice(['webhook', ...args], { env });
    assert.equal(code, 0, err);
    return { out, err };
  };
  const refused = async (code: number, ...args: string[]) => {
    const ran = await sluice(['webhook', ...args], { env });
    assert.equal(ran.code, code, ran.out + ran.err);
    return ran.err;
  };

  it('prints the secret of a new one alone on standard output, and never again [X53]', async () => {
    assert.equal((await run('list')).out, 'No webhooks.\n');
    const types = ['--types', 'token.*,pull_request.*', '--types', 'queue.held'];
    const { out, err } = await run('create', `${receiver.url}/secret`, '--name', 'deploys', ...types);
    assert.match(out, /^whsec_[A-Za-z0-9+/]{43}=\n$/);
    assert.match(err, /^Webhook [\da-f-]{36} \(deploys\)\. Its secret, shown only now:\nNext: sluice webhook test /);
    const listed = (await run('list')).out;
    assert.equal(listed, `deploys\tSTANDARD\ttoken.*, pull_request.*, queue.held\t${receiver.url}/…\tok\n`);
    const shown = (await run('show', 'deploys')).out;
    assert.match(shown, /types +token\.\*, pull_request\.\*, queue\.held\nrepositories +all\nstate +ok\n/);
    assert.ok(!`${listed}${shown}`.includes('secret'));
  });

  it('tests the endpoint, and says why it did not take the message [X53]', async () => {
    assert.equal((await run('test', 'deploys')).out, 'Delivered: status 204.\n');
    receiver.answer = (response) => response.writeHead(500).end();
    assert.match(await refused(1, 'test', 'deploys'), /"deploys" did not take the message: status 500\.\n$/);
    receiver.answer = (response) => response.writeHead(204).end();
  });

  it('lists deliveries, replays them, rotates the secret, changes, disables and deletes [X53]', async () => {
    assert.equal((await run('deliveries', 'deploys')).out, 'No deliveries.\n');
    await world.ok('/v1/createApiToken', { name: 'one', scopes: ['read'] });
    await world.app.feed.sequence();
    await makeSome(world.app);
    const [, type, state, id = ''] = (await run('deliveries', 'deploys', '--state', 'pending')).out.trim().split('\t');
    assert.deepEqual([type, state], ['token.created', 'PENDING']);
    assert.equal((await run('replay', 'deploys', id)).out, 'Sending again to "deploys".\n');
    assert.equal((await run('replay', 'deploys', '--after', '2h')).out, 'Sending again to "deploys".\n');
    assert.match(await refused(2, 'replay', 'deploys'), /Name one delivery, or say --after/);
    const rotated = await run('rotate', 'deploys');
    assert.match(rotated.out, /^whsec_/);
    assert.match(rotated.err, /^The former secret is valid until /);
    const changed = (await run('update', 'deploys', '--name', 'ships', '--repo', 'local/acme/app', '--disable')).out;
    assert.match(
      changed,
      /name +ships[\s\S]*repositories +local\/acme\/app\nstate +disabled since [\s\S]*former secret/,
    );
    assert.match(await refused(1, 'replay', 'ships', '--after', '2h'), /is disabled/);
    assert.match((await run('update', 'ships', '--enable')).out, /state +ok/);
    assert.match((await run('delete', 'ships', '--yes')).out, /"ships" is deleted/);
  });

  it('takes a name only if one webhook has it, and says what is wrong with wishes [X53]', async () => {
    const create = ['create', 'https://example.com/x', '--name', 'twice'];
    const made = JSON.parse((await run(...create, '--json')).out) as { id: string; types: string[] };
    assert.deepEqual(made.types, ['pull_request.*']);
    await run(...create, '--format', 'teams', '--types', 'digest.daily');
    assert.match(
      await refused(1, 'show', 'twice'),
      /There are 2 webhooks "twice"\. "sluice webhook list" shows their ids/,
    );
    assert.match((await run('list')).out, new RegExp(`\\t${made.id}\\n`));
    assert.match((await run('show', made.id)).out, /format +STANDARD/);
    assert.match(await refused(1, 'show', 'nothing'), /There is no webhook "nothing"/);
    assert.match(await refused(1, ...create, '--types', 'queue.hold'), /Did you mean queue\.held\?\n/);
    assert.match(await refused(1, 'create', 'http://10.0.0.1/', '--name', 'x'), /<address> is not a public address/);
    assert.match(await refused(2, ...create, '--format', 'xml'), /standard, slack, teams/i);
    const reader = await world.ok<{ token: string }>('/v1/createApiToken', { name: 'r', scopes: ['read'] });
    const { code, err } = await sluice(['webhook', 'list'], { env: { ...env, SLUICE_TOKEN: reader.token } });
    assert.ok(code !== 0 && /admin/.test(err), `${code} ${err}`);
  });
});
