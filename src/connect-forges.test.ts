import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { it, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { githubFileOf, writeGithubFile } from './config/github-file.ts';
import { connectForges } from './connect-forges.ts';
import type { Timing } from './lib/clock.ts';

/** A clock that runs one round on request and waits for its end. */
function manualRounds(): { readonly clock: Timing; next(): Promise<void> } {
  let armed = Promise.withResolvers<() => void>();
  const clock: Timing = {
    now: () => 0,
    after: (_ms, act) => {
      armed.resolve(act);
      return () => undefined;
    },
  };
  const next = async () => {
    const act = await armed.promise;
    armed = Promise.withResolvers();
    act();
    await armed.promise;
  };
  return { clock, next };
}

async function aServer(context: TestContext) {
  const dataFolder = await mkdtemp(path.join(tmpdir(), 'sluice-forges-'));
  const said: string[] = [];
  const say = (_facts: object, text: string) => void said.push(text);
  const { clock, next } = manualRounds();
  const config = {
    dataFolder,
    github: undefined,
    gitea: undefined,
    gitlab: undefined,
    testBranchPrefix: 'sluice',
    hookTimeoutSeconds: 300,
  };
  const log = { debug: say, info: say, warn: say, error: say };
  const { forges, watch } = await connectForges(config, { clock, log });
  context.after(async () => {
    await watch.stop();
    for (const forge of forges.values()) await forge.close();
    await rm(dataFolder, { recursive: true, force: true });
  });
  watch.start();
  return { dataFolder, forges, said, next };
}

const auth = { kind: 'token', token: 'ghp_0123456789', webhookSecret: 'a long secret' } as const;
const urls = { apiUrl: undefined, webUrl: undefined };

it('a GitHub that is set up while the server runs is connected, once [G92]', async (context) => {
  const { dataFolder, forges, said, next } = await aServer(context);
  assert.deepEqual([...forges.keys()], ['local']);
  await next();
  await writeGithubFile(dataFolder, { host: 'github.com', ...urls, auth });
  await next();
  const forge = forges.get('github.com');
  assert.notEqual(forge?.hosting, undefined);
  await next();
  assert.equal(forges.get('github.com'), forge);
  assert.equal(said.length, 1);
});

it('an unusable connection is said once, without secrets, and taken up when it can be [G92]', async (context) => {
  const { dataFolder, forges, said, next } = await aServer(context);
  await writeGithubFile(dataFolder, { host: 'github.com', ...urls, auth });
  const file = githubFileOf(dataFolder, 'ghe.test');
  await writeFile(file, '{"token":"ghp_0123456789","appId":"7"}', { mode: 0o600 });
  await next();
  await next();
  assert.deepEqual([...forges.keys()], ['local', 'github.com']);
  const complaints = said.filter((text) => text.includes('ghe.test'));
  assert.equal(complaints.length, 1);
  assert.match(complaints[0] ?? '', /has both an appId and a token/);
  assert.doesNotMatch(said.join(), /ghp_/);
  await writeFile(file, JSON.stringify({ ...auth, apiUrl: 'https://me:secret@ghe.test' }), { mode: 0o600 });
  await next();
  assert.match(said.at(-1) ?? '', /hold no user or password/);
  await writeGithubFile(dataFolder, { host: 'ghe.test', ...urls, auth });
  await next();
  assert.ok(forges.has('ghe.test'));
});

it('an unusable file among the connections stops neither the server nor the other connections [G92]', async (context) => {
  const { dataFolder, forges, said, next } = await aServer(context);
  await mkdir(githubFileOf(dataFolder, 'folder.test'), { recursive: true });
  await promisify(execFile)('mkfifo', [githubFileOf(dataFolder, 'pipe.test')]);
  await writeFile(githubFileOf(dataFolder, 'odd.test'), '{"appId":{"toString":1}}', { mode: 0o600 });
  await writeGithubFile(dataFolder, { host: 'github.com', ...urls, auth });
  await next();
  assert.deepEqual([...forges.keys()], ['local', 'github.com']);
  for (const sentence of [
    /folder\.test\.json is no file/,
    /pipe\.test\.json is no file/,
    /odd\.test\.json has an appId/,
  ])
    assert.match(said.join('\n'), sentence);
});
