import type { CheckStatus } from '../../engine/check.ts';
import type { EntryState } from '../../engine/queue.ts';
import type { CheckRunDraft } from '../../forge/hosting.ts';
import { titleOf } from './headline.ts';
import { joinLines, tame } from './markdown.ts';
import type { PageFacts } from './page-facts.ts';
import { renderSituation } from './render-comment.ts';

/** GitHub's limit is 65,535. */
const MAX_SUMMARY = 60_000;

export type CheckText = Pick<CheckRunDraft, 'name' | 'status' | 'conclusion' | 'title' | 'summary'>;

/** The state of the pull request as a check run on its head. Undefined before its admission. */
// SPEC G48
export function renderCheckRun(situation: PageFacts): CheckText | undefined {
  const { state } = situation.entry;
  const step = STEPS[state];
  if (step === undefined) return undefined;
  return {
    name: checkNameOf(situation.branch),
    ...step,
    title: tame(titleOf(situation), 250),
    summary: joinLines(renderSituation(situation).slice(1), MAX_SUMMARY, '*There is more.*').trim(),
  };
}

export function checkNameOf(branch: string): string {
  return `Sluice (${tame(branch, 200)})`;
}

interface CheckStep {
  readonly status: CheckStatus;
  readonly conclusion: CheckRunDraft['conclusion'];
}

const STEPS: { readonly [State in EntryState]: CheckStep | undefined } = {
  NOT_READY: undefined,
  PENDING: { status: 'QUEUED', conclusion: undefined },
  TESTING: { status: 'IN_PROGRESS', conclusion: undefined },
  PENDING_FAILURE: { status: 'IN_PROGRESS', conclusion: undefined },
  TESTS_PASSED: { status: 'IN_PROGRESS', conclusion: undefined },
  MERGED: { status: 'COMPLETED', conclusion: 'SUCCESS' },
  FAILED: { status: 'COMPLETED', conclusion: 'FAILURE' },
  CANCELLED: { status: 'COMPLETED', conclusion: 'CANCELLED' },
};
