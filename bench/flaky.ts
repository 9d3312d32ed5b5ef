import { measureDetection } from './flaky-detection.ts';
import { measureFairness } from './flaky-fairness.ts';
import { measureIngest } from './flaky-ingest.ts';
import { measureLookup } from './flaky-lookup.ts';
import { measureMemory } from './flaky-memory.ts';
import { measureParsing } from './flaky-parse.ts';
import { measureReads } from './flaky-reads.ts';

/** One file `flaky-*.ts` per question. `npm run bench -- flaky ingest` runs only that one. */
const QUESTIONS: Readonly<Record<string, (runs: number | undefined) => Promise<void>>> = {
  parse: () => measureParsing(),
  memory: () => measureMemory(),
  detection: async () => measureDetection(),
  ingest: async (runs) => {
    await measureIngest({ engine: 'sqlite', runs });
    await measureIngest({ engine: 'postgres', runs });
  },
  fairness: async (runs) => {
    await measureFairness({ engine: 'sqlite', tests: runs });
    await measureFairness({ engine: 'postgres', tests: runs });
  },
  reads: async (runs) => {
    await measureReads({ engine: 'sqlite', runs });
    await measureReads({ engine: 'postgres', runs });
  },
  lookup: () => measureLookup(),
};

/** `--runs 100000`: this many test executions instead of millions. */
export async function run(words: readonly string[] = []): Promise<void> {
  const at = words.indexOf('--runs');
  const runs = at === -1 ? undefined : Number(words[at + 1]);
  const asked = words.filter((_, index) => at === -1 || (index !== at && index !== at + 1));
  const unknown = asked.find((name) => !Object.hasOwn(QUESTIONS, name));
  if (unknown !== undefined)
    throw new Error(`There is no flaky ${unknown}; there are ${Object.keys(QUESTIONS).join(', ')}.`);
  for (const name of asked.length > 0 ? asked : Object.keys(QUESTIONS)) await QUESTIONS[name]?.(runs);
}
