/**
 * Cuts what is read of an upload into parts that are stored one by one. Where they are cut depends on nothing but the
 * runs: after a crash the same parts come again, and those that are stored are passed over.
 */
import type { ReadFacts, ReadItem, ReadRun, ReadSummary } from './read/read-run.ts';

export interface UploadPart {
  /** From 0. */
  readonly no: number;
  readonly facts: ReadFacts;
  readonly runs: readonly ReadRun[];
  /** Known with the last part. */
  readonly summary: ReadSummary | undefined;
}

export interface PartLimits {
  readonly runs: number;
  /** Characters of failures: runs that fail are much larger than others. */
  readonly text: number;
}

/** A thousand or two of failures: what is stored at once keeps others waiting. */
export const PART_LIMITS: PartLimits = { runs: 50_000, text: 2_000_000 };
/** What a failure without a word costs. */
const FAILURE_CHARS = 500;
/** Runs of one test stay together where they are adjacent, unless nothing else comes. */
const STRETCH = 1.2;

export type Reading = AsyncGenerator<ReadItem, ReadSummary>;

/** Answers how reading went where it brought no facts, and so no part. */
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
    // Whoever stops in the middle leaves no file open.
    await reading.return?.(undefined as never);
  }
}

function lengthOf({ failure }: ReadRun): number {
  return failure === null ? 0 : failure.message.length + failure.text.length;
}
