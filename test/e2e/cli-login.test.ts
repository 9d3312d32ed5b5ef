// The server and the token that the command line uses: login, the data folder, and files that others can read.
import assert from 'node:assert/strict';
import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, beforeEach, describe, it } from 'node:test';
import { makeFolder, until } from './harness.ts';
import { type RunOptions, sluice } from './kept-sluice.ts';
import { HAS_TERMINAL, runOnTerminal } from './run-sluice.ts';
import { useServer } from './test-queue.ts';

describe('sluice login and logout', () => {
  const world = useServer();
  let folder: string;
  let url: string;
  let hosts: string;
  let token: string;

  const run = (args: readonly string[], options: RunOptions = {}) =>
    sluice(args, { cwd: folder, ...options, env: { XDG_CONFIG_HOME: folder, ...options.env } });

  before(async () => {
    url = world.server.url;
    token = await readFile(join(world.server.dataFolder, 'admin-token'), 'utf8');
  });
  beforeEach(async () => {
    folder = await makeFolder();
    hosts = join(folder, 'sluice', 'hosts.json');
  });

  it('keeps a token that the server accepts, says whose it is, and forgets it [W25] [A32]', async () => {
    const { code, out, err } = await run(['login', url], { input: token });
    assert.deepEqual([code, err], [0, '']);
    assert.equal(out, `Logged in to ${url} as admin of default. Scopes: admin, instance.\nNext: sluice status\n`);
    assert.equal((await stat(hosts)).mode & 0o777, 0o600);

    // Neither SLUICE_URL nor SLUICE_TOKEN is set.
    const status = await run(['status']);
    assert.equal(status.code, 0, status.err);
    assert.ok(status.out.includes(url) && status.out.includes('(sluice login)'), status.out);
    // The token is for this address alone.
    const other = await run(['queue', 'list'], { env: { SLUICE_URL: 'http://127.0.0.1:9' } });
    assert.equal(other.code, 4);
    assert.match(other.err, /There is no token\..*a login at http:\/\/127\.0\.0\.1:9 \(none\)/);

    assert.equal((await run(['logout'])).code, 0);
    assert.doesNotMatch(await readFile(hosts, 'utf8'), /slc_/);
    const again = await run(['logout']);
    assert.deepEqual([again.code, again.err], [1, 'sluice: There is no login.\n']);
  });

  it('opens the dashboard with a link that signs in [W51] [A37]', async () => {
    const { code, out, err } = await run(['open', '--url', url], { env: { SLUICE_TOKEN: token.trim() } });
    assert.deepEqual([code, err], [0, '']);
    assert.match(out, /^http:\/\/127\.0\.0\.1:\d+\/login#[\w-]{43}\n$/);
    const json = await run(['open', '--url', url, '--json'], { env: { SLUICE_TOKEN: token.trim() } });
    assert.deepEqual(Object.keys(JSON.parse(json.out)), ['url', 'expiresAt']);
  });

  it('keeps nothing where the server refuses the token, or does not answer [W25]', async () => {
    const refused = await run(['login', url], { input: 'slc_wrong\n' });
    assert.equal(refused.code, 4);
    assert.match(refused.err, /The token came from the input/);
    assert.equal((await run(['login', 'http://127.0.0.1:9'], { input: token })).code, 3);
    assert.equal((await run(['login', url], { input: 'two\nlines' })).code, 4);
    assert.equal((await run(['login', 'ftp://acme.dev'], { input: token })).code, 2);
    await assert.rejects(stat(hosts));
  });

  it('keeps earlier logins beside a new one, and refuses a damaged file [W25]', async () => {
    const file = join(world.server.dataFolder, 'admin-token');
    for (const address of [url, url.replace('127.0.0.1', 'localhost')]) {
      const { code, err } = await run(['login', address, '--token-file', file]);
      assert.equal(code, 0, err);
    }
    assert.equal(Object.keys(JSON.parse(await readFile(hosts, 'utf8')).tokens).length, 2);
    assert.equal((await run(['logout', url])).code, 0);
    assert.match(JSON.parse(await readFile(hosts, 'utf8')).current, /localhost/);
    await writeFile(hosts, '{"tokens":');
    const { code, err } = await run(['queue', 'list']);
    assert.equal(code, 4);
    assert.match(err, /hosts\.json is damaged\. Delete it/);
  });

  it('refuses a token file that others can read, with the command that mends it [W24]', async () => {
    const file = join(folder, 'a token');
    await writeFile(file, token, { mode: 0o600 });
    const args = ['queue', 'list', '--url', url, '--token-file', file];
    assert.equal((await run(args)).code, 0);
    for (const mode of [0o644, 0o640, 0o604]) {
      await chmod(file, mode);
      const { code, err } = await run(args);
      assert.equal(code, 4);
      assert.ok(err.endsWith(`chmod 600 '${file}'\n`), err);
      assert.doesNotMatch(err, /slc_/);
    }
    await run(['login', url], { input: token });
    await chmod(hosts, 0o644);
    const { code, err } = await run(['queue', 'list']);
    assert.equal(code, 4);
    assert.ok(err.endsWith(`chmod 600 ${hosts}\n`), err);
  });

  it('finds the server of the data folder on any port [W26]', async () => {
    const { code, out, err } = await run(['status'], { env: { SLUICE_DATA: world.server.dataFolder } });
    assert.equal(code, 0, err);
    assert.ok(out.includes(url), out);
  });

  it('asks for the token on a terminal and does not show it [W25]', { skip: !HAS_TERMINAL }, async () => {
    const asked = runOnTerminal(['login', url], { XDG_CONFIG_HOME: folder, HOME: folder });
    await until('the question', 10_000, async () => asked.output.out.includes('Token for') || undefined);
    asked.type(`x\u007f${token.trim()}\r`);
    const { code, out } = await asked.ended;
    assert.equal(code, 0, out);
    assert.match(out, /Token for .*: \r\nLogged in to /);
    assert.doesNotMatch(out, /slc_/);
  });
});
