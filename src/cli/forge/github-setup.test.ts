import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { pluck } from '../../../test/helpers/pluck.ts';
import { inspectPermissions } from '../../forge/github/inspect/permissions.ts';
import { createManifest, defaultName, isReachable } from './manifest.ts';
import { creationUrl, receiveCode, renderSetupPage } from './receive-code.ts';

const OPTIONS = {
  host: 'github.com',
  name: 'sluice-acme',
  publicUrl: 'https://sluice.acme.dev',
  redirectUrl: 'http://127.0.0.1:1/created',
};

describe('the App that is made', () => {
  it('has the permissions and events that the server looks for [G68]', () => {
    const { default_permissions: permissions, default_events: events } = createManifest(OPTIONS);
    assert.deepEqual(pluck(inspectPermissions(permissions), 'level'), ['ok']);
    assert.ok(events.includes('pull_request') && events.includes('check_run') && events.includes('issue_comment'));
  });

  it('is told where events go, or gets none where GitHub cannot reach the server [G68]', () => {
    const hook = { url: 'https://sluice.acme.dev/webhooks/github', active: true };
    assert.deepEqual(createManifest(OPTIONS).hook_attributes, hook);
    assert.equal(createManifest({ ...OPTIONS, publicUrl: undefined }).hook_attributes.active, false);
    for (const url of ['http://127.0.0.1:8080', 'http://localhost', 'https://[::1]/x', 'http://box.local'])
      assert.equal(isReachable(url), false, url);
    assert.equal(isReachable('https://sluice.acme.dev/base'), true);
  });

  it('has a name that GitHub takes', () => {
    assert.equal(defaultName('Acme', 'x'), 'sluice-acme');
    assert.equal(defaultName(`${'a'.repeat(26)}-b`, 'x'), `sluice-${'a'.repeat(26)}`);
  });
});

describe('the page of the setup', () => {
  it('sends the manifest to GitHub, and nothing can break out of it', () => {
    const action = creationUrl('https://github.com', 'acme', 'state');
    assert.equal(action, 'https://github.com/organizations/acme/settings/apps/new?state=state');
    assert.equal(creationUrl('https://ghe', undefined, 's'), 'https://ghe/settings/apps/new?state=s');
    const page = renderSetupPage(action, createManifest({ ...OPTIONS, name: `"><script>alert('x')</script>` }));
    assert.ok(!page.includes('<script>'));
    const value = /name="manifest" value="([^"]*)"/.exec(page)?.[1] ?? '';
    const manifest = JSON.parse(
      value
        .replaceAll('&quot;', '"')
        .replaceAll('&lt;', '<')
        .replaceAll('&gt;', '>')
        .replaceAll('&#39;', "'")
        .replaceAll('&amp;', '&'),
    );
    assert.equal(manifest.name, `"><script>alert('x')</script>`);
  });

  it('is for whoever was told its address, and survives whatever it is asked [G93]', async () => {
    const receiver = await receiveCode({ port: 0, state: 'mine' });
    try {
      receiver.show('<p>page</p>', 'https://github.com/settings/apps/new');
      const { origin, port } = new URL(receiver.url);
      // The form contains the state: another user of this machine must not find it by the port alone.
      assert.equal((await fetch(origin)).status, 404);
      for (const line of ['GET // HTTP/1.1', 'GET http://[ HTTP/1.1', 'GET * HTTP/1.1']) {
        const socket = connect(Number(port), '127.0.0.1');
        socket.end(`${line}\r\nhost: x\r\nconnection: close\r\n\r\n`);
        assert.match(await text(socket), /^HTTP\/1\.1 40[04] /, line);
      }
      assert.equal((await fetch(receiver.url)).status, 200);
    } finally {
      receiver.close();
    }
  });

  it('takes the code of its own state only [G93]', async () => {
    const receiver = await receiveCode({ port: 0, state: 'mine' });
    try {
      receiver.show('<p>page</p>', 'https://github.com/settings/apps/new');
      const page = await fetch(receiver.url);
      assert.match(page.headers.get('content-security-policy') ?? '', /form-action https:\/\/github\.com;/);
      assert.equal(await page.text(), '<p>page</p>');
      for (const query of ['', '?code=0123456789', '?code=0123456789&state=theirs', '?code=a%2Fb&state=mine'])
        assert.equal((await fetch(`${receiver.redirectUrl}${query}`)).status, 400, query);
      assert.equal((await fetch(`${receiver.url}else`)).status, 404);
      assert.equal((await fetch(receiver.url, { method: 'POST' })).status, 405);
      assert.equal((await fetch(`${receiver.redirectUrl}?code=0123456789&state=mine`)).status, 200);
      assert.equal(await receiver.code, '0123456789');
    } finally {
      receiver.close();
    }
  });
});
