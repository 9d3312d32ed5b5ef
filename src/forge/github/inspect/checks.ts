import type { RequiredStatus } from '../../../engine/model/check.ts';
import { error, ok, warning } from '../../hosted/setup-finding.ts';
import type { SetupFinding } from '../../hosting.ts';
import { isNameOf, runsOn, type Workflow } from './workflow.ts';

/** A check on a recent commit of the target branch. */
export interface SeenCheck {
  readonly name: string;
  /** Undefined for a commit status. */
  readonly app: string | undefined;
  readonly appId: string | undefined;
}

export interface CheckFacts {
  readonly required: readonly RequiredStatus[];
  readonly workflows: readonly Workflow[];
  readonly seen: readonly SeenCheck[];
  readonly branch: string;
  /** An example of a test branch name. */
  readonly testBranch: string;
  readonly prefix: string;
  readonly hasDraftPullRequests: boolean;
}

// SPEC G96
export function inspectChecks(facts: CheckFacts): readonly SetupFinding[] {
  if (facts.required.length === 0) {
    const text = `No check is required for ${facts.branch} anywhere, so every pull request would fail to start. Name checks with the queue's requiredStatuses ([] if nothing should be tested), in .sluice.yaml, or in a ruleset of ${facts.branch}.`;
    return [error('NO_REQUIRED_CHECKS', text)];
  }
  const { workflows, testBranch, branch, hasDraftPullRequests } = facts;
  const pushed = new Set(workflows.filter(({ push }) => runsOn(push, testBranch)));
  const drafted = new Set(
    hasDraftPullRequests ? workflows.filter(({ pullRequest }) => runsOn(pullRequest, branch)) : [],
  );
  return facts.required.map((status) => inspectCheck({ ...facts, pushed, drafted }, status));
}

interface RunningWorkflows extends CheckFacts {
  readonly pushed: ReadonlySet<Workflow>;
  readonly drafted: ReadonlySet<Workflow>;
}

function inspectCheck(facts: RunningWorkflows, status: RequiredStatus): SetupFinding {
  const { name, app } = typeof status === 'string' ? { name: status, app: undefined } : status;
  const seen = facts.seen.filter((check) => check.name === name);
  if (app !== undefined && seen.length > 0 && !seen.some((check) => check.app === app || check.appId === app)) {
    const by = seen[0]?.app ?? 'a commit status';
    const text = `The check "${name}" must be reported by the app ${app}, and on recent commits it came from ${by}: it would be waited for in vain.`;
    return error('CHECK_OF_ANOTHER_APP', text);
  }
  const makers = facts.workflows.filter(({ jobs }) => jobs.some((job) => isNameOf(job, name)));
  return makers.length === 0 ? inspectForeign(facts, name, seen) : inspectMakers(facts, name, makers);
}

function inspectMakers(
  { prefix, branch, hasDraftPullRequests, pushed, drafted }: RunningWorkflows,
  name: string,
  makers: readonly Workflow[],
): SetupFinding {
  const running = makers.find((each) => pushed.has(each)) ?? makers.find((each) => drafted.has(each));
  const paths = makers.map(({ path }) => path).join(', ');
  if (running === undefined) {
    const how = hasDraftPullRequests
      ? `runs neither for pushes to ${prefix}/** nor for pull requests to ${branch}`
      : `does not run for pushes to ${prefix}/**`;
    const text = `The check "${name}" comes from ${paths}, which ${how}: add "${prefix}/**" to the branches of "on: push" there.`;
    return error('CHECK_NOT_ON_TEST_BRANCHES', text);
  }
  const filter = pushed.has(running) ? running.push : running.pullRequest;
  if (filter?.hasPaths) {
    const text = `The check "${name}" comes from ${running.path}, which runs only where certain paths changed: a test branch without such a change would wait for it until the timeout. Filter inside of the job instead.`;
    return warning('CHECK_FILTERED_BY_PATH', text);
  }
  return ok('CHECK', `The check "${name}" runs on test branches (${running.path}).`);
}

function inspectForeign({ prefix, branch }: CheckFacts, name: string, [seen]: readonly SeenCheck[]): SetupFinding {
  if (seen === undefined) {
    const text = `No workflow has a job named "${name}", and no recent commit of ${branch} has such a check: it would be waited for until the timeout. Check its spelling.`;
    return error('CHECK_UNKNOWN', text);
  }
  const by = seen.app === undefined ? 'a commit status' : `the app ${seen.app}`;
  const text = `The check "${name}" comes from ${by}, and not from a workflow of this repository. See to it that it also builds branches named ${prefix}/**.`;
  return warning('CHECK_FROM_ELSEWHERE', text);
}
