import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { createGiteaForge } from '../../src/forge/gitea/create-gitea-forge.ts';
import type { WebhookHint } from '../../src/forge/hosting.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { pluck } from '../helpers/pluck.ts';
import { silentLog } from '../helpers/silent-log.ts';
import { SECRET } from './story.ts';

const FOLDER = new URL('../fixtures/gitea/deliveries/', import.meta.url);

interface Recorded {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The hints of each recorded delivery, by kind. */
const EXPECTED: Readonly<Record<string, readonly WebhookHint['kind'][]>> = {
  create: ['branch'],
  delete: ['branch'],
  'delete-2': ['branch'],
  push: ['branch'],
  status: [],
  'status-2': ['checks'],
  'pull-request-opened': ['pull_request'],
  'pull-request-edited': ['pull_request'],
  'pull-request-closed': ['pull_request'],
  'pull-request-reopened': ['pull_request'],
  'pull-request-sync-synchronized': ['pull_request'],
  'pull-request-review-approved-reviewed': ['pull_request'],
  'pull-request-review-rejected-reviewed': ['pull_request'],
  'pull-request-label-label-updated': ['label'],
  'pull-request-label-label-updated-2': ['label'],
  'pull-request-comment-created': ['comment'],
  'pull-request-comment-edited': [],
};

describe('deliveries that a real Gitea sent', () => {
  const hostingOf = (webhookSecret: string) =>
    createGiteaForge({
      connection: { host: 'git.test', url: 'http://git.test', token: 'a token of nobody', webhookSecret },
      clock: systemClock,
      log: silentLog,
      directory: 'unused',
    }).hosting;
  const read = async (name: string): Promise<Recorded> =>
    JSON.parse(await readFile(new URL(`${name}.json`, FOLDER), 'utf8')) as Recorded;

  test('each have an expectation in this file', async () => {
    const names = (await readdir(FOLDER)).map((file) => file.replace(/\.json$/, ''));
    assert.deepEqual(names.toSorted(), Object.keys(EXPECTED).toSorted());
  });

  for (const [name, kinds] of Object.entries(EXPECTED)) {
    test(`${name} is believed by its signature, and gives the hints for its event [G168]`, async () => {
      const { headers, body } = await read(name);
      const delivery = { headers, body: Buffer.from(body) };
      const answer = hostingOf(SECRET).readDelivery(delivery);
      assert.ok(answer.kind === 'hints', JSON.stringify(answer));
      assert.deepEqual(pluck(answer.hints, 'kind'), kinds);
      for (const hint of answer.hints) assert.deepEqual([hint.owner, hint.name], ['acme', 'app']);
      assert.equal(hostingOf('the secret of another').readDelivery(delivery).kind, 'unsigned');
      const forged = { headers, body: Buffer.from(body.replace('acme', 'evil')) };
      assert.equal(hostingOf(SECRET).readDelivery(forged).kind, 'unsigned');
    });
  }
});
