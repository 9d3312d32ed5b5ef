// A queue on a Gitea from the first comment to the landed commit. `npm run test:gitea` tells the same to a real one.

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { until } from '../e2e/harness.ts';
import {
  assertLanded,
  closePlace,
  type GiteaPlace,
  type GiteaPull,
  GiteaQueue,
  SECRET,
  startPlace,
  TOLD_MS,
} from './gitea-queue.ts';

let place: GiteaPlace;

before(async () => {
  place = await startPlace();
});

after(() => closePlace(place));

async function openAll(queue: GiteaQueue, count: number): Promise<readonly GiteaPull[]> {
  const prs: GiteaPull[] = [];
  for (let index = 0; index < count; index += 1) prs.push(await queue.open());
  return prs;
}

/** The tests wait more than they compute. */
describe('a queue on Gitea', { concurrency: 3 }, () => {
  test('a comment submits, CI passes, exactly that commit lands, and the pull request says so [G167]', async () => {
    const queue = await GiteaQueue.create(place);
    const pr = await queue.open();
    await queue.say(pr, 'Looks good.\n\n/sluice merge');
    const { sha } = await queue.untilTestBranch(pr);
    await queue.untilTold(pr, /Being tested/);
    await queue.report(sha, 'success');
    const { landed } = await queue.untilState(pr, 'MERGED');
    assert.equal(landed?.testedSha, sha);
    assert.equal(await queue.headOf('main'), landed?.sha);
    await queue.untilMerged(pr, landed?.sha);
    await queue.untilTold(pr, /Landed/);
    assert.equal((await queue.told(pr)).length, 1, 'one comment is kept current');
    const own = async () => {
      const statuses = await queue.administer('GET', `/commits/${pr.headSha}/statuses`);
      return statuses.find(({ context }: { context: string }) => context === 'Sluice (main)')?.status;
    };
    await until('the status says so', TOLD_MS, async () => ((await own()) === 'success' ? true : undefined));
    await until('the refs of candidates are gone', TOLD_MS, async () =>
      (await queue.testBranches()).length === 0 ? true : undefined,
    );
  });

  test('a failed pull request is removed, says why, and stays open', async () => {
    const queue = await GiteaQueue.create(place);
    const pr = await queue.open();
    await queue.say(pr, '/sluice merge');
    await queue.report((await queue.untilTestBranch(pr)).sha, 'failure');
    await queue.untilState(pr, 'FAILED');
    await queue.untilTold(pr, /Failed and removed[\s\S]*`ci`\S* failed/);
    assert.equal((await queue.pull(pr)).state, 'open');
  });

  test('four pull requests land by one push, and each shows as merged with its own commit [G167]', async (t) => {
    const settings = { batch: true, batchingMinSize: 4, batchingMaxWaitTimeMinutes: 10, mergeMethod: 'MERGE_COMMIT' };
    const queue = await GiteaQueue.create(place, { settings });
    const prs = await openAll(queue, 4);
    for (const pr of prs) await queue.submit(pr);
    queue.runCi(t);
    await assertLanded(queue, prs);
    assert.equal(new Set(await queue.line()).size, 4);
  });

  test('a label submits, and its removal cancels [G164]', async () => {
    const queue = await GiteaQueue.create(place);
    const pr = await queue.open();
    const label = await queue.administer('POST', '/labels', { name: 'trunk-merge-queue-submit', color: '#00aabb' });
    const labels = `/repos/${queue.fullName}/issues/${pr.number}/labels`;
    await place.people.get('grace', 'POST', labels, { labels: [label.id] });
    await queue.untilTestBranch(pr);
    await place.people.get('grace', 'DELETE', `${labels}/${label.id}`);
    await queue.untilState(pr, 'CANCELLED');
  });

  test('a reader cannot command, and a status that another account sets lands nothing [G161]', async () => {
    const queue = await GiteaQueue.create(place);
    const pr = await queue.open();
    await queue.say(pr, '/sluice merge', 'eve');
    await queue.untilTold(pr, /write access|may not|permission/i);
    await queue.say(pr, '/sluice merge');
    const { sha } = await queue.untilTestBranch(pr);
    await queue.report(sha, 'success', 'grace');
    await queue.report(sha, 'success', 'ci', 'another');
    await queue.report(sha, 'failure');
    const entry = await queue.untilState(pr, 'FAILED');
    assert.equal(entry.landed, undefined);
  });

  test('a pull request waits for the rules of its branch, and then lands on the protected branch [G162]', async (t) => {
    const protection = {
      rule_name: 'main',
      ...{ enable_push: true, enable_push_whitelist: true, push_whitelist_usernames: ['sluice'] },
      ...{ enable_status_check: true, status_check_contexts: ['review/*'], required_approvals: 1 },
      ...{ block_on_rejected_reviews: true, block_admin_merge_override: true },
    };
    const queue = await GiteaQueue.create(place, { protection });
    const pr = await queue.open();
    await queue.submit(pr);
    const entry = await queue.untilState(pr, 'NOT_READY');
    assert.match(JSON.stringify(entry.explanation), /review/i);
    await queue.report(pr.headSha, 'success', 'ci', 'review/linux');
    const path = `/repos/${queue.fullName}/pulls/${pr.number}/reviews`;
    await place.people.get('ci', 'POST', path, { event: 'APPROVED', body: 'fine', commit_id: pr.headSha });
    queue.runCi(t);
    await assertLanded(queue, [pr]);
  });

  test('a pull request of a fork lands when somebody with write access says so', async (t) => {
    const queue = await GiteaQueue.create(place);
    const pr = await queue.open({ fork: 'eve' });
    // Instants have whole seconds, and the command counts for a head that came before it.
    const openedAt = Date.now();
    await until('a person has seen it', TOLD_MS, async () => (Date.now() > openedAt + 2_000 ? true : undefined));
    await queue.say(pr, '/sluice merge');
    queue.runCi(t);
    await queue.untilTold(pr, /Landed/);
    await assertLanded(queue, [pr]);
  });

  test('pull requests land through the merge API too, one after the other [G166]', async (t) => {
    const queue = await GiteaQueue.create(place, { settings: { landingMode: 'API', mergeMethod: 'SQUASH' } });
    const prs = await openAll(queue, 2);
    for (const pr of prs) await queue.submit(pr);
    queue.runCi(t);
    await assertLanded(queue, prs);
  });

  test('deliveries that are forged, or copies of GitHub’s, are refused [G159] [G168]', async () => {
    const queue = await GiteaQueue.create(place, { hasHook: false });
    const { host } = new URL(place.proxy.url);
    const body = JSON.stringify({ ref: 'refs/heads/main', repository: { name: 'app', owner: { login: queue.owner } } });
    const signature = createHmac('sha256', SECRET).update(body).digest('hex');
    const send = (path: string, headers: Record<string, string>) =>
      fetch(`${place.server.url}${path}`, { method: 'POST', headers, body }).then(({ status }) => status);
    const json = { 'content-type': 'application/json' };
    const gitea = { ...json, 'x-gitea-event': 'push', 'x-gitea-signature': signature };
    const github = { ...json, 'x-github-event': 'push', 'x-hub-signature-256': `sha256=${signature}` };
    assert.equal(await send(`/webhooks/gitea/${host}`, gitea), 202);
    assert.equal(await send(`/webhooks/gitea/${host}`, github), 401);
    assert.equal(await send('/webhooks/github', { ...github, ...gitea }), 401);
    assert.equal(await send(`/webhooks/gitea/${host}`, { ...gitea, 'x-gitea-signature': 'a'.repeat(64) }), 401);
    assert.equal(await send(`/webhooks/gitea/${host}`, { ...gitea, 'x-gitea-signature': '' }), 401);
  });

  test('a merge by an administrator past the queue is noticed, and the rest is tested again on it', async (t) => {
    const queue = await GiteaQueue.create(place);
    const [first, second] = await openAll(queue, 2);
    assert.ok(first !== undefined && second !== undefined);
    await queue.submit(first);
    await queue.untilTestBranch(first);
    await until('it is merged by hand', TOLD_MS, async () => {
      const path = `/repos/${queue.fullName}/pulls/${second.number}/merge`;
      const { status } = await place.people.ask('root', 'POST', path, { Do: 'merge', force_merge: true });
      return status === 200 ? true : undefined;
    });
    queue.runCi(t);
    await assertLanded(queue, [first]);
    assert.ok((await queue.line()).length >= 2);
  });

  test('a repository that is renamed goes on under its new name', async (t) => {
    const queue = await GiteaQueue.create(place);
    const pr = await queue.open();
    await queue.administer('PATCH', '', { name: 'renamed' });
    const renamed = Object.assign(Object.create(Object.getPrototypeOf(queue)), queue, {
      name: 'renamed',
    }) as GiteaQueue;
    await until('the new name is known', TOLD_MS, async () => {
      const answer = await place.server.api.post('submitPullRequest', { ...queue.ref, pr: { number: pr.number } });
      return answer.status === 200 ? true : undefined;
    });
    renamed.runCi(t);
    const { landed } = await until('it landed', 90_000, async () => {
      for (const each of [renamed, queue]) {
        const answer = await place.server.api.post('getSubmittedPullRequest', {
          ...each.ref,
          pr: { number: pr.number },
        });
        const entry = answer.status === 200 ? JSON.parse(answer.text) : undefined;
        if (entry?.state === 'MERGED') return entry;
      }
      return undefined;
    });
    await renamed.untilMerged(pr, landed.sha);
  });
});
