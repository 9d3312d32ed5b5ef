/**
 * What an upload may be evidence for: the one rule that ingestion, monitors, quarantine and the judge of a failed check
 * share.
 *
 * Code of a pull request can read the `upload` token of its job, and send with it whatever it likes about any commit. So
 * such uploads feed statuses and figures, where a lie costs little, and never let a failure pass: for that the origin has
 * to be proven, by the built-in runner or by a token that no job of a pull request is given. A job that an upload names is
 * no proof: everybody can read the ids of jobs.
 */

/** Why an upload is evidence for nothing; its runs are stored, shown and counted in figures. */
export const EVIDENCE_FLAWS = ['FORK', 'UNKNOWN_COMMIT', 'OUTAGE', 'IGNORED'] as const;
export type EvidenceFlaw = (typeof EVIDENCE_FLAWS)[number];

export interface Standing {
  /** Null: its runs are evidence. */
  readonly flaw: EvidenceFlaw | null;
  /** Nobody but those who run the tests of the target can have sent it. */
  readonly isProven: boolean;
}

export const EVIDENCE_WORTHS = ['NOTHING', 'STATUSES', 'WAIVERS'] as const;
export type EvidenceWorth = (typeof EVIDENCE_WORTHS)[number];

/** STATUSES: its runs feed monitors. WAIVERS: they may also excuse a failure in a queue, where their commit may (V21). */
export function worthOf({ flaw, isProven }: Standing): EvidenceWorth {
  if (flaw !== null) return 'NOTHING';
  return isProven ? 'WAIVERS' : 'STATUSES';
}

export function flawOf(of: {
  readonly isFork: boolean;
  /** Null: there is no repository that could be asked. */
  readonly hasCommit: boolean | null;
  readonly isOutage: boolean;
}): EvidenceFlaw | null {
  if (of.isFork) return 'FORK';
  if (of.hasCommit === false) return 'UNKNOWN_COMMIT';
  return of.isOutage ? 'OUTAGE' : null;
}
