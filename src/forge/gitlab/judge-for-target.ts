import { judgementIn, notReady } from '../hosted/readiness.ts';
import type { TargetJudgement, TargetQuestion } from '../hosting.ts';
import { factsOf, findRequest, type GitlabTools, statusOf } from './facts.ts';
import { readinessElsewhere } from './merge-status.ts';

/** GitLab's own word counts as far as it is not about the base. */
// SPEC G188
export async function judgeForTarget({ client }: GitlabTools, question: TargetQuestion): Promise<TargetJudgement> {
  const { repository, number, targetBranch } = question;
  const request = await findRequest(client, repository, number);
  if (request === undefined || request.state !== 'opened') return notReady('closed');
  if (request.target_branch === targetBranch) return judgementIn(factsOf(request), targetBranch);
  if (statusOf(request) === 'draft') return notReady('draft');
  return readinessElsewhere(request.detailed_merge_status);
}
