/** Reasons to take an upload as evidence for nothing. Its runs are still stored, shown and counted in figures. */
export const EVIDENCE_FLAWS = ['FORK', 'UNKNOWN_COMMIT', 'OUTAGE', 'IGNORED'] as const;
export type EvidenceFlaw = (typeof EVIDENCE_FLAWS)[number];

/** STATUSES: its runs feed monitors. A report excuses no failure, because code under test writes it. */
export const EVIDENCE_WORTHS = ['NOTHING', 'STATUSES'] as const;

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
