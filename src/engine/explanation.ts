import type { Instant } from '../lib/clock.ts';
import type { CandidateNumber } from './candidate.ts';

/** Why an entry is in its state, as a tree of reasons in words. */
export interface Explanation {
  readonly summary: string;
  /** From 1, among the admitted entries. */
  readonly position?: number;
  readonly next: string;
  readonly reasons: readonly ExplanationReason[];
}

export interface ExplanationReason extends About {
  readonly code: string;
  readonly text: string;
  readonly reasons: readonly ExplanationReason[];
}

interface About {
  readonly prNumber?: number;
  readonly check?: string;
  readonly testRun?: CandidateNumber;
  readonly since?: Instant;
}

export function reason(code: string, text: string, about: About = {}): ExplanationReason {
  return { code, text, ...about, reasons: [] };
}
