import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { refusal, useGithub } from './use-github.ts';

const here = useGithub();

describe('merging', () => {
  it('a merge that cannot or may not be is refused with a reason', async () => {
    const octokit = here.as('ada');
    const merge = (pull_number: number, more = {}) => octokit.rest.pulls.merge({ ...here.ref, pull_number, ...more });
    const pr = await here.github.openPullRequest(here.repository, { author: 'ada', files: { 'a.txt': 'mine\n' } });
    await assert.rejects(merge(pr.number, { sha: '1'.repeat(40) }), refusal(409, /Head branch was modified/));
    here.github.convertToDraft(pr);
    await assert.rejects(merge(pr.number), refusal(405, /still a draft/));
    here.github.markReady(pr);
    here.repository.settings.allowSquash = false;
    await assert.rejects(merge(pr.number, { merge_method: 'squash' }), refusal(405, /Squash merges are not allowed/));
    here.github.protect(here.repository, 'main', { checks: [{ context: 'ci', appId: undefined }] });
    await assert.rejects(merge(pr.number), refusal(405, /Required status check "ci" is expected/));
    here.github.reportCheck(here.repository, { sha: pr.headSha, name: 'ci', conclusion: 'success' });
    await here.github.commit(here.repository, { branch: 'main', files: { 'a.txt': 'theirs\n' } });
    await assert.rejects(merge(pr.number), refusal(405, /not mergeable/));
    const good = await here.github.openPullRequest(here.repository, { author: 'ada' });
    here.github.reportCheck(here.repository, { sha: good.headSha, name: 'ci', conclusion: 'success' });
    await merge(good.number);
    await assert.rejects(merge(good.number), refusal(405, /not mergeable/));
  });

  it('a ruleset binds all but those who may bypass it', async () => {
    const mine = { actorId: here.github.app.id, type: 'Integration', mode: 'always' } as const;
    here.github.addRuleset(here.repository, { rules: [{ type: 'update' }], bypass: [mine] });
    const pr = await here.github.openPullRequest(here.repository, { author: 'ada' });
    const pull = { ...here.ref, pull_number: pr.number };
    assert.equal((await here.as('ada').rest.pulls.get(pull)).data.mergeable_state, 'blocked');
    await assert.rejects(here.as('ada').rest.pulls.merge(pull), refusal(405, /Cannot update this protected ref/));
    const checkout = await here.clone('ada');
    await here.commitFile(checkout, 'x.txt', 'x\n');
    await assert.rejects(here.git(['push', '--quiet', 'origin', 'HEAD:main'], checkout), /GH013/);
    await (await here.asApp()).rest.pulls.merge(pull);
    assert.equal(pr.merged?.by.login, 'sluice[bot]');
  });

  it('a required check counts only from the named app', async () => {
    const rule = { type: 'required_status_checks', isStrict: false } as const;
    here.github.addRuleset(here.repository, {
      rules: [{ ...rule, checks: [{ context: 'ci', appId: here.github.ci.id }] }],
    });
    const pr = await here.github.openPullRequest(here.repository, { author: 'ada' });
    const pull = { ...here.ref, pull_number: pr.number };
    here.github.reportCheck(here.repository, {
      sha: pr.headSha,
      name: 'ci',
      conclusion: 'success',
      app: here.github.app,
    });
    here.github.setStatus(here.repository, { sha: pr.headSha, context: 'ci', state: 'success' });
    await assert.rejects(here.as('ada').rest.pulls.merge(pull), refusal(405, /"ci" is expected/));
    here.github.reportCheck(here.repository, { sha: pr.headSha, name: 'ci', conclusion: 'failure' });
    await assert.rejects(here.as('ada').rest.pulls.merge(pull), refusal(405, /"ci" is failing/));
    here.github.reportCheck(here.repository, { sha: pr.headSha, name: 'ci', conclusion: 'success', attempt: 2 });
    await here.as('ada').rest.pulls.merge(pull);
  });
});
