import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { storeOrganization } from '../../../test/helpers/store-rows.ts';
import { createTestApp } from '../../../test/worlds/shell/create-app.ts';
import { createMemoryStore } from '../../storage/sqlite/create-memory-store.ts';
import type { Caller } from '../core/caller.ts';
import { isRefusal } from '../core/refusal.ts';
import { createNotification, deleteNotification, listNotifications } from './notifications.ts';

describe('messages of a person who signed in', () => {
  async function createWorld() {
    const store = createMemoryStore();
    const organization = await storeOrganization(store);
    const app = createTestApp({ store, forges: new Map() });
    const named = (name: string, more: Partial<Caller>): Caller => {
      const scopes = new Set(['read'] as const);
      return { organization, tokenId: name, name, scopes, repositoryIds: null, ...more };
    };
    const proven = (login: string) => {
      return { provider: 'github', subject: '1', name: login, groups: [], logins: { 'github.com': login } };
    };
    const ask = async (caller: Caller, host: string, login: string) => {
      const wish = { account: { host, login }, via: 'TEAMS' as const, address: 'https://teams.test/hook/secret' };
      const answer = await createNotification(app, caller, wish);
      return isRefusal(answer) ? answer.code : answer;
    };
    return { app, named, proven, ask };
  }

  it('are for the account that the sign-in proved, and for no other [X57]', async () => {
    const { named, proven, ask } = await createWorld();
    const ada = named('ada', { person: proven('Ada') });
    const made = await ask(ada, 'github.com', 'ada');
    assert.ok(typeof made === 'object');
    assert.deepEqual([made.address, made.when], ['https://teams.test/…', ['ENDED']]);
    assert.equal(await ask(ada, 'github.com', 'grace'), 'NOT_YOUR_ACCOUNT');
    assert.equal(await ask(ada, 'git.other.test', 'ada'), 'NOT_YOUR_ACCOUNT');
    assert.equal(await ask(named('ada', {}), 'github.com', 'ada'), 'NOT_YOUR_ACCOUNT', 'a name proves nothing');
    assert.equal(typeof (await ask(named('token', { maker: proven('ada') }), 'github.com', 'ada')), 'object');
  });

  it('are listed and ended by that person or an administrator alone [X57]', async () => {
    const { app, named, proven, ask } = await createWorld();
    const ada = named('ada', { person: proven('ada') });
    const made = await ask(ada, 'github.com', 'ada');
    assert.ok(typeof made === 'object');
    const eve = named('eve', { person: proven('eve') });
    const count = async (caller: Caller) => {
      const list = await listNotifications(app, caller);
      return isRefusal(list) ? 0 : list.notifications.length;
    };
    const admin = named('admin', { scopes: new Set(['admin'] as const) });
    assert.deepEqual(await Promise.all([ada, eve, admin].map(count)), [1, 0, 1]);
    const refused = await deleteNotification(app, eve, made);
    assert.equal(isRefusal(refused) && refused.code, 'WEBHOOK_NOT_FOUND');
    assert.deepEqual(await deleteNotification(app, ada, made), {});
    assert.equal(await count(ada), 0);
  });
});
