/**
 * Cuts the runs of an upload into parts that are stored one by one. The cuts depend only on the runs: after a crash the
 * same parts come again, and the stored ones are skipped.
 */
import type { ReadFacts, ReadItem, ReadRun, ReadSummary } from './read/read-run.ts';

export interface UploadPart {
  /** From 0. */
  readonly no: number;
  readonly facts: ReadFacts;
  readonly runs: readonly ReadRun[];
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
  let runs: ReadRun[] = [];
  let text = 0;
  let no = 0;
  try {
    for (;;) {
      await step();
      const item = await reading.next();
      if (item.done === true) {
        if (facts !== undefined) yield { no, facts, runs, summary: item.value };
        return item.value;
      }
      if (item.value.kind === 'facts') {
        facts = item.value;
        continue;
      }
      for (const run of item.value.runs) {
        const isFull = runs.length >= limits.runs || text >= limits.text;
        if (isFull && (runs.at(-1)?.testId !== run.testId || runs.length >= limits.runs * STRETCH)) {
          if (facts === undefined) throw new Error('runs came before what they have in common');
          yield { no, facts, runs, summary: undefined };
          no += 1;
          runs = [];
          text = 0;
        }
        runs.push(run);
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

/** Groups runs by test, in reading order. */
export function groupRuns(runs: readonly ReadRun[]): ReadonlyMap<string, readonly ReadRun[]> {
  const groups = new Map<string, ReadRun[]>();
  for (const run of runs) {
    const group = groups.get(run.testId);
    if (group === undefined) groups.set(run.testId, [run]);
    else group.push(run);
  }
  return groups;
}
