import type { Ask, Route } from '../exchange.ts';
import { findCommit } from '../git.ts';
import type { Repository, WorkflowRun } from '../model.ts';
import { notFound } from '../refused.ts';
import { workflowRunView } from '../views/workflow-run-view.ts';
import { cancelRun } from '../workflow-runs.ts';
import { actorOf, need, numberOf, ok, type Params, pageOf, repositoryOf } from './tools.ts';

const READ = need('actions', 'read');
const RUNS = '/repos/{owner}/{repo}/actions/runs';

export const actionRoutes: readonly Route[] = [
  { method: 'GET', path: RUNS, handle: listRuns },
  { method: 'GET', path: `${RUNS}/{run_id}`, handle: getRun },
  { method: 'POST', path: `${RUNS}/{run_id}/cancel`, handle: cancel },
];

function runOf(repository: Repository, params: Params): WorkflowRun {
  const run = repository.runs.find(({ id }) => id === numberOf(params, 'run_id'));
  if (run === undefined) throw notFound();
  return run;
}

async function viewOf(ask: Ask, repository: Repository, run: WorkflowRun) {
  return workflowRunView(ask.world, repository, run, await findCommit(repository.gitDir, run.headSha));
}

async function listRuns(ask: Ask, params: Params) {
  const repository = repositoryOf(ask, params, READ);
  const { query } = ask;
  const isAsked = (name: string, value: string) => query.get(name) === null || query.get(name) === value;
  const found = repository.runs
    .filter((run) => isAsked('head_sha', run.headSha) && isAsked('branch', run.headBranch))
    .filter((run) => isAsked('event', run.event) && isAsked('actor', run.actor.login))
    .filter((run) => isAsked('status', run.status) || query.get('status') === run.conclusion)
    .toReversed();
  const { items, headers } = pageOf(ask, found);
  const views = await Promise.all(items.map((run) => viewOf(ask, repository, run)));
  return ok({ total_count: found.length, workflow_runs: views }, headers);
}

async function getRun(ask: Ask, params: Params) {
  const repository = repositoryOf(ask, params, READ);
  return ok(await viewOf(ask, repository, runOf(repository, params)));
}

function cancel(ask: Ask, params: Params) {
  const repository = repositoryOf(ask, params, need('actions', 'write'));
  cancelRun(ask.world, repository, runOf(repository, params), actorOf(ask));
  return { status: 202, body: {} };
}
