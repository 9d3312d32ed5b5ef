import type { Evidence } from '../../flaky/core/state.ts';
import { formatInstant } from '../../lib/clock.ts';
import { snakeCase } from '../../lib/snake-case.ts';

export interface EvidenceView {
  readonly runs: readonly {
    readonly at: string;
    readonly sha: string;
    readonly branch: string;
    readonly upload_id: string;
    readonly job?: string;
    readonly pr_number?: number;
  }[];
  readonly figures: readonly { readonly name: string; readonly value: number }[];
}

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
