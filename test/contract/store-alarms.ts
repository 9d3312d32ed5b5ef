import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { AlarmRow, AuditMark } from '../../src/storage/alarms.ts';
import type { QueueId } from '../../src/storage/queues.ts';
import { NOON, storeQueue } from '../helpers/store-rows.ts';
import type { StoreTests } from './store-fixture.ts';

export function alarmPromises(tests: StoreTests): void {
  raisingPromises(tests);
  listPromises(tests);
  markPromises(tests);
  removalPromises(tests);
}

function anAlarm(queueId: QueueId, values: Partial<AlarmRow> = {}): AlarmRow {
  return {
    id: randomUUID(),
    queueId,
    code: 'FOREIGN_PUSH',
    text: 'somebody pushed',
    at: NOON,
    endedAt: null,
    ...values,
  };
}

function aMark(values: Partial<AuditMark> = {}): AuditMark {
  return { sha: 'a'.repeat(40), version: 1, at: NOON, ...values };
}

function raisingPromises({ inQueue, inStore }: StoreTests): void {
  inQueue('an alarm is raised once, and stays as it was raised first', async ({ alarms, id }) => {
    const alarm = anAlarm(id, { text: 'pushed by "é"\n\u{1f600}' });
    assert.equal(await alarms.raise(alarm), 'raised');
    assert.equal(await alarms.raise({ ...alarm, text: 'again', at: NOON + 5 }), 'known');
    assert.deepEqual(await alarms.list([id], NOON, 9), [alarm]);
    assert.deepEqual(await alarms.count([id]), [{ queueId: id, code: 'FOREIGN_PUSH', count: 1 }]);
  });

  inStore('an alarm ends once, with others of its code in its queue, and no other', async ({ store, alarms }) => {
    const [queue, other] = [await storeQueue(store), await storeQueue(store)];
    const red = anAlarm(queue.id, { code: 'RED_TARGET' });
    const push = anAlarm(queue.id, { at: NOON - 1 });
    const elsewhere = anAlarm(other.id, { code: 'RED_TARGET' });
    for (const alarm of [red, push, elsewhere]) await alarms.raise(alarm);
    await alarms.end({ queueId: queue.id, code: 'RED_TARGET', at: NOON + 60 });
    await alarms.end({ queueId: queue.id, code: 'RED_TARGET', at: NOON + 90 });
    assert.deepEqual(await alarms.list([queue.id], 0, 9), [{ ...red, endedAt: NOON + 60 }, push]);
    assert.deepEqual(await alarms.list([other.id], 0, 9), [elsewhere]);
  });

  inQueue('of many who raise it at once one does', async ({ alarms, id }) => {
    const alarm = anAlarm(id);
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => alarms.raise(alarm)));
    assert.deepEqual(outcomes.sort(), [...Array(7).fill('known'), 'raised']);
    assert.deepEqual(await alarms.list([id], 0, 9), [alarm]);
  });
}

function listPromises({ inQueue, inStore }: StoreTests): void {
  inStore('alarms are listed newest first, of the given queues, since an instant', async ({ store, alarms }) => {
    const [a, b, other] = [await storeQueue(store), await storeQueue(store), await storeQueue(store)];
    const rows = [anAlarm(a.id, { at: 30 }), anAlarm(b.id, { at: 20 }), anAlarm(a.id, { at: 10 })] as const;
    for (const alarm of [rows[1], rows[0], rows[2], anAlarm(other.id, { at: 25 })]) await alarms.raise(alarm);
    assert.deepEqual(await alarms.list([a.id, b.id, a.id], 0, 9), rows);
    assert.deepEqual(await alarms.list([a.id], 0, 9), [rows[0], rows[2]]);
    assert.deepEqual(await alarms.list([a.id, b.id], 20, 9), [rows[0], rows[1]]);
    assert.deepEqual(await alarms.list([a.id, b.id], 0, 1), [rows[0]]);
    assert.deepEqual(await alarms.list([a.id, b.id], 0, 0), []);
    assert.deepEqual(await alarms.list([], 0, 9), []);
  });

  inQueue('alarms of one instant come in the order of their ids', async ({ alarms, id }) => {
    const ids = ['b', 'a', '\u{1f600}', '\u{ff21}'].map((letter) => `${letter} ${id}`);
    for (const each of ids) await alarms.raise(anAlarm(id, { id: each }));
    const listed = (await alarms.list([id], 0, 3)).map((alarm) => alarm.id);
    assert.deepEqual(listed, [ids[1], ids[0], ids[3]]);
  });

  inStore('a long list of queues is one list', async ({ store, alarms }) => {
    const [first, last] = [await storeQueue(store), await storeQueue(store)];
    const unknown = Array.from({ length: 600 }, () => randomUUID() as QueueId);
    const [older, newer] = [anAlarm(first.id, { at: 10 }), anAlarm(last.id, { at: 20 })];
    for (const alarm of [older, newer]) await alarms.raise(alarm);
    const queueIds = [first.id, ...unknown, last.id];
    assert.deepEqual(await alarms.list(queueIds, 0, 9), [newer, older]);
    assert.deepEqual(await alarms.list(queueIds, 0, 1), [newer]);
    assert.equal((await alarms.count(queueIds)).length, 2);
  });

  inStore('alarms are counted by queue and code', async ({ store, alarms }) => {
    const [a, b] = [await storeQueue(store), await storeQueue(store)];
    for (const alarm of [anAlarm(a.id), anAlarm(a.id), anAlarm(a.id, { code: 'X' }), anAlarm(b.id)]) {
      await alarms.raise(alarm);
    }
    const counted = (await alarms.count([a.id, b.id, b.id])).map(
      ({ queueId, code, count }) => `${queueId === a.id ? 'a' : 'b'} ${code} ${count}`,
    );
    assert.deepEqual(counted.sort(), ['a FOREIGN_PUSH 2', 'a X 1', 'b FOREIGN_PUSH 1']);
    assert.deepEqual(await alarms.count([]), []);
  });
}

function markPromises({ inQueue }: StoreTests): void {
  inQueue('a mark moves only from where it is expected', async ({ alarms, id }) => {
    assert.equal(await alarms.findMark(id), undefined);
    assert.equal(await alarms.setMark(id, aMark(), 1), 'stale');
    assert.equal(await alarms.findMark(id), undefined);
    const first = aMark({ version: 3 });
    assert.equal(await alarms.setMark(id, first, undefined), 'set');
    assert.equal(await alarms.setMark(id, aMark({ version: 9 }), undefined), 'stale');
    assert.equal(await alarms.setMark(id, aMark({ version: 9 }), 2), 'stale');
    assert.deepEqual(await alarms.findMark(id), first);
    const gone = aMark({ sha: null, version: 7, at: NOON + 1 });
    assert.equal(await alarms.setMark(id, gone, 3), 'set');
    assert.deepEqual(await alarms.findMark(id), gone);
  });

  inQueue('a mark may move at one version', async ({ alarms, id }) => {
    await alarms.setMark(id, aMark({ version: 3 }), undefined);
    const moved = aMark({ version: 3, sha: 'b'.repeat(40) });
    assert.equal(await alarms.setMark(id, moved, 3), 'set');
    assert.deepEqual(await alarms.findMark(id), moved);
  });

  inQueue('of many who set it at once one does', async ({ alarms, id }) => {
    for (const expected of [undefined, 1, 2]) {
      const version = (expected ?? 0) + 1;
      const outcomes = await Promise.all([1, 2, 3].map(() => alarms.setMark(id, aMark({ version }), expected)));
      assert.deepEqual(outcomes.sort(), ['set', 'stale', 'stale']);
    }
  });
}

function removalPromises({ inStore }: StoreTests): void {
  inStore(
    'a deleted queue keeps its alarms and its mark; they go with its repository',
    async ({ store, alarms, queues, repositories }) => {
      const [queue, other] = [await storeQueue(store), await storeQueue(store)];
      for (const { id } of [queue, other]) {
        await alarms.raise(anAlarm(id));
        await alarms.setMark(id, aMark(), undefined);
      }
      await queues.delete(queue.id, 1, { at: NOON, by: 'ada' });
      assert.equal((await alarms.list([queue.id], 0, 9)).length, 1);
      assert.deepEqual(await alarms.findMark(queue.id), aMark());
      assert.equal(await repositories.remove(queue.repositoryId), 'removed');
      assert.deepEqual(await alarms.list([queue.id], 0, 9), []);
      assert.deepEqual(await alarms.count([queue.id]), []);
      assert.equal(await alarms.findMark(queue.id), undefined);
      assert.equal((await alarms.list([other.id], 0, 9)).length, 1);
      assert.deepEqual(await alarms.findMark(other.id), aMark());
    },
  );

  inStore('an alarm or a mark of a queue that is gone is stored', async ({ alarms }) => {
    const gone = randomUUID() as QueueId;
    assert.equal(await alarms.raise(anAlarm(gone)), 'raised');
    assert.equal(await alarms.setMark(gone, aMark(), undefined), 'set');
  });
}
