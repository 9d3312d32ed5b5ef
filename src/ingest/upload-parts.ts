/**
 * Cuts the runs of an upload into parts that are stored one by one. The cuts depend only on the runs: after a crash the
 * same parts come again, and the stored ones are skipped.
 */
import type { ReadFacts, ReadItem, ReadRun, ReadSummary } from './read/read-run.ts';

/** By test id, in reading order. */
export type RunsByTest = ReadonlyMap<string, readonly ReadRun[]>;

export interface UploadPart {
  /** From 0. */
  readonly no: number;
  readonly facts: ReadFacts;
  readonly groups: RunsByTest;
  /** The number of its runs. */
  readonly testRuns: number;
  /** Set on the last part. */
  readonly summary: ReadSummary | undefined;
}

export interface PartLimits {
  readonly runs: number;
  /** Characters of failure texts: failed runs are much larger than others. */
  readonly text: number;
}

/** One or two thousand failures: a larger transaction would delay other writers. */
export const PART_LIMITS: PartLimits = { runs: 50_000, text: 2_000_000 };
/** The cost of a failure without text. */
const FAILURE_CHARS = 500;
/** Adjacent runs of one test stay in one part, up to this stretch of the limit. */
const STRETCH = 1.2;

export type Reading = AsyncGenerator<ReadItem, ReadSummary>;

/** Returns the summary of a reading that had no facts and so no part. */
// SPEC U73
export async function* cutIntoParts(
  reading: Reading,
  { limits, step }: { readonly limits: PartLimits; readonly step: () => Promise<void> },
): AsyncGenerator<UploadPart, ReadSummary> {
  let facts: ReadFacts | undefined;
  let groups = new Map<string, ReadRun[]>();
  let lastId = '';
  let testRuns = 0;
  let text = 0;
  let no = 0;
  try {
    for (;;) {
      await step();
      const item = await reading.next();
      if (item.done === true) {
        if (facts !== undefined) yield { no, facts, groups, testRuns, summary: item.value };
        return item.value;
      }
      if (item.value.kind === 'facts') {
        facts = item.value;
        continue;
      }
      for (const run of item.value.runs) {
        const isFull = testRuns >= limits.runs || text >= limits.text;
        if (isFull && (lastId !== run.testId || testRuns >= limits.runs * STRETCH)) {
          if (facts === undefined) throw new Error('runs came before what they have in common');
          yield { no, facts, groups, testRuns, summary: undefined };
          no += 1;
          groups = new Map();
          testRuns = 0;
          text = 0;
        }
        const group = groups.get(run.testId);
        if (group === undefined) groups.set(run.testId, [run]);
        else group.push(run);
        lastId = run.testId;
        testRuns += 1;
        if (run.conclusion === 'FAILURE') text += FAILURE_CHARS + lengthOf(run);
      }
    }
  } finally {
    // Closes the files if the consumer stops early.
    await reading.return?.(undefined as never);
  }
}

function lengthOf({ failure }: ReadRun): number {
  return failure === null ? 0 : failure.message.length + failure.text.length;
}
