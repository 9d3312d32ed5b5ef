import { present } from '../../lib/present.ts';
import { parseRepo } from '../core/arguments.ts';
import { findCheckout } from '../core/checkout.ts';
import type { Given } from '../core/command.ts';
import type { Context } from '../core/context.ts';
import { usageError } from '../core/exit.ts';
import type { AnswerOf, BodyOf } from '../core/operations.ts';
import { findRepo } from '../core/place.ts';
import { findTested } from '../upload/upload-facts.ts';

export type RunInfo = AnswerOf<'getTestRunInfo'>;

export const RUN_TAKES = {
  '-R, --repo <repo>': ['The repository. Default: a git remote of this folder that the server knows.', parseRepo],
  '--branch <branch>': 'The branch that is tested. Default: that of the environment of CI, then of git.',
  '--sha <commit>': 'The commit that is tested. Default: likewise, if the branch is no test branch.',
} as const;

export type GivenRun = Given<typeof RUN_TAKES>;

/** The last part of a test branch is the id of the test run, whatever stands before it. */
const TEST_BRANCH = /(?:^|\/)([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})(?:-bisection)?$/i;

/** By a branch, the server needs no more. */
// SPEC W71
export async function nameRun(context: Context, { repo, ...given }: GivenRun): Promise<BodyOf<'getTestRunInfo'>> {
  const { branch, sha } = await findTested(given, { environment: process.env, findCheckout });
  const testRunId = TEST_BRANCH.exec(branch ?? '')?.[1];
  if (testRunId !== undefined && given.sha === undefined) return { testRunId, ...present({ repo }) };
  if (sha !== undefined) return { repo: repo ?? (await findRepo(context)).repo, sha };
  throw usageError(
    'Say which commit or branch is tested: --sha or --branch. Neither CI nor a git work tree here tells it.',
  );
}

/** Why its result is not wanted any more, with the code of the reason. */
export function formatEndReason({ endReason = 'it has ended', endedByPr }: RunInfo): string {
  return endedByPr === undefined ? endReason : `${endReason}, #${endedByPr}`;
}
