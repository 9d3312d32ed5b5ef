import type { EarlierBatch } from './test-ingest.ts';

type Failure = EarlierBatch['failures'][number];

/** By number, then by path, null last. Databases differ in the order of nulls and of letters. */
export function compareFailures(a: Failure, b: Failure): number {
  if (a.testNo !== b.testNo || a.path === b.path) return a.testNo - b.testNo;
  if (a.path === null || b.path === null) return a.path === null ? 1 : -1;
  return a.path < b.path ? -1 : 1;
}
