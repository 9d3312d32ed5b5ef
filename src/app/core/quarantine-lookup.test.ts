import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RepositoryId } from '../../storage/repositories.ts';
import { QuarantineLookup } from './directory.ts';

const REPOSITORY = 'r' as RepositoryId;

/** A set with a version that grows with it, as the store keeps it. */
function createTests() {
  let version = 0;
  let ids: readonly string[] = [];
  const reads = { count: 0 };
  return {
    reads,
    set: (next: readonly string[]) => {
      ids = next;
      version += 1;
    },
    goBack: (to: number, next: readonly string[]) => {
      ids = next;
      version = to;
    },
    getQuarantineVersion: async () => version,
    listQuarantinedIds: async () => {
      reads.count += 1;
      return { version, ids };
    },
  };
}

describe('quarantined ids', () => {
  test('are read once for as long as they are the same, and again when they change', async () => {
    const tests = createTests();
    const lookup = new QuarantineLookup({ tests });
    const find = async () => [...(await lookup.find(REPOSITORY)).ids];
    tests.set(['a']);
    assert.deepEqual([await find(), await find(), tests.reads.count], [['a'], ['a'], 1]);
    tests.set(['a', 'b']);
    assert.deepEqual([await find(), await find(), tests.reads.count], [['a', 'b'], ['a', 'b'], 2]);
  });

  test('are read once for all who ask at the same time', async () => {
    const tests = createTests();
    const lookup = new QuarantineLookup({ tests });
    const found = await Promise.all(Array.from({ length: 100 }, () => lookup.find(REPOSITORY)));
    assert.deepEqual([new Set(found).size, tests.reads.count], [1, 1]);
  });

  test('are forgotten when everything was replaced, though the number is the same', async () => {
    const tests = createTests();
    const lookup = new QuarantineLookup({ tests });
    tests.set(['a']);
    await lookup.find(REPOSITORY);
    tests.goBack(1, ['b']);
    lookup.forget();
    assert.deepEqual([...(await lookup.find(REPOSITORY)).ids], ['b']);
  });
});
