import type { View } from '../../contract/schema.ts';
import type { Evidence as EvidenceSchema } from '../../contract/test-details.ts';
import type { Evidence } from '../../flaky/core/state.ts';
import { formatInstant } from '../../lib/clock.ts';
import { snakeCase } from '../../lib/snake-case.ts';

export type EvidenceView = View<typeof EvidenceSchema>;

export function viewEvidence({ runs, figures }: Evidence): EvidenceView {
  return {
    runs: runs.map(({ at, sha, branch, uploadId, job, prNumber }) => ({
      at: formatInstant(at),
      sha,
      branch,
      upload_id: uploadId,
      ...(job === '' ? {} : { job }),
      ...(prNumber === null ? {} : { pr_number: prNumber }),
    })),
    figures: Object.entries(figures).map(([name, value]) => ({ name: snakeCase(name), value })),
  };
}
