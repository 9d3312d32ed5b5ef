import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { storeRepository } from '../../../test/helpers/store-rows.ts';
import type { Sha } from '../../lib/sha.ts';
import { createMemoryStore } from '../../storage/sqlite/create-memory-store.ts';
import { changeNote, decodeNote, EMPTY_NOTE, encodeNote, readNote, rememberHead, wasSeenAt } from './note.ts';

const [A, B] = ['a'.repeat(40) as Sha, 'b'.repeat(40) as Sha];

async function aNote() {
  const store = createMemoryStore();
  const key = { repositoryId: (await storeRepository(store)).id, prNumber: 7 };
  return { app: { store }, key };
}

describe('the note of a pull request', () => {
  it('is empty where its row has no fields, and is read back as it was written', () => {
    assert.deepEqual(decodeNote('{}'), EMPTY_NOTE);
    assert.deepEqual(decodeNote(encodeNote({ ...EMPTY_NOTE, labels: ['x'] })).labels, ['x']);
  });

  it('keeps both ids of a comment, and is read without the second', () => {
    const comment = { id: '1', nodeId: 'IC_1', hash: 'h' };
    assert.deepEqual(decodeNote(encodeNote({ ...EMPTY_NOTE, comment })).comment, comment);
    const old = { id: '1', hash: 'h' };
    assert.deepEqual(decodeNote(JSON.stringify({ comment: old })).comment, old);
  });

  it('is changed by one after the other, and nothing gets lost', async () => {
    const { app, key } = await aNote();
    const add = (label: string) => changeNote(app, key, (note) => ({ ...note, labels: [...note.labels, label] }));
    await Promise.all(['a', 'b', 'c', 'd', 'e'].map(add));
    assert.deepEqual((await readNote(app, key)).labels.toSorted(), ['a', 'b', 'c', 'd', 'e']);
  });

  it('remembers which head could be seen when, and the latest ones only [G56]', async () => {
    const { app, key } = await aNote();
    await rememberHead(app, key, { sha: A, at: 10 });
    await rememberHead(app, key, { sha: B, at: 20 });
    await rememberHead(app, key, { sha: A, at: 30 });
    const note = await readNote(app, key);
    assert.deepEqual(
      [
        wasSeenAt(note, A, 9),
        wasSeenAt(note, A, 10),
        wasSeenAt(note, B, 19),
        wasSeenAt(note, B, 25),
        // A head that returned is not what a person meant who saw the other one.
        wasSeenAt(note, A, 25),
        wasSeenAt(note, A, 30),
      ],
      [false, true, false, true, false, true],
    );
    await rememberHead(app, key, { sha: B, at: 15 });
    assert.equal(wasSeenAt(await readNote(app, key), A, 30), true);
    for (let at = 100; at < 130; at += 1) await rememberHead(app, key, { sha: `${at}` as Sha, at });
    assert.equal((await readNote(app, key)).heads.length, 20);
  });

  it('takes no head for older than the second in which the forge says it was there [G83]', async () => {
    const { app, key } = await aNote();
    // Our clock is a minute behind. A comment is of 70.1 s, and the push of 70.9 s.
    await rememberHead(app, key, { sha: A, at: 10_950, changedAt: 70_000 });
    const note = await readNote(app, key);
    assert.deepEqual([wasSeenAt(note, A, 70_000), wasSeenAt(note, A, 71_000)], [false, true]);
  });

  it('knows the order of heads also where the clocks of servers differ [G83]', async () => {
    const { app, key } = await aNote();
    await rememberHead(app, key, { sha: A, at: 70_500, changedAt: 10_000 });
    await rememberHead(app, key, { sha: B, at: 30_500, changedAt: 30_000 });
    const note = await readNote(app, key);
    assert.deepEqual([wasSeenAt(note, B, 90_000), wasSeenAt(note, A, 90_000)], [true, false]);
    await rememberHead(app, key, { sha: A, at: 95_500, changedAt: 95_000 });
    assert.equal(wasSeenAt(await readNote(app, key), A, 90_000), false);
  });

  it('does not take a head for seen after another one was there, however late that was heard of [G139]', async () => {
    const { app, key } = await aNote();
    await rememberHead(app, key, { sha: A, at: 10_500, changedAt: 10_000 });
    await rememberHead(app, key, { sha: B, at: 35_500, changedAt: 20_000 });
    const note = await readNote(app, key);
    assert.deepEqual([wasSeenAt(note, A, 19_000), wasSeenAt(note, A, 25_000)], [true, false]);
  });

  it('a head that another followed is not seen, also where that other was heard of last [G139]', async () => {
    const { app, key } = await aNote();
    await rememberHead(app, key, { sha: A, at: 1_500, changedAt: 1_000 });
    // B was the head at 10 s, and A again at 20 s; the report of B comes late.
    await rememberHead(app, key, { sha: A, at: 20_500, changedAt: 20_000 });
    await rememberHead(app, key, { sha: B, at: 25_000, changedAt: 10_000 });
    const note = await readNote(app, key);
    assert.deepEqual([wasSeenAt(note, B, 40_000), wasSeenAt(note, A, 40_000)], [false, true]);
  });

  it('counts neither of two heads of one second as seen: their order is unknown [G83]', async () => {
    const { app, key } = await aNote();
    await rememberHead(app, key, { sha: A, at: 20_900, changedAt: 20_000 });
    await rememberHead(app, key, { sha: B, at: 21_000, changedAt: 20_000 });
    const note = await readNote(app, key);
    assert.deepEqual([wasSeenAt(note, B, 40_000), wasSeenAt(note, A, 40_000)], [false, false]);
    // One of them is still the head later.
    await rememberHead(app, key, { sha: B, at: 50_500, changedAt: 50_000 });
    assert.equal(wasSeenAt(await readNote(app, key), B, 60_000), true);
  });

  it('counts a head as seen at the second comment, where its order at the first was in doubt [G83]', async () => {
    const { app, key } = await aNote();
    await rememberHead(app, key, { sha: A, at: 1_500, changedAt: 1_000 });
    await rememberHead(app, key, { sha: B, at: 1_600, changedAt: 1_000 });
    const seen: boolean[] = [];
    for (let said = 600_000; said < 2_000_000; said += 600_000) {
      // Each comment changes the pull request, and the poll that finds it reports the head again before the command
      // runs.
      await rememberHead(app, key, { sha: B, at: said + 30_000, changedAt: said });
      seen.push(wasSeenAt(await readNote(app, key), B, said));
      await rememberHead(app, key, { sha: B, at: said + 90_000, changedAt: said + 32_000 });
    }
    assert.deepEqual(seen, [false, true, true]);
  });

  it('records a former head once, however often it is reported [G139]', async () => {
    const { app, key } = await aNote();
    await rememberHead(app, key, { sha: A, at: 1_500, changedAt: 1_000 });
    await rememberHead(app, key, { sha: B, at: 9_500, changedAt: 9_000 });
    for (let again = 0; again < 5; again += 1) {
      await rememberHead(app, key, { sha: A, at: 10_000 + again, changedAt: 5_000 });
    }
    assert.equal((await readNote(app, key)).heads.length, 3);
  });
});
