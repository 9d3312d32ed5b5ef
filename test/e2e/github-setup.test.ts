// The commands of the documentation connect the fake GitHub, and a server runs on that.
import assert from 'node:assert/strict';
import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { EntryView } from '../../src/app/queue/entry-view.ts';
import type { QueueView } from '../../src/app/queue/queue-view.ts';
import { acceptManifest } from '../fake/github/apps.ts';
import { createFakeGithub, type FakeGithub } from '../fake/github/fake-github.ts';
import type { App, Repository } from '../fake/github/model.ts';
import { createClient, makeFolder, startServer, type TestServer, until } from './harness.ts';
import { sluice } from './kept-sluice.ts';
import { runSluice } from './run-sluice.ts';

const HOST = 'github.test';
const repo = { host: HOST, owner: 'acme', name: 'app' };
const ref = { repo, targetBranch: 'main' };
const WORKFLOW = `
on:
  push:
    branches: ['sluice/**']
jobs:
  unit:
    runs-on: ubuntu-latest
    steps: []
`;

let github: FakeGithub;
let repository: Repository;
let app: App;
let dataFolder: string;
let server: TestServer;

function environment() {
  return { SLUICE_DATA: dataFolder, ...(server === undefined ? {} : { SLUICE_URL: server.url }) };
}

/** Returns the output, and asserts the exit code. */
async function printed(expected: number, ...args: string[]): Promise<string> {
  const { code, out, err } = await sluice(args, { env: environment() });
  assert.equal(code, expected, `sluice ${args.join(' ')}\n${out}\n${err}`);
  return `${out}\n${err}`;
}

function setUp(...args: string[]): string[] {
  return ['github', 'setup', '--host', HOST, '--api-url', github.url, '--web-url', github.url, ...args];
}

before(async () => {
  dataFolder = await makeFolder();
  github = await createFakeGithub();
  const files = { 'README.md': 'hello\n', '.github/workflows/ci.yml': WORKFLOW };
  repository = await github.createRepository('acme/app', { files, roles: { ann: 'write' } });
});

after(async () => {
  await server?.stop();
  await github.close();
  await rm(dataFolder, { recursive: true, force: true, maxRetries: 5 });
});

describe('sluice forge setup github', () => {
  it('shows a page, takes the code back and keeps the key [G93] [G68]', async () => {
    const args = setUp('--org', 'acme', '--url', 'https://sluice.acme.dev', '--name', 'sluice-acme');
    const running = runSluice(args, environment());
    const url = await until(
      'the page is there',
      20_000,
      async () => /http:\/\/127\.0\.0\.1:\d+\/\w+/.exec(running.output.err)?.[0],
    );
    const page = await (await fetch(url)).text();
    const action = new URL(/action="([^"]+)"/.exec(page)?.[1]?.replaceAll('&amp;', '&') ?? '');
    assert.equal(action.pathname, '/organizations/acme/settings/apps/new');
    const manifest = JSON.parse((/value="([^"]+)"/.exec(page)?.[1] ?? '').replaceAll('&quot;', '"'));
    assert.deepEqual(
      [manifest.name, manifest.hook_attributes.url],
      ['sluice-acme', 'https://sluice.acme.dev/webhooks/github'],
    );
    const made = acceptManifest(github.world, {
      slug: manifest.name,
      permissions: manifest.default_permissions,
      events: manifest.default_events,
      hook: { url: manifest.hook_attributes.url, secret: 'the secret of the webhook' },
    });
    app = made.app;
    const back = new URL(manifest.redirect_url);
    back.searchParams.set('code', made.code);
    back.searchParams.set('state', action.searchParams.get('state') ?? '');
    assert.match(await (await fetch(back)).text(), /Go back to the terminal/);
    const { code, out, err } = await running.ended;
    assert.equal(code, 0, err);
    assert.match(out, /Connected\.[\s\S]*\/installations\/new[\s\S]*sluice repo add github\.test\/acme\/app/);
    const file = join(dataFolder, 'github', `${HOST}.json`);
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    const kept = JSON.parse(await readFile(file, 'utf8'));
    assert.deepEqual([kept.appId, kept.webhookSecret], [String(app.id), 'the secret of the webhook']);
    assert.ok(kept.privateKey.includes('BEGIN') && !`${out}${err}`.includes('BEGIN'));
    assert.ok(!`${out}${err}`.includes('the secret of the webhook'));
  });

  it('takes the address that could not be opened from standard input, and does not print its code [G94]', async () => {
    const made = acceptManifest(github.world, { slug: 'sluice-elsewhere' });
    const folder = await makeFolder();
    const args = setUp('--code', '-').map((word) => (word === HOST ? 'elsewhere.test' : word));
    const running = runSluice(args, { SLUICE_DATA: folder });
    running.type('https://sluice.acme.dev/\n');
    running.type(`http://127.0.0.1:4000/created?code=${made.code}&state=0123\n`);
    const { code, out, err } = await running.ended;
    await rm(folder, { recursive: true });
    assert.equal(code, 0, err);
    assert.match(err, /That is no code/);
    assert.match(out, /Connected\.[\s\S]*No server has used .* yet/);
    assert.ok(!`${out}${err}`.includes(made.code));
  });

  it('replaces a connection only with --replace, and says why a code is refused [G95]', async () => {
    assert.match(await printed(1, ...setUp('--code', '0123456789abcdef')), /connected already .*--replace/);
    assert.match(await printed(1, ...setUp('--replace', '--code', '0123456789abcdef')), /does not know this code/);
    assert.match(await printed(2, ...setUp('--replace', '--code', 'a b')), /no code/);
    assert.match(await printed(2, 'github', 'setup', '--host', 'local'), /plain git/);
    assert.match(await printed(2, 'github', 'setup', '--host', 'https://ghe.test/x'), /name of a host/);
    for (const url of ['ghe.test/api/v3', 'localhost:80', 'https://me:secret@ghe.test'])
      assert.match(await printed(2, 'github', 'setup', '--host', 'ghe.test', '--api-url', url), /begins with https/);
  });
});

describe('a repository of a GitHub', () => {
  it('is registered by its name, or refused with the reason [G70]', async () => {
    server = await startServer({ SLUICE_DATA: dataFolder });
    app.hook.url = `${server.url}/webhooks/github`;
    assert.match(await printed(1, 'repo', 'add', `${HOST}/acme/app`), /install/i);
    github.install(app, 'acme');
    assert.match(
      await printed(0, 'repo', 'add', `${HOST}/acme/app`),
      /github\.test\/acme\/app is registered\.[\s\S]*queue create/,
    );
    await printed(1, 'repo', 'add', `${HOST}/acme/other`);
    assert.match(
      await printed(1, 'repo', 'add', 'github.com/acme/app'),
      /github\.com is not connected to this server\. Run "sluice forge setup"/,
    );
    assert.match(await printed(1, 'repo', 'add', `${HOST}/acme/app`, '--git', '/x'), /host "local" only/);
  });

  it('shows missing settings when a queue is created, and again until none is missing [G97]', async () => {
    assert.match(await printed(1, 'github', 'check'), /No check is required for main anywhere/);
    const created = await printed(
      0,
      'queue',
      'create',
      `${HOST}/acme/app`,
      'main',
      '--required-statuses',
      'unit@github-actions',
    );
    assert.match(created, /requiredStatuses +unit@github-actions/);
    assert.match(created, /What is missing on the forge:[\s\S]*Everybody with write access can merge or push to main/);
    const bypass = [{ actorId: app.id, type: 'Integration', mode: 'always' }] as const;
    const everywhere = github.addRuleset(repository, { include: ['~ALL'], rules: [{ type: 'creation' }] });
    assert.match(await printed(1, 'github', 'check', `${HOST}/acme/app`), /Exclude "sluice\/\*\*\/\*" from it/);
    github.removeRuleset(repository, everywhere);
    github.addRuleset(repository, { rules: [{ type: 'update' }], bypass });
    const text = await printed(0, 'github', 'check', `${HOST}/acme/app`, 'main');
    assert.match(text, /Only Sluice can move main\.[\s\S]*Nothing keeps a queue from working\./);
    assert.match(text, /The app has every permission it needs/);
    const { checks } = JSON.parse((await sluice(['github', 'check', '--json'], { env: environment() })).out);
    assert.deepEqual(checks[0].repo, repo);
  });

  it('shows required apps on /v1, names on /trunk/v1, and keeps them when names are written there [G126]', async () => {
    const trunk = createClient({ url: `${server.url}/trunk/v1`, token: server.token });
    const own = [{ name: 'unit', app: 'github-actions' }];
    assert.deepEqual((await server.api.ok<QueueView>('getQueue', ref)).requiredStatuses, own);
    assert.deepEqual((await trunk.ok<QueueView>('getQueue', ref)).requiredStatuses, ['unit']);
    const shards = [{ name: 'test (*)', app: 'github-actions' }];
    await server.api.ok('updateQueue', { ...ref, failFastStatuses: shards });
    const named = { ...ref, requiredStatuses: ['unit', 'lint'], failFastStatuses: ['test (*)'] };
    const shown = await trunk.ok<QueueView>('updateQueue', named);
    assert.deepEqual([shown.requiredStatuses, shown.failFastStatuses], [['unit', 'lint'], ['test (*)']]);
    const kept = await server.api.ok<QueueView>('getQueue', ref);
    assert.deepEqual([kept.requiredStatuses, kept.failFastStatuses], [[...own, 'lint'], shards]);
    for (const odd of [[{ name: 'unit' }], [{ name: 'unit', app: 'A b' }], ['unit', ...own]])
      await server.api.refused('400 VALIDATION_FAILED', 'updateQueue', { ...ref, requiredStatuses: odd });
    await server.api.ok('updateQueue', { ...ref, requiredStatuses: own, failFastStatuses: [] });
  });

  it('has pull requests that are found by their branch [G98]', async () => {
    const pr = await github.openPullRequest(repository, { branch: 'fix/it', author: 'ann' });
    await server.api.ok('submitPullRequest', { ...ref, pr: { number: pr.number } });
    const found = await server.api.ok<EntryView>('getSubmittedPullRequest', { ...ref, pr: { branch: 'fix/it' } });
    assert.equal(found.prNumber, pr.number);
    await server.api.refused('404 PULL_REQUEST_NOT_FOUND', 'getSubmittedPullRequest', { ...ref, pr: { branch: 'no' } });
  });
});
