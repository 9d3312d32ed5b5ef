import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { App } from 'octokit';
import { pluck } from '../../helpers/pluck.ts';
import { createFakeGithub, type FakeGithub } from './fake-github.ts';
import type { Installation, PullRequest, Repository } from './model.ts';
import { findPayloadViolation } from './validate.ts';
import type { DeliveryRecord } from './webhooks.ts';
import { cancelRun } from './workflow-runs.ts';

const SECRET = 'between us';

interface Heard {
  readonly id: string;
  readonly event: string;
  readonly action: string | undefined;
  readonly isSigned: boolean;
  readonly headers: NodeJS.Dict<string | string[]>;
}

let github: FakeGithub;
let receiver: Server;
let heard: Heard[];
let repository: Repository;
let installation: Installation;
let pr: PullRequest;

/** The listener verifies signatures with octokit. */
function listen(): Promise<Server> {
  const { webhooks } = new App({ appId: 1, privateKey: 'none', webhooks: { secret: SECRET } });
  const server = createServer(async (request, response) => {
    const body = (await buffer(request)).toString();
    const header = (name: string) => String(request.headers[name]);
    heard.push({
      id: header('x-github-delivery'),
      event: header('x-github-event'),
      action: JSON.parse(body).action,
      isSigned: await webhooks.verify(body, header('x-hub-signature-256')),
      headers: request.headers,
    });
    response.writeHead(202).end();
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(server));
  });
}

const urlOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks/github`;

before(async () => {
  receiver = await listen();
});

after(() => {
  receiver.closeAllConnections();
  receiver.close();
});

beforeEach(async () => {
  heard = [];
  github = await createFakeGithub();
  repository = await github.createRepository('acme/app', { roles: { ada: 'write' } });
  github.app.hook = { url: urlOf(receiver), secret: SECRET, isActive: true };
  installation = github.install(github.app, 'acme');
  // Webhooks about installations and repositories are sent in parallel.
  await settle();
  pr = await github.openPullRequest(repository, { author: 'ada' });
  await settle();
});

afterEach(() => github.close());

async function settle(): Promise<void> {
  await github.webhooks.settle();
  await github.settle();
}

describe('webhook deliveries', () => {
  it('deliveries are signed, with GitHub’s headers, in order', async () => {
    assert.deepEqual(pluck(heard, 'event', 'action'), [
      ['installation', 'created'],
      ['push', undefined],
      ['pull_request', 'opened'],
    ]);
    assert.ok(heard.every(({ isSigned }) => isSigned));
    const { headers } = heard[2] as Heard;
    assert.match(String(headers['user-agent']), /^GitHub-Hookshot\//);
    assert.equal(headers['x-github-hook-installation-target-type'], 'integration');
    assert.equal(headers['x-github-hook-installation-target-id'], String(github.app.id));
    assert.ok(github.webhooks.deliveries.every(({ status }) => status === 202));
  });

  it('every delivery has the shape of the official description', async () => {
    await everythingHappens();
    await settle();
    const kinds = new Set<string>();
    for (const delivery of github.webhooks.deliveries) {
      kinds.add(nameOf(delivery));
      assert.equal(violationOf(delivery), undefined);
    }
    assert.deepEqual([...kinds].sort(), EVERYTHING);
    assert.equal(heard.length, github.webhooks.deliveries.length);
  });

  it('an app that is not installed there, or suspended, gets no delivery', async () => {
    const other = await github.createRepository('elsewhere/app');
    await github.openPullRequest(other);
    github.suspend(installation);
    github.comment(pr, 'ada', 'not heard');
    github.unsuspend(installation);
    await settle();
    github.comment(pr, 'ada', 'heard');
    await settle();
    assert.deepEqual(pluck(heard.slice(3), 'event', 'action'), [
      ['installation', 'suspend'],
      ['installation', 'unsuspend'],
      ['issue_comment', 'created'],
    ]);
  });
});

function nameOf({ event, action }: DeliveryRecord): string {
  return `${event}${action === undefined ? '' : `-${action}`}`.replaceAll('_', '-');
}

function violationOf(delivery: DeliveryRecord): string | undefined {
  return findPayloadViolation(nameOf(delivery), JSON.parse(delivery.body.toString()));
}

async function everythingHappens(): Promise<void> {
  await github.push(pr, { 'more.txt': 'more\n' });
  github.edit(pr, { title: 'Better', body: 'Words' });
  github.convertToDraft(pr);
  github.markReady(pr);
  github.label(pr, 'ada', 'ready');
  github.unlabel(pr, 'ada', 'ready');
  github.closePullRequest(pr);
  await github.reopen(pr);
  github.review(pr, 'ada');
  const comment = github.comment(pr, 'ada', 'first');
  github.editComment(pr, comment, 'second');
  github.deleteComment(pr, comment);
  github.reportCheck(repository, { sha: pr.headSha, name: 'build', status: 'in_progress' });
  github.reportCheck(repository, { sha: pr.headSha, name: 'build', conclusion: 'success' });
  github.setStatus(repository, { sha: pr.headSha, context: 'legacy', state: 'failure' });
  const run = github.startRun(repository, { sha: pr.headSha, branch: pr.headRef, event: 'pull_request' });
  cancelRun(github.world, repository, run, github.user('ada'));
  github.protect(repository, 'main', { checks: [{ context: 'build', appId: undefined }], pushers: ['ada'] });
  github.protect(repository, 'main', { isStrict: true, checks: [] });
  github.unprotect(repository, 'main');
  const ruleset = github.addRuleset(repository, {
    rules: [{ type: 'deletion' }, { type: 'pull_request', approvals: 1 }],
  });
  github.removeRuleset(repository, ruleset);
  github.setPermission(repository, 'eve', 'write');
  await github.mergeByHand(pr, 'acme', 'squash');
  await github.moveBranch(repository, pr.headRef, undefined);
  github.rename(repository, 'renamed');
  github.suspend(installation);
  github.unsuspend(installation);
  const { sender, repositories } = { sender: github.user('ada'), repositories: [repository] };
  for (const action of ['added', 'removed'] as const) {
    github.world.announce({ event: 'installation_repositories', action, installation, repositories, sender });
  }
  github.deleteRepository(repository);
  await settle();
  github.uninstall(installation);
}

/** The actions of each event that the fake tells. */
const ACTIONS = {
  'branch-protection-rule': 'created deleted edited',
  'check-run': 'completed created',
  'check-suite': 'completed',
  installation: 'created deleted suspend unsuspend',
  'installation-repositories': 'added removed',
  'issue-comment': 'created deleted edited',
  member: 'added',
  'pull-request': 'closed converted-to-draft edited labeled opened ready-for-review reopened synchronize unlabeled',
  'pull-request-review': 'submitted',
  push: '',
  repository: 'deleted renamed',
  'repository-ruleset': 'created deleted',
  status: '',
  'workflow-run': 'completed requested',
};
const EVERYTHING = Object.entries(ACTIONS)
  .flatMap(([event, actions]) => actions.split(' ').map((action) => (action === '' ? event : `${event}-${action}`)))
  .sort();
