import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { PullRequestNote } from '../../src/storage/pull-request-notes.ts';
import type { RepositoryId } from '../../src/storage/repositories.ts';
import { storeRepository } from '../helpers/store-rows.ts';
import type { StoreTests } from './store-fixture.ts';

function aNote(repositoryId: RepositoryId, values: Partial<PullRequestNote> = {}): PullRequestNote {
  return { repositoryId, prNumber: 7, version: 1, body: '{"heads":[]}', ...values };
}

export function pullRequestNotePromises({ inRepository, inStore }: StoreTests): void {
  inRepository('a note is written only over the one it was made from', async ({ pullRequestNotes: notes, id }) => {
    const [first, second] = [aNote(id), aNote(id, { version: 2, body: '{"é":"\u{1f600}"}' })];
    assert.equal(await notes.find(id, 7), undefined);
    assert.equal(await notes.save(second), 'stale');
    assert.equal(await notes.save(first), 'saved');
    assert.equal(await notes.save({ ...first, body: '{}' }), 'stale');
    assert.deepEqual(await notes.find(id, 7), first);
    assert.equal(await notes.save(second), 'saved');
    assert.equal(await notes.save(second), 'stale');
    assert.deepEqual(await notes.find(id, 7), second);
    assert.equal(await notes.find(id, 8), undefined);
  });

  inRepository('of many who write at once one does', async ({ pullRequestNotes: notes, id }) => {
    for (const version of [1, 2, 3]) {
      const bodies = ['a', 'b', 'c', 'd'];
      const outcomes = await Promise.all(bodies.map((body) => notes.save(aNote(id, { version, body }))));
      assert.deepEqual(outcomes.toSorted(), ['saved', 'stale', 'stale', 'stale']);
      assert.equal((await notes.find(id, 7))?.body, bodies[outcomes.indexOf('saved')]);
    }
  });

  inStore(
    'all notes of a repository are removed at once, and no others',
    async ({ store, pullRequestNotes: notes }) => {
      const [one, other] = [await storeRepository(store), await storeRepository(store)];
      for (const prNumber of [7, 8]) await notes.save(aNote(one.id, { prNumber }));
      await notes.save(aNote(other.id));
      await notes.removeAll(one.id);
      await notes.removeAll(one.id);
      for (const prNumber of [7, 8]) assert.equal(await notes.find(one.id, prNumber), undefined);
      assert.deepEqual(await notes.find(other.id, 7), aNote(other.id));
      assert.equal(await notes.save(aNote(one.id)), 'saved');
    },
  );

  inStore(
    'notes go with their repository, and there are none of one that is gone',
    async ({ store, pullRequestNotes: notes, repositories }) => {
      const [gone, other] = [await storeRepository(store), await storeRepository(store)];
      for (const { id } of [gone, other]) await notes.save(aNote(id));
      await repositories.remove(gone.id);
      assert.equal(await notes.find(gone.id, 7), undefined);
      assert.equal(await notes.save(aNote(gone.id)), 'stale');
      assert.equal(await notes.save(aNote(randomUUID() as RepositoryId)), 'stale');
      assert.deepEqual(await notes.find(other.id, 7), aNote(other.id));
    },
  );
}
