import { listNumbers, listOf } from './phrases.ts';

/** One sentence for what happens to several pull requests of one batch at once. */
export interface BatchChange {
  /** The last word of the type of the event, such as `merged`. */
  readonly word: string;
  readonly prNumbers: readonly number[];
  readonly branch: string;
  readonly reason?: string | undefined;
  readonly checks?: readonly string[] | undefined;
}

// SPEC X54
export function batchText({ word, prNumbers, branch, reason, checks = [] }: BatchChange): string {
  const those = listNumbers(prNumbers);
  const failed = checks.length === 0 ? 'failed' : `failed ${listOf(checks)}`;
  switch (word) {
    case 'submitted':
      return `${those} form a batch.`;
    case 'testing':
      return `${those} are tested together.`;
    case 'merged':
      return `${those} landed on ${branch} together.`;
    case 'pending_failure':
      return `The batch of ${those} ${failed}. Not known yet which of them caused it.`;
    case 'failed':
      return `${those} were removed from the queue for ${branch}: their batch ${failed}.`;
    case 'canceled':
      return `${those} were removed from the queue for ${branch}.`;
    default:
      return reason === 'BISECTION_REQUIRED'
        ? `The batch of ${those} ${failed}. Sluice splits it to find the pull request that caused it.`
        : `${those} are in the queue for ${branch} again.`;
  }
}
