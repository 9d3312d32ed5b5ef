import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { chmod, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { pluck } from '../../test/helpers/pluck.ts';
import { parseConfig } from './config.ts';
import { type GithubEnvironment, parsePrivateKey } from './github.ts';
import { githubFileOf, writeGithubFile } from './github-file.ts';
import { loadConnections } from './load-connections.ts';
import { loadGithubFiles, loadGithubVariables } from './load-github.ts';

const encoding = { type: 'pkcs1', format: 'pem' } as const;
const newKey = () => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export(encoding).toString();
const KEY = newKey();
const APP = {
  SLUICE_GITHUB_APP_ID: '7',
  SLUICE_GITHUB_PRIVATE_KEY: KEY,
  SLUICE_GITHUB_WEBHOOK_SECRET: 'a long secret',
};

function parse(environment: Record<string, string>) {
  const parsed = parseConfig(environment);
  assert.ok('config' in parsed, JSON.stringify(parsed));
  return parsed;
}

function problemOf(environment: Record<string, string>): string {
  const parsed = parseConfig(environment);
  return 'problems' in parsed ? parsed.problems.join('\n') : 'none';
}

async function aFolder(context: TestContext): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'sluice-github-'));
  context.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

const SOURCE = { loadVariables: loadGithubVariables, loadFiles: loadGithubFiles };

function loadGithub(config: { readonly dataFolder: string; readonly github: GithubEnvironment | undefined }) {
  return loadConnections(SOURCE, { gitea: undefined, gitlab: undefined, ...config });
}

describe('the connection to GitHub in the environment', () => {
  it('is not there where nothing is said', () => {
    assert.equal(parse({}).config.github, undefined);
  });

  it('is an App on github.com, or on another host [G67]', () => {
    const { config, warnings } = parse(APP);
    assert.deepEqual(warnings, []);
    assert.equal(config.github?.host, 'github.com');
    assert.deepEqual(config.github?.auth, {
      kind: 'app',
      appId: '7',
      privateKey: parsePrivateKey(KEY),
      webhookSecret: 'a long secret',
    });
    assert.equal(parse({ ...APP, SLUICE_GITHUB_HOST: 'GHE.acme.dev' }).config.github?.host, 'ghe.acme.dev');
  });

  it('takes a key on one line, with \\n or as base64 [G67]', () => {
    const texts = [KEY.replaceAll('\n', '\\n'), Buffer.from(KEY).toString('base64'), ` ${KEY} `];
    for (const text of texts) assert.equal(parsePrivateKey(text), parsePrivateKey(KEY));
    assert.match(parsePrivateKey(KEY) ?? '', /^-----BEGIN PRIVATE KEY-----\n/);
  });

  it('warns where no event can be believed, and takes a token for a trial [G90]', () => {
    const { config, warnings } = parse({ SLUICE_GITHUB_TOKEN: 'ghp_0123456789' });
    assert.deepEqual(config.github?.auth, { kind: 'token', token: 'ghp_0123456789' });
    assert.match(warnings.join(), /SLUICE_GITHUB_WEBHOOK_SECRET is not set/);
  });

  for (const [what, environment, sentence] of [
    ['an App and a token', { ...APP, SLUICE_GITHUB_TOKEN: 'ghp_0123456789' }, /both set.*unset one/],
    ['an App without a key', { SLUICE_GITHUB_APP_ID: '7' }, /needs the key/],
    [
      'a key without an App',
      { SLUICE_GITHUB_PRIVATE_KEY: KEY },
      /PRIVATE_KEY does nothing without SLUICE_GITHUB_APP_ID/,
    ],
    ['two keys', { ...APP, SLUICE_GITHUB_PRIVATE_KEY_FILE: 'x' }, /both set/],
    ['a host alone', { SLUICE_GITHUB_HOST: 'github.com' }, /does nothing without .* or SLUICE_GITHUB_TOKEN/],
    ['a host that is plain git', { ...APP, SLUICE_GITHUB_HOST: 'local' }, /plain git/],
    ['a host that is none', { ...APP, SLUICE_GITHUB_HOST: 'https://x' }, /name of a host/],
    ['a guessable secret', { ...APP, SLUICE_GITHUB_WEBHOOK_SECRET: 'hunter2' }, /at least 8/],
    ['a key that is none', { ...APP, SLUICE_GITHUB_PRIVATE_KEY: 'hunter2hunter2' }, /must be the private key/],
    ['an odd App id', { ...APP, SLUICE_GITHUB_APP_ID: 'my app' }, /number or the client id/],
  ] as const) {
    it(`refuses ${what}, in words and without secrets [G89]`, () => {
      const problem = problemOf(environment);
      assert.match(problem, sentence);
      assert.ok(!problem.includes('hunter2') && !problem.includes('ghp_') && !problem.includes('BEGIN'));
    });
  }
});

describe('connections to GitHub in files', () => {
  it('are written for their owner only, and read with every other [G67]', async (context) => {
    const dataFolder = await aFolder(context);
    const auth = { kind: 'app', appId: '9', privateKey: KEY, webhookSecret: 'a long secret' } as const;
    for (const host of ['github.com', 'ghe.acme.dev']) {
      const file = await writeGithubFile(dataFolder, { host, apiUrl: undefined, webUrl: undefined, auth });
      assert.equal((await stat(file)).mode & 0o777, 0o600);
    }
    const { connections, warnings } = await loadGithub({ dataFolder, github: undefined });
    assert.deepEqual(warnings, []);
    assert.deepEqual(pluck(connections, 'host'), ['ghe.acme.dev', 'github.com']);
    assert.deepEqual(connections[0]?.auth, { ...auth, privateKey: parsePrivateKey(KEY) });
    const own = parse({ SLUICE_GITHUB_TOKEN: 'ghp_0123456789' }).config.github;
    const both = await loadGithub({ dataFolder, github: own });
    assert.deepEqual(
      both.connections.map(({ host, auth: { kind } }) => [host, kind]),
      [
        ['github.com', 'token'],
        ['ghe.acme.dev', 'app'],
      ],
    );
  });

  it('are read again after the key was rotated, as a key file is [G91]', async (context) => {
    const dataFolder = await aFolder(context);
    const settings = { host: 'github.com', apiUrl: undefined, webUrl: undefined };
    await writeGithubFile(dataFolder, { ...settings, auth: { kind: 'app', appId: '9', privateKey: KEY } });
    const file = path.join(dataFolder, 'key.pem');
    await writeFile(file, KEY);
    const { github } = parse({
      SLUICE_GITHUB_APP_ID: '7',
      SLUICE_GITHUB_PRIVATE_KEY_FILE: file,
      SLUICE_GITHUB_HOST: 'ghe',
    }).config;
    const { connections } = await loadGithub({ dataFolder, github });
    const next = newKey();
    await writeFile(file, next);
    await writeGithubFile(dataFolder, { ...settings, auth: { kind: 'app', appId: '9', privateKey: next } });
    for (const { reload } of connections) {
      const auth = await reload?.();
      assert.equal(auth?.kind === 'app' && auth.privateKey, parsePrivateKey(next));
    }
  });

  it('may have the id of the App as a number [G67]', async (context) => {
    const dataFolder = await aFolder(context);
    await mkdir(path.join(dataFolder, 'github'));
    const text = JSON.stringify({ appId: 7, privateKey: KEY });
    await writeFile(githubFileOf(dataFolder, 'github.com'), text, { mode: 0o600 });
    const { connections } = await loadGithub({ dataFolder, github: undefined });
    assert.equal(connections[0]?.auth.kind === 'app' && connections[0].auth.appId, '7');
  });

  it('are files, and nothing that would be waited for [G89]', async (context) => {
    const dataFolder = await aFolder(context);
    await mkdir(githubFileOf(dataFolder, 'folder.test'), { recursive: true });
    await promisify(execFile)('mkfifo', [githubFileOf(dataFolder, 'pipe.test')]);
    await assert.rejects(
      loadGithub({ dataFolder, github: undefined }),
      /folder\.test\.json is no file\.\n.*pipe\.test\.json is no file\./,
    );
  });

  it('are refused in words where they cannot be used [G89]', async (context) => {
    const dataFolder = await aFolder(context);
    await mkdir(path.join(dataFolder, 'github'));
    const file = githubFileOf(dataFolder, 'github.com');
    for (const [text, sentence] of [
      ['{', /no JSON object/],
      ['{"appId":"7","privateKey":"x"}', /no usable privateKey/],
      ['{"appId":"7","token":"ghp_0123456789"}', /both/],
      ['{"token":"ghp_0123456789","webhookSecret":1}', /webhookSecret/],
      ['{"token":"ghp_0123456789","apiUrl":"ftp://x"}', /apiUrl/],
      ['{}', /neither/],
      ['{"appId":{"toString":1}}', /appId that is no number or client id/],
      ['{"appId":["7"]}', /appId that is no number or client id/],
      ['{"appId":null}', /appId that is no number or client id/],
      [`{"token":"ghp_0123456789"}${' '.repeat(65_536)}`, /larger than 64 KiB/],
    ] as const) {
      await writeFile(file, text);
      await assert.rejects(loadGithub({ dataFolder, github: undefined }), (error: Error) => {
        assert.match(error.message, sentence);
        return !error.message.includes('ghp_');
      });
    }
    const own = parse({ SLUICE_GITHUB_TOKEN: 'ghp_0123456789' }).config.github;
    assert.equal((await loadGithub({ dataFolder, github: own })).connections.length, 1, 'nobody reads the file');
    await writeFile(file, '{"token":"ghp_0123456789"}');
    await chmod(file, 0o644);
    const { warnings } = await loadGithub({ dataFolder, github: undefined });
    assert.match(warnings.join('\n'), /chmod 600 it\.\n.*webhookSecret/);
  });
});
