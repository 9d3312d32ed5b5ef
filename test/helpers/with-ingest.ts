import type { MonitorData } from '../../src/flaky/core/state.ts';
import type { Store } from '../../src/storage/store.ts';
import { decodeState } from '../../src/storage/test-codec.ts';
import type { TestIngest } from '../../src/storage/test-ingest.ts';
import type { IngestWorld } from '../worlds/shell/ingest-world.ts';

/** Replaces some operations of the store on test results. */
export function withIngest(store: Store, change: (ingest: TestIngest) => Partial<TestIngest>): Store {
  return { ...store, testIngest: { ...store.testIngest, ...change(store.testIngest) } };
}

/** Passes and failures of one hour, as the failure-rate monitor counts them. */
export async function countedRuns(world: IngestWorld, name: string): Promise<readonly number[]> {
  const { known } = await world.store.testIngest.load(world.repository.id, [(await world.test(name)).id]);
  const { monitors } = decodeState(known[0]?.memory.state ?? '');
  const rate = Object.values(monitors).find(({ type }) => type === 'failure_rate');
  const data = rate?.data as MonitorData['failure_rate'] | undefined;
  return data?.buckets.slice(1) ?? [];
}
