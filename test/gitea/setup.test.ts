// The commands of docs/gitea.md connect a Gitea, and a server runs on that.

import assert from 'node:assert/strict';
import { rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { makeFolder, startHere, type TestServer, until } from '../e2e/harness.ts';
import { sluice } from '../e2e/kept-sluice.ts';
import { type GiteaPlace, startPeople } from './gitea-world.ts';

const APP = 'acme/app';
let gitea: Omit<GiteaPlace, 'server'>;
let dataFolder: string;
let server: TestServer | undefined;
let host: string;

/** Returns the output, and asserts the exit code. */
async function printed(expected: number, ...args: string[]): Promise<string> {
  const env = { SLUICE_DATA: dataFolder, ...server?.env };
  const { code, out, err } = await sluice(args, { env });
  assert.equal(code, expected, `sluice ${args.join(' ')}\n${out}\n${err}`);
  return `${out}\n${err}`;
}

function setUp(...args: readonly string[]): string[] {
  return ['forge', 'setup', 'gitea', gitea.proxy.url, ...args];
}

before(async () => {
  dataFolder = await makeFolder();
  gitea = await startPeople();
  ({ host } = new URL(gitea.proxy.url));
  const { people } = gitea;
  await people.get('root', 'POST', '/orgs/acme/repos', { name: 'app', default_branch: 'main' });
  await people.commit('root', APP, 'refs/heads/main', undefined, { files: { 'README.md': 'hello\n' } });
  const token = await people.createToken('sluice', ['write:repository', 'write:issue', 'read:user']);
  await writeFile(join(dataFolder, 'token.txt'), `${token}\n`, { mode: 0o600 });
});

after(async () => {
  await server?.stop();
  await gitea.proxy.close();
  await gitea.people.gitea.close();
  await rm(dataFolder, { recursive: true, force: true, maxRetries: 5 });
});

describe('sluice forge setup gitea', () => {
  it('refuses bad addresses, tokens and repositories in words, and keeps nothing [G170]', async () => {
    assert.match(await printed(2, 'forge', 'setup', 'gitea', 'git.acme.dev'), /must be an address such as https/);
    assert.match(await printed(2, 'forge', 'setup', 'gitea', 'https://me:secret@git.acme.dev'), /without user/);
    assert.match(await printed(2, ...setUp()), /access token of the account is needed/);
    await writeFile(join(dataFolder, 'bad.txt'), 'no-such-token-0123456789');
    const bad = await printed(3, ...setUp('--gitea-token-file', join(dataFolder, 'bad.txt')));
    assert.match(bad, /refuses the token/);
    assert.doesNotMatch(bad, /no-such-token/);
    assert.match(await printed(2, ...setUp('--repo', 'app')), /repository such as acme\/app/);
    const token = ['--gitea-token-file', join(dataFolder, 'token.txt')];
    assert.match(await printed(1, ...setUp(...token, '--repo', APP)), /no administrator of acme\/app/);
    await assert.rejects(stat(join(dataFolder, 'gitea', `${host}.json`)));
  });

  it('shows each change before it is made, and keeps the connection for its owner alone [G67] [G170]', async () => {
    const { people } = gitea;
    const admin = `/repos/${APP}`;
    await people.get('root', 'PUT', `${admin}/collaborators/sluice`, { permission: 'admin' });
    await people.get('root', 'PUT', `${admin}/collaborators/ci`, { permission: 'write' });
    await people.get('root', 'PUT', `${admin}/collaborators/ada`, { permission: 'write' });
    const rule = {
      rule_name: 'main',
      enable_push: true,
      enable_push_whitelist: true,
      push_whitelist_usernames: ['root'],
    };
    await people.get('root', 'POST', `${admin}/branch_protections`, rule);
    server = await startHere({ SLUICE_DATA: dataFolder });
    const given = [
      '--gitea-token-file',
      join(dataFolder, 'token.txt'),
      '--repo',
      APP,
      '--url',
      'https://sluice.acme.dev',
    ];
    assert.match(await printed(2, ...setUp(...given)), /Will be done:[\s\S]*add --yes/);
    assert.equal((await people.get('root', 'GET', admin)).allow_manual_merge, false, 'nothing was done yet');
    const said = await printed(0, ...setUp(...given, '--yes'));
    assert.match(said, /Done: acme\/app: allow pull requests to be marked as merged by hand/);
    assert.match(said, /let sluice push to main/);
    assert.match(said, /send events to https:\/\/sluice\.acme\.dev\/webhooks\/gitea\//);
    assert.match(said, /make the label "trunk-merge-queue-submit"/);
    assert.equal((await people.get('root', 'GET', admin)).allow_manual_merge, true);
    const protection = await people.get('root', 'GET', `${admin}/branch_protections/main`);
    assert.deepEqual(protection.push_whitelist_usernames.toSorted(), ['root', 'sluice']);
    const [hook] = await people.get('root', 'GET', `${admin}/hooks`);
    assert.ok(hook.active && hook.events.includes('pull_request_sync') && hook.events.includes('status'));
    assert.equal((await stat(join(dataFolder, 'gitea', `${host}.json`))).mode & 0o777, 0o600);
    assert.match(await printed(1, ...setUp()), /is connected already/);
  });

  it('makes a queue possible on a running server, and the check names missing settings [G92] [G169]', async () => {
    const { people } = gitea;
    const name = `${host}/${APP}`;
    await until('the server has connected it', 30_000, async () => {
      const { code } = await sluice(['repo', 'add', name], { env: { SLUICE_DATA: dataFolder, ...server?.env } });
      return code === 0 ? true : undefined;
    });
    assert.match(await printed(1, 'forge', 'check', name, 'main'), /No check is required for main anywhere/);
    const created = await printed(0, 'queue', 'create', name, 'main', '--required-statuses', 'ci@ci');
    assert.match(created, /Nothing keeps a queue from working\.|is not protected|ok/);
    const check = await printed(0, 'forge', 'check', name, 'main');
    assert.match(check, /Sluice acts as sluice on Gitea 1\.26\.0/);
    assert.match(check, /The account of Sluice may push to main/);
    assert.match(check, /The check "ci" counts when ci reports it/);
    assert.match(check, /Events are sent to/);
    assert.match(check, /Nothing keeps a queue from working/);
    await printed(0, 'queue', 'update', name, 'main', '--required-statuses', 'ci / test (pull_request)');
    assert.match(await printed(1, 'forge', 'check', name, 'main'), /Require "ci \/ test \(push\)"/);
    await printed(0, 'queue', 'update', name, 'main', '--required-statuses', 'ci');
    assert.match(await printed(0, 'forge', 'check', name, 'main'), /Every account with write access can report "ci"/);
    await people.get('root', 'PATCH', `/repos/${APP}`, { allow_manual_merge: false });
    assert.match(
      await printed(1, 'forge', 'check', name, 'main'),
      /does not allow to mark pull requests as manually merged/,
    );
  });
});
