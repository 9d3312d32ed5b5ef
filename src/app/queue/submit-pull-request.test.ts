import assert from 'node:assert/strict';
import { it } from 'node:test';
import { HostedWorld } from '../../../test/worlds/shell/hosted-world.ts';
import type { PrNumber } from '../../engine/model/pull-request.ts';
import type { Caller } from '../core/caller.ts';
import { isRefusal } from '../core/refusal.ts';
import { submitPullRequest } from './submit-pull-request.ts';

it('a closed or draft pull request, or an unknown one, cannot be submitted [E18]', async () => {
  const hosted = await HostedWorld.create();
  const { app, world } = hosted;
  const { organizationId, host, owner, name } = await hosted.repository();
  const organization = await app.store.accounts.findOrganizationById(organizationId);
  assert.ok(organization);
  const scopes = new Set(['admin'] as const);
  const caller: Caller = { organization, tokenId: 'token', name: 'ada', scopes, repositoryIds: null };
  const submit = async (prNumber: PrNumber) => {
    const repo = { host, owner, name };
    const input = { repo, targetBranch: 'main', prNumber, priority: undefined, noBatch: undefined };
    const answer = await submitPullRequest(app, caller, input);
    return isRefusal(answer) ? answer.code : answer.state;
  };
  const { number } = world.repository.openPullRequest({ base: 'main', files: { a: 'a' } });
  world.repository.setDraft(number, true);
  assert.equal(await submit(number), 'PULL_REQUEST_NOT_ENQUEUEABLE');
  world.repository.setDraft(number, false);
  assert.notEqual(await submit(number), 'PULL_REQUEST_NOT_ENQUEUEABLE');
  const { number: closed } = world.repository.openPullRequest({ base: 'main', files: { b: 'b' } });
  world.repository.close(closed);
  assert.equal(await submit(closed), 'PULL_REQUEST_NOT_ENQUEUEABLE');
  assert.equal(await submit((closed + 1) as PrNumber), 'PULL_REQUEST_NOT_FOUND');
  await hosted.stop();
});
