import { checksOf, latestStatuses } from './checks.ts';
import {
  actorNode,
  at,
  connection,
  mustRead,
  type Node,
  narrow,
  type PageArgs,
  type Scope,
  webUrl,
} from './graphql-node.ts';
import { readCommit } from './known-commits.ts';
import type { CheckRun, CheckSuite, CommitStatus, Repository } from './model.ts';
import { requiredChecksOf } from './protection.ts';
import { nodeId } from './world.ts';

/** Git's data is read only when a query selects it. */
export function commitNode(scope: Scope, repository: Repository, sha: string): Node {
  const read = () => readCommit(repository, sha);
  return {
    __typename: 'Commit',
    oid: sha,
    tree: async () => ({ oid: (await read()).tree }),
    parents: async (args: PageArgs) => connection((await read()).parents, args, (oid) => ({ oid })),
    statusCheckRollup: () => rollupNode(scope, repository, sha),
  };
}

/** Null when no check and no status was reported. */
function rollupNode(scope: Scope, repository: Repository, sha: string): Node | null {
  mustRead(scope, repository, 'checks', 'statuses');
  // GitHub lists superseded attempts too. The reader must find out which one counts.
  const checks = checksOf(repository, sha);
  const statuses = latestStatuses(repository, sha);
  if (checks.length + statuses.length === 0) return null;
  const nodes = [
    ...checks.map((check) => checkRunNode(scope, repository, check)),
    ...statuses.map((status) => statusContextNode(repository, status)),
  ];
  return {
    state: rollupState(latestInSuites(checks), statuses),
    contexts: (args: PageArgs) => connection(nodes, args, (node) => node),
  };
}

const FAILED = ['failure', 'timed_out', 'cancelled', 'action_required', 'startup_failure', 'stale'];

function rollupState(checks: readonly CheckRun[], statuses: readonly CommitStatus[]): string {
  const isFailed = checks.some(({ conclusion }) => conclusion !== undefined && FAILED.includes(conclusion));
  if (isFailed || statuses.some(({ state }) => state === 'failure')) return 'FAILURE';
  if (statuses.some(({ state }) => state === 'error')) return 'ERROR';
  const isPending = checks.some(({ status }) => status !== 'completed');
  return isPending || statuses.some(({ state }) => state === 'pending') ? 'PENDING' : 'SUCCESS';
}

/** The newest attempt of each name in a suite. */
function latestInSuites(checks: readonly CheckRun[]): readonly CheckRun[] {
  const latest = new Map<string, CheckRun>();
  for (const check of checks) latest.set(`${check.suite.id} ${check.name}`, check);
  return [...latest.values()];
}

/** Whether the pull request needs this check, of this app. */
function isRequired(repository: Repository, name: string, appId: number | undefined) {
  return ({ pullRequestNumber }: { readonly pullRequestNumber: number }) => {
    const pr = repository.pulls.get(pullRequestNumber);
    if (pr === undefined) throw new Error('A pull request ID or pull request number is required.');
    return requiredChecksOf(repository, pr.baseRef).some(
      (required) => required.context === name && (required.appId === undefined || required.appId === appId),
    );
  };
}

export function checkRunNode(scope: Scope, repository: Repository, check: CheckRun): Node {
  return {
    __typename: 'CheckRun',
    id: check.nodeId,
    databaseId: narrow(check.id),
    name: check.name,
    status: check.status.toUpperCase(),
    conclusion: check.conclusion?.toUpperCase() ?? null,
    startedAt: at(check.startedAt),
    detailsUrl: check.detailsUrl ?? null,
    url: webUrl(scope, repository, 'runs', check.id),
    title: check.title ?? null,
    checkSuite: () => checkSuiteNode(repository, check.suite),
    isRequired: isRequired(repository, check.name, check.suite.app.id),
  };
}

function checkSuiteNode(repository: Repository, suite: CheckSuite): Node {
  const { slug, id } = suite.app;
  const run = repository.runs.find((candidate) => candidate.suite === suite);
  return {
    id: nodeId('CS', suite.id),
    app: { slug, databaseId: id },
    workflowRun: run === undefined ? null : { event: run.event, workflow: { id: `W_${run.workflowId}` } },
  };
}

function statusContextNode(repository: Repository, status: CommitStatus): Node {
  return {
    __typename: 'StatusContext',
    context: status.context,
    state: status.state.toUpperCase(),
    description: status.description ?? null,
    targetUrl: status.targetUrl ?? null,
    createdAt: at(status.at),
    creator: () => actorNode(status.creator),
    isRequired: isRequired(repository, status.context, status.app?.id),
  };
}
