import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aRepository, storeOrganization } from '../../../test/helpers/store-rows.ts';
import { HostedWorld } from '../../../test/worlds/shell/hosted-world.ts';
import type { Caller } from '../core/caller.ts';
import { isRefusal } from '../core/refusal.ts';
import { inspectRepository } from '../repositories/inspect-repository.ts';
import { registerRepository } from '../repositories/register-repository.ts';
import { createQueue } from './queues.ts';

describe('creating a queue', () => {
  it('begins with landing by the merge API where people are, and by a push where not [G20] [S5]', async () => {
    const hosted = await HostedWorld.create();
    const { app, world } = hosted;
    const { organizationId, host, owner, name } = await hosted.repository();
    const organization = await app.store.accounts.findOrganizationById(organizationId);
    assert.ok(organization);
    const caller: Caller = {
      organization,
      tokenId: 'token',
      name: 'ada',
      scopes: new Set(['admin']),
      repositoryIds: null,
    };
    const create = async (targetBranch: string, settings = {}) => {
      world.repository.commit(targetBranch, { files: { [targetBranch]: 'a branch' } });
      const input = { repo: { host, owner, name }, targetBranch, settings, state: undefined };
      const view = await createQueue(app, caller, input);
      return isRefusal(view) ? view : view.landingMode;
    };
    assert.equal(await create('by-default'), 'API');
    assert.equal(await create('told', { landingMode: 'PUSH' }), 'PUSH');
    Object.assign(world.forge, { hosting: undefined });
    assert.equal(await create('without-people'), 'PUSH');
  });

  it('refuses repositories of an owner that another organization has, unless the operator allows it [G71]', async () => {
    const hosted = await HostedWorld.create();
    const { app } = hosted;
    const { host, owner } = await hosted.repository();
    const organization = await storeOrganization(app.store);
    const repository = { host, owner, name: 'secret' };
    // An upload of test results is enough for this.
    await app.store.repositories.save(aRepository({ organizationId: organization.id, ...repository }));
    app.directory.forget();
    const caller = (scopes: Caller['scopes']): Caller => ({
      organization,
      tokenId: 'token',
      name: 'mallory',
      scopes,
      repositoryIds: null,
    });
    const input = { repo: repository, targetBranch: 'main', settings: {}, state: undefined };
    const registration = {
      repo: repository,
    };
    const [admin, operator] = [caller(new Set(['admin'])), caller(new Set(['admin', 'instance']))];
    const answers = [
      await createQueue(app, admin, input),
      await registerRepository(app, admin, registration),
      await inspectRepository(app, admin, input),
    ];
    for (const answer of answers) assert.equal(isRefusal(answer) && answer.code, 'INSUFFICIENT_SCOPE');
    assert.ok(!isRefusal(await createQueue(app, operator, input)));
  });
});
