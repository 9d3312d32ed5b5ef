import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { DEFAULT_TEST_SETTINGS, defaultMonitors } from '../../src/flaky/settings.ts';
import type { RepositoryId } from '../../src/storage/repositories.ts';
import { NOON } from '../helpers/store-rows.ts';
import type { StoreTests } from './store-fixture.ts';

export function testSettingsPromises({ inRepository }: StoreTests): void {
  const change = (detail: string) => ({ at: NOON, actor: 'ada', detail });
  const next = (retentionDays: number) => ({
    settings: { ...DEFAULT_TEST_SETTINGS, retentionDays, ticketUrlTemplate: 'https://t/{key}' },
    monitors: defaultMonitors(randomUUID(), NOON).slice(0, retentionDays),
  });

  inRepository('settings are stored version by version, each once', async ({ testSettings, id }) => {
    assert.equal(await testSettings.find(id), undefined);
    const first = next(1);
    const stored = await testSettings.save(id, 0, first, change('{"a":1}'));
    const expected = { ...first, version: 1, appliedVersion: 0, appliedMonitors: [], actor: 'ada', changedAt: NOON };
    assert.deepEqual(stored, expected);
    assert.deepEqual(await testSettings.find(id), expected);
    assert.equal(await testSettings.save(id, 0, next(2), change('{}')), undefined);
    assert.equal(await testSettings.save(id, 2, next(2), change('{}')), undefined);
    assert.equal((await testSettings.save(id, 1, next(2), change('{"b":1}')))?.version, 2);
    assert.deepEqual(await testSettings.listChanges(id, 9), [change('{"b":1}'), change('{"a":1}')]);
    assert.deepEqual(await testSettings.listChanges(id, 1), [change('{"b":1}')]);
    await assert.rejects(testSettings.save('nothing' as RepositoryId, 0, next(1), change('{}')));
  });

  inRepository('of those who change the same version at once one succeeds', async ({ testSettings, id }) => {
    for (const version of [0, 1]) {
      const answers = await Promise.all([1, 2, 3, 4].map((n) => testSettings.save(id, version, next(n), change('{}'))));
      assert.equal(answers.filter((answer) => answer !== undefined).length, 1);
    }
    assert.equal((await testSettings.listChanges(id, 9)).length, 2);
  });

  inRepository('it is known which version all tests follow, and its monitors', async ({ testSettings, id }) => {
    const isBehind = async () => (await testSettings.listBehind()).includes(id);
    assert.equal(await isBehind(), false);
    await testSettings.save(id, 0, next(1), change('{}'));
    const second = next(2);
    await testSettings.save(id, 1, second, change('{}'));
    const third = next(3);
    await testSettings.save(id, 2, third, change('{}'));
    assert.deepEqual(await testSettings.findMonitors(id, 2), second.monitors);
    assert.equal(await testSettings.findMonitors(id, 0), undefined);
    await testSettings.markApplied(id, 2);
    await testSettings.markApplied(id, 1);
    await testSettings.markApplied(id, 7);
    const { version, appliedVersion, appliedMonitors } = (await testSettings.find(id)) ?? {};
    assert.deepEqual([version, appliedVersion, appliedMonitors], [3, 2, second.monitors]);
    assert.equal(await isBehind(), true);
    await testSettings.markApplied(id, 3);
    assert.equal(await isBehind(), false);
    assert.deepEqual((await testSettings.find(id))?.appliedMonitors, third.monitors);
  });
}
