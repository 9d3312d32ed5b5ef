import type { BlockReason } from '../../engine/model/pull-request.ts';
import { notReady, READY, type Readiness } from '../hosted/readiness.ts';

type Meaning = 'ready' | 'wait' | Exclude<BlockReason, 'other'> | { readonly other: string };

/**
 * Every value of `detailed_merge_status`. The queue brings the base and the pipeline itself, so those values block
 * nothing.
 */
// SPEC G182
const MEANINGS: Readonly<Record<string, Meaning>> = {
  mergeable: 'ready',
  need_rebase: 'ready',
  ci_must_pass: 'ready',
  ci_still_running: 'ready',
  unchecked: 'wait',
  checking: 'wait',
  preparing: 'wait',
  approvals_syncing: 'wait',
  conflict: 'conflict',
  draft_status: 'draft',
  not_open: 'closed',
  not_approved: 'reviewRequired',
  code_owners_approval: 'reviewRequired',
  requested_changes: 'changesRequested',
  discussions_not_resolved: { other: 'not all of its threads are resolved' },
  commits_status: { other: 'its source branch is gone or has no commits, or its target branch is gone' },
  merge_request_blocked: { other: 'it depends on a merge request that is not merged' },
  status_checks_must_pass: { other: 'an external status check of GitLab has not passed' },
  merge_time: { other: 'it may not be merged before the time that was set for it' },
  jira_association_missing: { other: 'its title or description must name a Jira issue' },
  title_regex: { other: 'its title does not have the required form' },
  locked_paths: { other: 'somebody else locked a path that it changes' },
  locked_lfs_files: { other: 'somebody else locked an LFS file that it changes' },
  security_policy_violations: { other: 'a security policy is violated' },
  security_policy_pipeline_check: { other: 'a pipeline that a security policy requires has not passed' },
};

/** An unknown value waits, and is named. */
export function readinessBy(status: string | undefined): Readiness {
  if (status === undefined) return { mergeability: 'IN_PROGRESS', blockReasons: [] };
  const meaning = Object.hasOwn(MEANINGS, status) ? MEANINGS[status] : undefined;
  if (meaning === undefined) return blockedFor(`GitLab calls it "${status.slice(0, 60)}", which Sluice does not know`);
  if (meaning === 'ready') return READY;
  if (meaning === 'wait') return { mergeability: 'IN_PROGRESS', blockReasons: [] };
  return typeof meaning === 'string' ? notReady(meaning) : blockedFor(meaning.other);
}

export function blockedFor(blockDetail: string): Readiness {
  return { ...notReady('other'), blockDetail };
}

/** Values that are about the base of a merge request, which is another branch than the target of the queue. */
const OF_BASE: readonly string[] = ['conflict', 'unchecked', 'checking', 'preparing', 'commits_status'];

/** The meaning of a value for a merge request whatever its base. */
export function readinessElsewhere(status: string | undefined): Readiness {
  return status === undefined || OF_BASE.includes(status) ? READY : readinessBy(status);
}
