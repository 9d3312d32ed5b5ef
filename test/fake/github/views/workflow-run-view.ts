import type { Commit } from '../../hosted/git.ts';
import type { Repository, WorkflowRun, World } from '../model.ts';
import { fullNameOf } from '../world.ts';
import { pullsAt, simpleCommitView } from './check-view.ts';
import { minimalRepositoryView } from './repository-view.ts';
import { timeView } from './time.ts';
import { userView } from './user-view.ts';

export function workflowRunView(world: World, repository: Repository, run: WorkflowRun, commit: Commit | undefined) {
  const api = `${world.url}/repos/${fullNameOf(repository)}`;
  const self = `${api}/actions/runs/${run.id}`;
  return {
    id: run.id,
    name: run.name,
    node_id: run.nodeId,
    head_branch: run.headBranch,
    head_sha: run.headSha,
    path: run.path,
    display_title: run.name,
    run_number: run.number,
    run_attempt: run.attempt,
    event: run.event,
    status: run.status,
    conclusion: run.conclusion ?? null,
    workflow_id: run.workflowId,
    check_suite_id: run.suite.id,
    check_suite_node_id: run.suite.nodeId,
    url: self,
    html_url: `${world.url}/${fullNameOf(repository)}/actions/runs/${run.id}`,
    pull_requests: pullsAt(world, repository, run.headSha).filter(({ number }) => run.pulls.includes(number)),
    created_at: timeView(run.createdAt),
    updated_at: timeView(run.updatedAt),
    run_started_at: timeView(run.createdAt),
    actor: userView(world, run.actor),
    triggering_actor: userView(world, run.actor),
    referenced_workflows: [],
    jobs_url: `${self}/jobs`,
    logs_url: `${self}/logs`,
    check_suite_url: `${api}/check-suites/${run.suite.id}`,
    artifacts_url: `${self}/artifacts`,
    cancel_url: `${self}/cancel`,
    rerun_url: `${self}/rerun`,
    previous_attempt_url: null,
    workflow_url: `${api}/actions/workflows/${run.workflowId}`,
    head_commit: simpleCommitView(run.headSha, commit),
    repository: minimalRepositoryView(world, repository),
    head_repository: minimalRepositoryView(world, run.headRepository),
  };
}
