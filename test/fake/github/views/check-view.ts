import { latestStatuses, suiteStatus } from '../checks.ts';
import type { CheckRun, CheckSuite, CommitStatus, Repository, WorkflowRun, World } from '../model.ts';
import { openPullRequests } from '../refs.ts';
import { fullNameOf } from '../world.ts';
import { appView, maybeTime, timeView, userView } from './account-view.ts';
import { shortRepositoryView } from './repository-view.ts';

export function checkView(world: World, repository: Repository, check: CheckRun) {
  const page = `${world.url}/${fullNameOf(repository)}/runs/${check.id}`;
  return {
    id: check.id,
    name: check.name,
    node_id: check.nodeId,
    head_sha: check.suite.sha,
    external_id: check.externalId,
    html_url: page,
    details_url: check.detailsUrl ?? page,
    status: check.status,
    conclusion: check.conclusion ?? null,
    started_at: maybeTime(check.startedAt),
    completed_at: maybeTime(check.completedAt),
    output: { title: check.title ?? null, summary: check.summary ?? null, text: check.text ?? null },
    check_suite: { id: check.suite.id },
    app: appView(check.suite.app),
    pull_requests: pullsAt(repository, check.suite.sha),
  };
}

export function suiteView(repository: Repository, suite: CheckSuite) {
  const { status, conclusion } = suiteStatus(repository, suite);
  return {
    id: suite.id,
    head_branch: suite.branch ?? null,
    head_sha: suite.sha,
    status,
    conclusion: conclusion ?? null,
    after: suite.sha,
    pull_requests: pullsAt(repository, suite.sha),
    app: appView(suite.app),
  };
}

/** Only pull requests of this repository: like GitHub, forks are not listed. */
function pullsAt(repository: Repository, sha: string) {
  const repo = { id: repository.id, name: repository.name };
  return openPullRequests(repository)
    .filter(({ headSha, headRepository }) => headSha === sha && headRepository === repository)
    .map(({ id, number, headRef, headSha, baseRef, baseSha }) => ({
      id,
      number,
      head: { ref: headRef, sha: headSha, repo },
      base: { ref: baseRef, sha: baseSha, repo },
    }));
}

export function statusView(status: CommitStatus) {
  return {
    id: status.id,
    state: status.state,
    description: status.description ?? null,
    target_url: status.targetUrl ?? null,
    context: status.context,
    created_at: timeView(status.at),
    updated_at: timeView(status.at),
  };
}

export function combinedStatusView(repository: Repository, sha: string) {
  const statuses = latestStatuses(repository, sha);
  return {
    state: combine(statuses),
    statuses: statuses.map(statusView),
    sha,
    total_count: statuses.length,
    repository: shortRepositoryView(repository),
  };
}

function combine(statuses: readonly CommitStatus[]): string {
  if (statuses.some(({ state }) => state === 'failure' || state === 'error')) return 'failure';
  return statuses.length === 0 || statuses.some(({ state }) => state === 'pending') ? 'pending' : 'success';
}

export function workflowRunView(repository: Repository, run: WorkflowRun) {
  return {
    id: run.id,
    name: run.name,
    head_branch: run.headBranch,
    head_sha: run.headSha,
    event: run.event,
    status: run.status,
    conclusion: run.conclusion ?? null,
    workflow_id: run.workflowId,
    pull_requests: pullsAt(repository, run.headSha).filter(({ number }) => run.pulls.includes(number)),
    actor: userView(run.actor),
    repository: shortRepositoryView(repository),
    head_repository: shortRepositoryView(run.headRepository),
  };
}
