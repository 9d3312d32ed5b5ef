import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { createFakeGithub, type FakeGithub } from '../../../test/fake/github/fake-github.ts';
import type { Repository } from '../../../test/fake/github/model.ts';
import { systemClock } from '../../lib/clock.ts';
import type { InspectedQueue } from '../hosting.ts';
import { GithubClient } from './api/client.ts';
import { type GithubAuth, githubConnection } from './api/connection.ts';
import { inspect } from './inspect.ts';
import { findWorkflowRun } from './workflow-run.ts';

const ignore = () => undefined;
const log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
const WORKFLOW = 'on: push\njobs: {unit: {}}\n';
const OURS = { id: 'r', host: 'github.test', owner: 'acme', name: 'app', git: undefined, checks: [] };

let github: FakeGithub;
let repository: Repository;
let clients: GithubClient[];

beforeEach(async () => {
  github = await createFakeGithub();
  repository = await github.createRepository('acme/app', { files: { '.github/workflows/ci.yml': WORKFLOW } });
  clients = [];
});

afterEach(async () => {
  for (const client of clients) client.close();
  await github.close();
});

function connect(auth?: GithubAuth, reload?: () => Promise<GithubAuth>): GithubClient {
  const app = { kind: 'app', appId: String(github.app.id), privateKey: github.privateKey } as const;
  const parts = { host: 'github.test', apiUrl: github.url, webUrl: github.url, auth: auth ?? app };
  const connection = githubConnection(reload === undefined ? parts : { ...parts, reload });
  const client = new GithubClient({ connection, clock: systemClock, log, paceMs: 0 });
  clients.push(client);
  return client;
}

async function codes(client: GithubClient, branch = 'main', queue?: InspectedQueue): Promise<string[]> {
  const findings = await inspect({ client, testBranchPrefix: 'sluice' }, OURS, branch, queue);
  return findings.filter(({ level }) => level !== 'ok').map(({ code }) => code);
}

describe('an inspection of a repository', () => {
  it('an inspection ends with the sentence where Sluice cannot get in [G69]', async () => {
    assert.deepEqual(await codes(connect()), ['NOT_REACHABLE']);
    const installation = github.install(github.app, 'acme');
    const client = connect();
    assert.deepEqual(await codes(client, 'gone'), ['BRANCH_NOT_FOUND']);
    github.suspend(installation);
    assert.deepEqual(await codes(client), ['NOT_REACHABLE']);
  });

  it('an inspection names permissions that are missing [G69]', async () => {
    const installation = github.install(github.app, 'acme');
    github.grant(installation, { metadata: 'read', contents: 'read', administration: 'read' });
    const found = await codes(connect());
    assert.equal(found.filter((code) => code === 'PERMISSION_MISSING').length, 7);
  });

  it('an inspection works for a personal access token, and names it [G69]', async () => {
    const client = connect({ kind: 'token', token: github.createToken('acme') });
    const found = await codes(client);
    assert.deepEqual(found, ['PERSONAL_TOKEN', 'TARGET_OPEN', 'NO_REQUIRED_CHECKS', 'WEBHOOK_OFF']);
  });

  it('an inspection reads the key again when it was rotated [G91]', async () => {
    github.install(github.app, 'acme');
    const appId = String(github.app.id);
    let privateKey = github.privateKey;
    const client = connect(undefined, async () => ({ kind: 'app', appId, privateKey }));
    assert.ok(!(await codes(client)).includes('NOT_REACHABLE'));
    const next = github.rotateKey(github.app);
    assert.deepEqual(await codes(client), ['NOT_REACHABLE']);
    privateKey = next;
    assert.ok(!(await codes(client)).includes('NOT_REACHABLE'));
  });
});

describe('a workflow run', () => {
  it('a workflow run is for the pull requests of exactly its head, also of forks [G66]', async () => {
    const client = connect({ kind: 'token', token: github.createToken('acme') });
    const fork = await github.fork(repository, 'mallory');
    const pr = await github.openPullRequest(repository, { from: fork, branch: 'patch' });
    await github.openPullRequest(repository, { branch: 'patch' });
    const draft = { branch: 'patch', headRepository: fork, event: 'pull_request' };
    const run = github.startRun(repository, { ...draft, sha: pr.headSha });
    const facts = await findWorkflowRun(client, OURS, String(run.id));
    assert.deepEqual(facts, { event: 'pull_request', isLive: true, headSha: pr.headSha, prNumbers: [pr.number] });
    const before = pr.headSha;
    await github.push(pr, { more: 'x' });
    assert.deepEqual((await findWorkflowRun(client, OURS, String(run.id)))?.prNumbers, [], `not at ${before} any more`);
    assert.equal(await findWorkflowRun(client, OURS, '1'), undefined);
  });
});
