import { Fault } from '../../lib/fault.ts';
import type { Refusal } from '../candidate/candidate-refs.ts';
import type { PublishRequest } from '../forge.ts';
import type { GithubClient } from './api/client.ts';
import { bareText } from './api/unavailable.ts';

export interface DraftRequest extends Pick<PublishRequest, 'repository' | 'targetBranch' | 'prNumber'> {
  readonly branch: string;
  readonly body: string;
}

/**
 * Opens a draft pull request for a test branch. Idempotent: GitHub allows one per branch and base, and refuses a second
 * with "already exists". Answers the refusal, or undefined on success.
 */
// SPEC G6
export async function ensureDraft(client: GithubClient, request: DraftRequest): Promise<Refusal | undefined> {
  const { repository, branch, body, targetBranch } = request;
  const { status, data } = await client.request<ProblemData>({
    repository,
    route: 'POST /repos/{owner}/{repo}/pulls',
    parameters: { title: titleOf(request), head: branch, base: targetBranch, body, draft: true },
    urgency: 'land',
    accept: [422],
  });
  if (status !== 422) return undefined;
  const sentences = sentencesOf(data);
  if (/already exists/i.test(sentences)) return undefined;
  const detail = `GitHub does not open a draft pull request for the test branch: ${bareText(sentences)}`;
  if (/draft/i.test(sentences)) return { reason: 'START_TEST_RUN_DRAFT_PRS_NOT_ALLOWED', detail };
  // GitHub may not see a branch that was pushed a moment ago.
  throw new Fault('FORGE_UNAVAILABLE', detail);
}

interface ProblemData {
  readonly message?: string;
  readonly errors?: readonly (
    | string
    | { readonly message?: string; readonly field?: string; readonly code?: string }
  )[];
}

// SPEC G146
function sentencesOf({ message = '', errors = [] }: ProblemData): string {
  const details = errors.map((error) =>
    typeof error === 'string' ? error : (error.message ?? `${error.field ?? ''} ${error.code ?? ''}`.trim()),
  );
  return [message, ...details].filter((text) => text !== '').join(': ');
}

function titleOf({ prNumber, targetBranch }: DraftRequest): string {
  const subject = prNumber === undefined ? `the head of ${targetBranch}` : `pull request #${prNumber}`;
  return `Test of ${subject}: not to be merged`;
}
