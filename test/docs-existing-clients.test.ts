// docs/existing-clients.md as it is written: addresses, scopes, commands, and the Terraform provider where it is there.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { madeOnce } from './helpers/made.ts';
import { TOKEN } from './worlds/server/in-process.ts';
import { createQueueInProcess, type QueueInProcess } from './worlds/server/queue-in-process.ts';

const run = promisify(execFile);
const PAGE = await readFile(new URL('../docs/existing-clients.md', import.meta.url), 'utf8');
const EXAMPLE = 'https://sluice.acme.dev';
const blocks = (language: string) =>
  [...PAGE.matchAll(/^```(\w+)\n(.*?)^```$/gms)].flatMap(([, of, text = '']) => (of === language ? [text] : []));

/** The scopes of the table that begins the page, by client. */
const ROWS = new Map(
  [...PAGE.matchAll(/^\| (.+?) \| `(?:\w+=)?(\S+)` \| (.+) \|$/gm)].map(
    ([, client = '', address = '', scopes = '']) => [
      client,
      { address, scopes: [...scopes.matchAll(/`(\w+)`/g)].map(([, scope = '']) => scope) },
    ],
  ),
);

describe('docs/existing-clients.md', () => {
  const world = madeOnce(() => createQueueInProcess({ publicUrl: undefined }));
  let origin: string;
  before(async () => {
    world.open(1);
    origin = await world.server.listen({ host: '127.0.0.1', port: 0 });
  });

  const tokenFor = async (scopes: readonly string[]) =>
    (await world.ok<{ token: string }>('/v1/createApiToken', { name: 'a client', scopes })).token;
  const send = async (url: string, token: string, body: unknown) => {
    const headers = { 'x-api-token': token, 'content-type': 'application/json' };
    const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) };
    return (await fetch(url.replace(EXAMPLE, origin), init)).status;
  };

  const UPLOAD = { orgUrlSlug: 'acme', clientVersion: 'x', remoteUrls: [], externalId: null };
  const PR = { pr: { number: '1' } };
  /** A request of each client: what it appends to its address, its body, and the answer that it needs. */
  const REQUESTS: readonly (readonly [string, string, ((world: QueueInProcess) => object) | undefined])[] = [
    ['uploader of test results', '/v1/metrics/createBundleUpload', ({ ref: { repo } }) => ({ ...UPLOAD, repo })],
    ['Terraform provider', '/updateQueue', ({ ref }) => ({ ...ref, concurrency: 3 })],
    ['actions that upload impacted targets', '', ({ ref }) => ({ ...ref, ...PR, impactedTargets: 'ALL' })],
    ['dashboards, bots, scripts', '/getQueue', ({ ref }) => ref],
    ['dashboards, bots, scripts', '/submitPullRequest', ({ ref }) => ({ ...ref, ...PR })],
    ['MCP client', '', undefined],
    ['Prometheus', '', undefined],
  ];

  for (const [client, path, bodyOf] of REQUESTS) {
    test(`${client}: the address and the scopes are enough (${path})`, async () => {
      const row = ROWS.get(client);
      assert.ok(row !== undefined, [...ROWS.keys()].join());
      assert.equal(await send(`${row.address}${path}`, await tokenFor(row.scopes), bodyOf?.(world)), 200);
    });
  }

  test('the table has no other client', () => {
    assert.deepEqual(new Set(ROWS.keys()), new Set(REQUESTS.map(([client]) => client)));
  });

  for (const [index, block] of blocks('sh')
    .filter((text) => text.startsWith('curl'))
    .entries()) {
    test(`command ${index + 1} with curl works as written`, async (t) => {
      const command = block.replaceAll(EXAMPLE, origin).replace('curl -sS', 'curl -sSf');
      const env = { PATH: process.env['PATH'], SLUICE_TOKEN: TOKEN };
      const ran = await run('sh', ['-c', command], { env, maxBuffer: 1e7 }).catch((error: { code?: unknown }) => error);
      if ('code' in ran && ran.code === 127) return t.skip('curl is not installed');
      assert.ok('stdout' in ran && !('code' in ran), JSON.stringify(ran));
      assert.match(ran.stdout, /"openapi":"3\.1|^# HELP mq_|"prNumber":1/);
    });
  }

  test('dashboards of /trunk/v1 see nine families of metrics, and /v1 more', async () => {
    const headers = { 'x-api-token': TOKEN };
    const familiesOf = async (mount: string) => {
      const text = await (await fetch(`${origin}${mount}/getMergeQueueMetrics`, { headers })).text();
      return [...text.matchAll(/^# TYPE /gm)].length;
    };
    assert.equal(await familiesOf('/trunk/v1'), 9);
    assert.ok((await familiesOf('/v1')) > 9);
  });

  test('the Terraform provider applies the example, and has the faults that the page names', async (t) => {
    const provider = process.env['SLUICE_TEST_TERRAFORM_PROVIDER'];
    if (provider === undefined) return t.skip('SLUICE_TEST_TERRAFORM_PROVIDER names no folder with the provider');
    await world.ok('/v1/cancelPullRequest', { ...world.ref, pr: { number: 1 } });
    await world.ok('/v1/deleteQueue', world.ref);
    const folder = await mkdtemp(join(tmpdir(), 'sluice-terraform-'));
    t.after(() => rm(folder, { recursive: true }));
    const [example = ''] = blocks('hcl');
    const source = 'terraform {\n required_providers {\n  trunk = {\n   source = "trunk-io/trunk"\n  }\n }\n}\n';
    const write = (resource: string) =>
      writeFile(join(folder, 'main.tf'), source + resource.replace('"github.com"', '"local"'));
    const overrides = `provider_installation {\n dev_overrides {\n  "trunk-io/trunk" = "${provider}"\n }\n direct {}\n}\n`;
    await writeFile(join(folder, 'rc'), overrides);
    const env = {
      ...{ PATH: process.env['PATH'], HOME: folder, TF_CLI_CONFIG_FILE: join(folder, 'rc') },
      ...{ TRUNK_BASE_URL: `${origin}/trunk/v1`, TRUNK_API_KEY: TOKEN },
    };
    const terraform = (...args: string[]) =>
      run('terraform', [...args, '-no-color'], { cwd: folder, env }).then(
        ({ stdout }) => stdout,
        (error: { stderr: string }) => error.stderr.replaceAll(/[\s│╵╷]+/g, ' '),
      );
    await write(example);
    assert.match(await terraform('apply', '-auto-approve'), /1 added/);
    assert.match(await terraform('plan'), /No changes/);
    await write(example.replace(/ +required_statuses.*\n/, ''));
    assert.match(await terraform('plan'), /No changes/);
    await write(example.replace(/ +required_statuses.*\n/, '').replace('= 3', '= 4'));
    assert.match(await terraform('apply', '-auto-approve'), /inconsistent result after apply/);
    assert.match(await terraform('plan'), /No changes/);
    await write(example.replace('"squash"', '"SQUASH"'));
    assert.match(await terraform('plan'), /Invalid Attribute Value/);
    await write(example.replace(/ +required_statuses.*\n/, '').replace('= 3', '= 4'));
    assert.match(await terraform('destroy', '-auto-approve'), /1 destroyed/);
  });
});
