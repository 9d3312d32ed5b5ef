import type { BepResult, BepSummary } from './bep.ts';
import { Unreadable } from './unreadable.ts';

export interface BazelTarget {
  readonly label: string;
  /** By the last result. */
  readonly result: 'SUCCESS' | 'FAILURE' | 'FLAKY' | 'UNSPECIFIED';
  /** The highest, from 0. */
  readonly maxAttempt: number;
  /** By the summary. */
  readonly resolvedStatus: 'Passed' | 'Failed' | 'Flaky' | null;
}

/** For all labels together: a million of the usual length. */
const MAX_LABELS_LENGTH = 50_000_000;

const FAILURES = new Set(['FAILED', 'TIMEOUT', 'INCOMPLETE', 'REMOTE_FAILURE', 'FAILED_TO_BUILD', 'TOOL_HALTED']);
const RESOLVED = new Map([
  ['PASSED', 'Passed'],
  ['FAILED', 'Failed'],
  ['FLAKY', 'Flaky'],
] as const);

// SPEC U70
export class BazelTargets {
  readonly #targets = new Map<string, BazelTarget>();
  readonly #cached = new Set<string>();
  readonly #maxLabelsLength: number;
  #labelsLength = 0;

  constructor({ maxLabelsLength = MAX_LABELS_LENGTH } = {}) {
    this.#maxLabelsLength = maxLabelsLength;
  }

  add(event: BepSummary | BepResult): void {
    if (!this.#targets.has(event.label)) this.#labelsLength += event.label.length;
    if (this.#labelsLength > this.#maxLabelsLength) throw new Unreadable('TOO_BIG', 'There are too many targets.');
    if (event.kind === 'result' && event.isCached) this.#cached.add(event.label);
    const known = this.#targets.get(event.label) ?? unknownTarget(event.label);
    this.#targets.set(event.label, event.kind === 'result' ? withResult(known, event) : withSummary(known, event));
  }

  list(): readonly BazelTarget[] {
    return [...this.#targets.values()].filter(({ label }) => !this.#cached.has(label));
  }
}

function unknownTarget(label: string): BazelTarget {
  return { label, result: 'UNSPECIFIED', maxAttempt: 0, resolvedStatus: null };
}

function withResult(target: BazelTarget, { status, attempt }: BepResult): BazelTarget {
  return { ...target, result: bazelResult(status), maxAttempt: Math.max(target.maxAttempt, attempt) };
}

function withSummary(target: BazelTarget, { status }: BepSummary): BazelTarget {
  const resolvedStatus = (RESOLVED as ReadonlyMap<string, BazelTarget['resolvedStatus']>).get(status) ?? null;
  return { ...target, resolvedStatus };
}

export function bazelResult(status: string): BazelTarget['result'] {
  if (status === 'PASSED') return 'SUCCESS';
  if (status === 'FLAKY') return 'FLAKY';
  return FAILURES.has(status) ? 'FAILURE' : 'UNSPECIFIED';
}
