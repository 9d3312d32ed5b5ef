import { test } from 'node:test';
import type { QueueId, QueueRow } from '../../src/storage/queues.ts';
import type { Repository, RepositoryId } from '../../src/storage/repositories.ts';
import type { Store } from '../../src/storage/store.ts';
import { storeQueue, storeRepository } from '../helpers/store-rows.ts';

type Given = Store & { readonly store: Store };
type Check<T> = (given: T) => Promise<void>;

/** Tests of one store, by what each is given: the parts of the store, and rows that no other test has. */
export interface StoreTests {
  inStore(name: string, check: Check<Given>): void;
  inRepository(
    name: string,
    check: Check<Given & { readonly repository: Repository; readonly id: RepositoryId }>,
  ): void;
  inQueue(name: string, check: Check<Given & { readonly queue: QueueRow; readonly id: QueueId }>): void;
}

export function createStoreTests(open: () => Store): StoreTests {
  const given = (): Given => ({ ...open(), store: open() });
  return {
    inStore: (name, check) => void test(name, () => check(given())),
    inRepository: (name, check) =>
      void test(name, async () => {
        const repository = await storeRepository(open());
        await check({ ...given(), repository, id: repository.id });
      }),
    inQueue: (name, check) =>
      void test(name, async () => {
        const queue = await storeQueue(open());
        await check({ ...given(), queue, id: queue.id });
      }),
  };
}
