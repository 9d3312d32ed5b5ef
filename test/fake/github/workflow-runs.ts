import { addSuite } from './checks.ts';
import type { App, Repository, User, WorkflowRun, World } from './model.ts';
import { Refused } from './refused.ts';

export interface RunDraft {
  readonly app: App;
  readonly sha: string;
  readonly branch: string;
  readonly event: string;
  readonly actor: User;
  readonly name?: string;
  /** The repository with the branch. Default: this one. */
  readonly headRepository?: Repository;
  readonly status?: WorkflowRun['status'];
}

export function startRun(world: World, repository: Repository, draft: RunDraft): WorkflowRun {
  const { app, sha, branch, event, actor, name = 'CI', headRepository = repository } = draft;
  const isFork = headRepository !== repository;
  const pulls = [...repository.pulls.values()].filter(
    (pr) => pr.headSha === sha && pr.headRepository === headRepository && !isFork,
  );
  const run: WorkflowRun = {
    id: 18_000_000_000 + world.nextId(),
    name,
    workflowId: 1_000,
    event,
    headSha: sha,
    headBranch: branch,
    headRepository,
    actor,
    status: draft.status ?? 'in_progress',
    conclusion: undefined,
    suite: addSuite(world, repository, app, sha),
    pulls: pulls.map(({ number }) => number),
  };
  repository.runs.push(run);
  world.announce({ event: 'workflow_run', action: 'requested', repository, sender: actor, run });
  return run;
}

export function cancelRun(world: World, repository: Repository, run: WorkflowRun, sender: User): void {
  if (run.status === 'completed') throw new Refused(409, 'Cannot cancel a workflow run that is completed.');
  Object.assign(run, { status: 'completed', conclusion: 'cancelled' });
  world.announce({ event: 'workflow_run', action: 'completed', repository, sender, run });
}
