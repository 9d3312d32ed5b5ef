/** Why an entry changed its state. The codes are the API's; the sentences are for people. */
export type ReasonCode =
  | 'API_REQUESTED'
  | 'USER_REQUESTED'
  | 'MERGE_ITEM_NOW_READY'
  | 'MANUAL_MERGE'
  | 'PR_CLOSED'
  | 'PR_CONVERTED_TO_DRAFT'
  | 'PR_PUSHED_TO'
  | 'PR_BASE_BRANCH_CHANGED';

export interface ReasonContext {
  readonly actor: string | undefined;
  readonly branch: string;
}

/** A whole sentence for a timeline, a comment or a log line. */
export function reasonText(reason: ReasonCode, context: ReasonContext): string {
  const by = context.actor === undefined ? '' : ` by ${context.actor}`;
  switch (reason) {
    case 'API_REQUESTED':
      return `Submitted${by} over the API.`;
    case 'USER_REQUESTED':
      return `Removed from the queue${by}. Submit it again when it should be merged.`;
    case 'MERGE_ITEM_NOW_READY':
      return 'Everything it needs is there: admitted to the queue.';
    case 'MANUAL_MERGE':
      return `Merged into ${context.branch} outside the queue.`;
    case 'PR_CLOSED':
      return 'The pull request was closed. Open and submit it again to queue it.';
    case 'PR_CONVERTED_TO_DRAFT':
      return 'The pull request became a draft. Mark it ready and submit it again.';
    case 'PR_PUSHED_TO':
      return 'The pull request was pushed to after it had entered the queue. Submit it again to queue the new commits.';
    case 'PR_BASE_BRANCH_CHANGED':
      return `The pull request no longer targets ${context.branch}.`;
  }
}
