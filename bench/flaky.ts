import { measureDetection } from './flaky-detection.ts';
import { measureParsing } from './flaky-parse.ts';

/** Flaky tests: what reading reports costs, and what detection finds. A file `flaky-*.ts` for each question. */
export async function run(): Promise<void> {
  await measureParsing();
  measureDetection();
}
