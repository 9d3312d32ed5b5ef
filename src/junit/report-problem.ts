import type { JunitSummary } from './junit-case.ts';

/**
 * Why a report cannot be believed as a whole, as the rest of a sentence that begins with its name; null: it can. Server and
 * uploader both ask here, so that neither excuses what the other does not.
 */
export function reportProblem(summary: Pick<JunitSummary, 'whole' | 'unaccounted' | 'disagreements'>): string | null {
  const { whole, unaccounted, disagreements } = summary;
  if (!whole) return 'is not a whole report.';
  if (unaccounted > 0) {
    const [failures, belong] = unaccounted === 1 ? ['1 failure', 'belongs'] : [`${unaccounted} failures`, 'belong'];
    return `tells of ${failures} that ${belong} to no failing test.`;
  }
  return disagreements > 0 ? 'does not hold as many tests or failures as it declares.' : null;
}
