import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { madeForEach } from '../../../test/helpers/made.ts';
import { aTest, NOON } from '../../../test/helpers/store-rows.ts';
import type { FailingTest } from '../../../test/helpers/uploader.ts';
import { createInProcess } from '../../../test/worlds/server/in-process.ts';
import { newTestState } from '../../flaky/core/state.ts';
import { createTestIds } from '../../flaky/identity/test-id.ts';
import { DEFAULT_TEST_SETTINGS } from '../../flaky/settings.ts';

const LOOKUP = '/v1/metrics/getQuarantineConfig';

interface Config {
  readonly isDisabled: boolean;
  readonly testIds: readonly string[];
}

describe('getQuarantineConfig', () => {
  const world = madeForEach(() => createInProcess());

  const names = { file: 'src/math.test.ts', classname: 'math', parent: 'math suite', name: 'adds' };
  const idOf = (infoId = '', variant = '') =>
    createTestIds({ org: 'acme', repository: world.scope.repo, variant })({ ...names, infoId });
  const failing = (more: Partial<FailingTest> = {}): FailingTest => ({
    id: idOf(),
    name: 'adds',
    parentName: 'math suite',
    className: 'math',
    file: 'src/math.test.ts',
    variant: '',
    ...more,
  });
  const quarantine = (...ids: readonly string[]) =>
    world.apply(ids.map((id) => aTest(world.repository.id, { id, status: 'FLAKY', quarantinedAt: NOON })));
  const body = (tests: readonly object[], more: object = {}) => ({
    repo: world.scope.repo,
    orgUrlSlug: 'acme',
    remoteUrls: ['https://git.test/acme/app.git'],
    testIdentifiers: tests,
    ...more,
  });
  const lookUp = (...tests: readonly FailingTest[]) => world.ok<Config>(LOOKUP, body(tests));

  test('answers those of the ids that are quarantined [U3]', async () => {
    const other = randomUUID();
    await quarantine(idOf());
    assert.deepEqual(await lookUp(failing(), failing({ id: other, name: 'other' })), {
      isDisabled: false,
      testIds: [idOf()],
    });
    assert.deepEqual(await lookUp(failing({ id: other, name: 'other' })), { isDisabled: false, testIds: [] });
  });

  test('leaves out what an earlier version took for a test, and is none [F89]', async () => {
    const other = { id: randomUUID(), name: 'TestMain', classname: '', status: 'FLAKY', quarantinedAt: NOON } as const;
    await world.apply([aTest(world.repository.id, other)]);
    const sent = failing({ id: other.id, name: 'TestMain', className: '' });
    assert.deepEqual(await lookUp(sent), { isDisabled: false, testIds: [] });
  });

  test('answers an id as it was sent, also where the test is known by another [U3]', async () => {
    await quarantine(idOf('trunk:x'), idOf('', 'linux'));
    const sent = [failing({ id: 'trunk:x' }), failing({ id: '7', variant: 'linux' }), failing({ id: '8' })];
    assert.deepEqual((await lookUp(...sent)).testIds, ['trunk:x', '7']);
  });

  test('leaves an id out that stands for tests in several suites, unless all that failed are covered [F50] [F80]', async () => {
    await quarantine(idOf());
    const { known } = await world.store.testIngest.load(world.repository.id, [idOf()]);
    const seq = await world.store.tests.getWatermark(world.repository.id);
    const [{ test, memory }] = known as [(typeof known)[number]];
    const flag = { at: NOON, actor: 'ada', reason: null };
    const state = JSON.stringify({
      ...newTestState(0),
      flag,
      paths: [
        ['', 0],
        ['with coupon', NOON + 1],
      ],
    });
    const change = { repositoryId: world.repository.id, tests: [test], memories: [{ ...memory, state }] };
    await world.store.testIngest.commit({ ...change, expectedSeq: seq, failures: [], events: [] }, NOON);
    const found = async (...tests: readonly object[]) => (await world.ok<Config>(LOOKUP, body(tests))).testIds;
    assert.deepEqual(await found({ ...failing(), suitePaths: [''] }), [idOf()]);
    assert.deepEqual(await found({ ...failing(), suitePaths: ['with coupon'] }), []);
    assert.deepEqual(await found({ ...failing(), suitePaths: ['', 'with coupon'] }), []);
    assert.deepEqual(await found(failing()), []);
    assert.deepEqual(await found(), []);
    const scope = { ...world.scope, test_id: idOf(), setting: 'ALWAYS_QUARANTINE', reason: 'So.' };
    await world.ok('/v1/flaky-tests/set-quarantine', { ...scope, suites: [`${test.parent} > with coupon`] });
    assert.deepEqual(await found({ ...failing(), suitePaths: ['with coupon'] }), [idOf()]);
    assert.deepEqual(await found({ ...failing(), suitePaths: [''] }), [], 'the flag does not widen the decision');
    assert.deepEqual(await found(failing()), []);
  });

  test('answers all quarantined ids where no test is named, as they are now [U20]', async () => {
    const ids = [randomUUID(), randomUUID(), randomUUID()].toSorted();
    await quarantine(...ids);
    assert.deepEqual((await lookUp()).testIds.toSorted(), ids);
    const more = randomUUID();
    await quarantine(more);
    assert.deepEqual((await lookUp()).testIds.toSorted(), [...ids, more].toSorted());
  });

  test('says so where quarantine is off [U20]', async () => {
    await quarantine(idOf());
    const settings = { ...DEFAULT_TEST_SETTINGS, quarantineEnabled: false };
    const change = { at: NOON, actor: 'ada', detail: '{}' };
    await world.store.testSettings.save(world.repository.id, 0, { settings, monitors: [] }, change);
    assert.deepEqual(await lookUp(failing()), { isDisabled: true, testIds: [] });
  });

  test('has nothing for a repository that is not known, and makes none [U20]', async () => {
    const repo = { ...world.scope.repo, name: 'unseen' };
    assert.deepEqual(await world.ok(LOOKUP, body([failing()], { repo })), { isDisabled: false, testIds: [] });
    const { repositories } = await world.ok<{ repositories: unknown[] }>('/v1/listRepositories', {});
    assert.equal(repositories.length, 1);
  });

  test('is 404 for another organization, and 400 for a malformed body [U19]', async () => {
    await world.refused('404 ORGANIZATION_NOT_FOUND', LOOKUP, body([], { orgUrlSlug: 'other' }));
    await world.refused('400 VALIDATION_FAILED', LOOKUP, body([], { testIdentifiers: undefined }));
    await world.refused('400 VALIDATION_FAILED', LOOKUP, body([{ id: 7 }]));
  });

  test('takes what clients of other versions send: nulls, more fields, fewer fields', async () => {
    await quarantine(idOf());
    const test = { id: idOf(), name: 'adds', parentName: null, className: null, file: null, variant: null, extra: 1 };
    const more = { remoteUrls: undefined, testCollectionShortId: 'abc', future: {} };
    assert.deepEqual((await world.ok<Config>(LOOKUP, body([test], more))).testIds, [idOf()]);
    assert.deepEqual((await world.ok<Config>(`/trunk${LOOKUP}`, body([test], more))).testIds, [idOf()]);
  });
});
