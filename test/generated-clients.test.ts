// Clients that generators make from /openapi.json are compiled, and ask a server for a queue.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { TOKEN } from './worlds/server/in-process.ts';
import { createQueueInProcess, type QueueInProcess } from './worlds/server/queue-in-process.ts';

const run = promisify(execFile);
const packages = fileURLToPath(new URL('../node_modules', import.meta.url));

const TYPESCRIPT = `
import type { components, operations } from './sluice.js';

type Body = operations['getQueue']['requestBody']['content']['application/json'];
type Reply = operations['getQueue']['responses'][200]['content']['application/json'];

async function getQueue(address: string, token: string, body: Body): Promise<Reply> {
  const headers = { 'x-api-token': token, 'content-type': 'application/json' };
  const response = await fetch(address + '/getQueue', { method: 'POST', headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(((await response.json()) as components['schemas']['Problem']).detail);
  return (await response.json()) as Reply;
}

const mode: components['schemas']['QueueMode'] = 'SINGLE';
// @ts-expect-error: the document has each value in one spelling.
const lower: components['schemas']['QueueMode'] = 'single';
const [address = '', token = ''] = process.argv.slice(2);
const repo = { host: 'local', owner: 'acme', name: 'app' };
const queue = await getQueue(address, token, { repo, targetBranch: 'main' });
const numbers: number[] = queue.enqueuedPullRequests.map((entry) => entry.prNumber);
console.log(JSON.stringify({ branch: queue.branch, isSingle: queue.mode === mode, numbers }), lower.length);
`;

const PYTHON = `
import json, sys
sys.path.insert(0, sys.argv[3])
from sluice_client import AuthenticatedClient
from sluice_client.api.queues import get_queue
from sluice_client.models import GetQueueRequest, Queue, QueueMode, Repo

client = AuthenticatedClient(base_url=sys.argv[1], token=sys.argv[2], prefix="", auth_header_name="x-api-token")
body = GetQueueRequest(repo=Repo(host="local", owner="acme", name="app"), target_branch="main")
queue = get_queue.sync(client=client, body=body)
assert isinstance(queue, Queue), queue
numbers = [entry.pr_number for entry in queue.enqueued_pull_requests]
print(json.dumps({"branch": queue.branch, "isSingle": queue.mode == QueueMode.SINGLE, "numbers": numbers}))
`;

describe('a generated client', () => {
  let world: QueueInProcess;
  let folder: string;
  let address: string;
  let document: string;
  before(async () => {
    world = await createQueueInProcess({ publicUrl: undefined });
    const [number] = world.open(1);
    await world.ok('/v1/submitPullRequest', { ...world.ref, pr: { number } });
    folder = await mkdtemp(join(tmpdir(), 'sluice-clients-'));
    const origin = await world.server.listen({ host: '127.0.0.1', port: 0 });
    document = join(folder, 'openapi.json');
    const openApi = (await (await fetch(`${origin}/openapi.json`)).json()) as { servers: [{ url: string }] };
    address = openApi.servers[0].url;
    await writeFile(document, JSON.stringify(openApi));
  });
  after(async () => {
    await world.close();
    await rm(folder, { recursive: true, force: true });
  });

  const expected = { branch: 'main', isSingle: true, numbers: [1] };

  test('in TypeScript compiles and reads a queue [H35]', async () => {
    const types = join(folder, 'sluice.d.ts');
    const generator = fileURLToPath(import.meta.resolve('openapi-typescript/bin/cli.js'));
    await run(process.execPath, [generator, document, '--output', types]);
    const program = join(folder, 'client.ts');
    await writeFile(program, TYPESCRIPT);
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    const flags = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2024', '--skipLibCheck', 'false'];
    const roots = ['--typeRoots', join(packages, '@types'), '--types', 'node'];
    await compile(folder, [...flags, ...roots, program]);
    const { stdout } = await run(process.execPath, [program, address, TOKEN]);
    assert.deepEqual(JSON.parse(stdout.replace(/ 6\n$/, '')), expected);
  });

  test('in Python imports and reads a queue [H35]', async (t) => {
    const python = await findGenerator();
    if (python === undefined) return t.skip('no python3 here has openapi-python-client (pip install it to run this)');
    const made = join(folder, 'python');
    const generate = ['-m', 'openapi_python_client', 'generate', '--meta', 'none', '--path', document];
    const { stderr, stdout: said } = await run(python, [...generate, '--output-path', join(made, 'sluice_client')]);
    assert.doesNotMatch(stderr + said, /WARNING|ERROR/);
    const program = join(folder, 'client.py');
    await writeFile(program, PYTHON);
    const { stdout } = await run(python, [program, address, TOKEN, made]);
    assert.deepEqual(JSON.parse(stdout), expected);
  });
});

async function compile(cwd: string, args: readonly string[]): Promise<void> {
  const compiler = join(packages, 'typescript/bin/tsc');
  await run(process.execPath, [compiler, ...args], { cwd }).catch((error: { stdout?: string }) =>
    assert.fail(error.stdout),
  );
}

/** `SLUICE_TEST_PYTHON` names another Python, such as that of a virtual environment. */
async function findGenerator(): Promise<string | undefined> {
  const python = process.env['SLUICE_TEST_PYTHON'] ?? 'python3';
  const found = run(python, ['-c', 'import openapi_python_client']);
  return found.then(
    () => python,
    () => undefined,
  );
}
