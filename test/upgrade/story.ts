// Data that every version makes before it is released, and the questions that later versions must answer the same.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Client, type TestServer, until } from '../e2e/harness.ts';
import { createQueue, type TestQueue } from '../e2e/test-queue.ts';
import { Uploader } from '../helpers/uploader.ts';

export const ADMIN_TOKEN = 'upgrade-admin-token-of-a-test';
export const REPO = { host: 'local', owner: 'acme', name: 'app-1' };
export const LANDED = 1;
export const FAILED = 2;
/** The queue is paused with it. */
export const WAITING = 3;

const ENTRIES = [LANDED, FAILED, WAITING];
const TESTS = { repo: REPO, org_url_slug: 'default' };
const REPORT = `<testsuite name="net">
<testcase name="adds" classname="net" file="net.test.ts" time="0.012"/>
<testcase name="retries" classname="net" file="net.test.ts" time="0.020"><failure message="503">stack</failure></testcase>
</testsuite>`;

/** One pull request lands, one fails, one waits; tests have results and a quarantine. The repository goes into `bundle`. */
export async function makeHistory(server: TestServer, bundle: string): Promise<void> {
  const { api } = server;
  const queue = await createQueue(api);
  await submit(queue, LANDED);
  await queue.ci.pass(LANDED);
  await queue.ci.untilState(LANDED, 'MERGED');
  await submit(queue, FAILED);
  await queue.ci.fail(FAILED);
  await queue.ci.untilState(FAILED, 'FAILED');
  await queue.update({ state: 'PAUSED' });
  await submit(queue, WAITING, { priority: 'high' });
  await api.ok('createApiToken', { name: 'ci', scopes: ['report', 'upload'] });
  await upload(server);
  await promisify(execFile)('git', ['-C', queue.git.path, 'bundle', 'create', '-q', bundle, '--all']);
  await queue.close();
}

async function submit(queue: TestQueue, prNumber: number, more: object = {}): Promise<void> {
  await queue.openPullRequest();
  await queue.submit(prNumber, more);
}

async function upload({ url, token, api }: TestServer): Promise<void> {
  const uploader = new Uploader({ base: url, token, org: 'default', repo: REPO });
  await uploader.run([{ path: 'junit/0', content: REPORT }]);
  const [test] = await until('the results are stored', 60_000, async () => {
    const { tests } = await listTests(api);
    return tests.length === 2 ? tests.filter(({ name }) => name === 'retries') : undefined;
  });
  const setting = { test_id: test?.id, setting: 'ALWAYS_QUARANTINE', reason: 'it annoys' };
  await api.ok('flaky-tests/set-quarantine', { ...TESTS, ...setting });
}

function listTests(api: Client) {
  const question = { ...TESTS, page_query: {} };
  return api.ok<{ tests: readonly { id: string; name: string }[] }>('flaky-tests/list-tests', question);
}

/** Facts that depend neither on the present time nor on the version that answers. Results of tests grow old. */
export async function readFacts(api: Client): Promise<unknown> {
  const ref = { repo: REPO, targetBranch: 'main' };
  const entries = ENTRIES.map((number) =>
    api.ok('getSubmittedPullRequest', { ...ref, pr: { number }, includeTimeline: true }),
  );
  const facts = {
    entries: await Promise.all(entries),
    queue: await api.ok('getQueue', ref),
    tokens: await api.ok('listApiTokens', {}),
    events: await api.ok('listEvents', { limit: 100 }),
  };
  return lasting(facts);
}

/** Digests of answers, times of use, and words, which later versions may choose better. */
const CHANGING = new Set(['version', 'lastUsedAt', 'forecast', 'updatedAt', 'text']);

export function lasting(facts: unknown): unknown {
  return JSON.parse(JSON.stringify(facts, (name, value) => (CHANGING.has(name) ? undefined : value)));
}
