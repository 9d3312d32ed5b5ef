/**
 * The rule for what an upload may prove. Ingestion, monitors, quarantine and the judge of a failed check share it.
 *
 * Code of a pull request can read the `upload` token of its job, and can send any results about any commit with it. So
 * such uploads feed statuses and figures, where a lie costs little, and never waive a failure. A waiver needs a proven
 * origin: the built-in runner, or a token that no job of a pull request gets. The job id in an upload proves nothing,
 * because job ids are public.
 */

/** Reasons to take an upload as evidence for nothing. Its runs are still stored, shown and counted in figures. */
export const EVIDENCE_FLAWS = ['FORK', 'UNKNOWN_COMMIT', 'OUTAGE', 'IGNORED'] as const;
export type EvidenceFlaw = (typeof EVIDENCE_FLAWS)[number];

export interface Standing {
  /** Null: its runs are evidence. */
  readonly flaw: EvidenceFlaw | null;
  /** Only the CI that runs the tests of the target branch can have sent it. */
  readonly isProven: boolean;
}

export const EVIDENCE_WORTHS = ['NOTHING', 'STATUSES', 'WAIVERS'] as const;
export type EvidenceWorth = (typeof EVIDENCE_WORTHS)[number];

/**
 * STATUSES: its runs feed monitors. WAIVERS: they may also waive a failure in a queue, where their commit may (V21).
 */
// SPEC V21
export function worthOf({ flaw, isProven }: Standing): EvidenceWorth {
  if (flaw !== null) return 'NOTHING';
  return isProven ? 'WAIVERS' : 'STATUSES';
}

// SPEC F4
export function flawOf(of: {
  readonly isFork: boolean;
  /** Null: there is no repository to ask. */
  readonly hasCommit: boolean | null;
  readonly isOutage: boolean;
}): EvidenceFlaw | null {
  if (of.isFork) return 'FORK';
  if (of.hasCommit === false) return 'UNKNOWN_COMMIT';
  return of.isOutage ? 'OUTAGE' : null;
}
