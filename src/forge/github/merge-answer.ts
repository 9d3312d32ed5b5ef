import { Fault } from '../../lib/fault.ts';
import type { Sha } from '../../lib/sha.ts';
import type { MergeAnswer } from '../candidate/land-one-by-one.ts';
import type { RestAnswer } from './api/client.ts';
import { messageIn } from './api/exchange.ts';

/** Right after a merge, GitHub often has not computed yet that the next pull request is mergeable. */
const TRIES_OF_NOT_MERGEABLE = 4;
const LIMIT_MS = 60_000;
const PROTECTION =
  /protected branch|rule violation|required status|status checks?\b.*\b(?:expected|required|failing|pending)|approving review|review.*required|changes? (?:have been |were )?requested|code owner|not authorized to (?:push|merge)|verified signature|must be signed|conversation|merge queue|linear history|out[- ]of[- ]date|not up to date|deployment|branch is locked/i;

/** Interprets GitHub's answer to a merge. Most reasons are only in the message. */
// SPEC G150, G151
export function readMergeAnswer({ status, data, headers }: RestAnswer<unknown>): MergeAnswer {
  const detail = messageIn(data) || `GitHub answered ${status}.`;
  if (status === 200) return readSuccess(data);
  if (status >= 500) return { kind: 'unclear', reason: 'GITHUB_API_REPEATED_SERVER_ERRORS', detail };
  if (status === 429 || (status === 403 && /rate limit|abuse detection/i.test(detail))) {
    return { kind: 'limited', waitMs: waitOf(headers), detail };
  }
  // No pull request can be merged now, so this one is not to blame.
  if (status === 401 || (status === 403 && /suspended/i.test(detail)) || status < 400) {
    throw new Fault('FORGE_UNAVAILABLE', `GitHub does not take merges now (${status}): ${detail}`);
  }
  if (status === 405) return readNotAllowed(detail);
  if (status === 409) return { kind: 'head_moved', detail };
  return refused(detail);
}

function readSuccess(data: unknown): MergeAnswer {
  const { sha, merged } = (data ?? {}) as { readonly sha?: unknown; readonly merged?: unknown };
  if (merged === true && typeof sha === 'string' && /^[0-9a-f]{40,64}$/.test(sha)) {
    return { kind: 'merged', sha: sha as Sha };
  }
  const detail = messageIn(data) || 'GitHub did not say what it merged.';
  return { kind: 'unclear', reason: 'GITHUB_API_MERGE_PR_FAILED', detail };
}

/** GitHub answers 405 to almost every refusal. */
function readNotAllowed(detail: string): MergeAnswer {
  if (/in progress/i.test(detail)) {
    return { kind: 'unclear', reason: 'GITHUB_API_MERGE_ALREADY_IN_PROGRESS', detail };
  }
  const reason = 'GITHUB_API_MERGE_PR_FAILED';
  if (/base branch was modified/i.test(detail)) return { kind: 'unclear', reason, detail };
  if (/^pull request is not mergeable\.?$/i.test(detail)) {
    return { kind: 'unclear', reason, detail, tries: TRIES_OF_NOT_MERGEABLE };
  }
  return refused(detail);
}

function refused(detail: string): MergeAnswer {
  const reason = PROTECTION.test(detail) ? 'GITHUB_API_BRANCH_PROTECTION_UNMET' : 'GITHUB_API_MERGE_PR_FAILED';
  return { kind: 'refused', reason, detail };
}

function waitOf(headers: RestAnswer<unknown>['headers']): number {
  const seconds = Number(headers['retry-after'] ?? Number.NaN);
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : LIMIT_MS;
}
