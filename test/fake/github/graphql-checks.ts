import { checksOf, latestStatuses, suiteStatus } from './checks.ts';
import type { Commit } from './git.ts';
import {
  actorNode,
  appNode,
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

/** Git's data is read only when a query selects it. */
export function commitNode(scope: Scope, repository: Repository, sha: string): Node {
  const read = () => readCommit(repository, sha);
  return {
    __typename: 'Commit',
    id: `C_${Buffer.from(`0:${repository.id}:${sha}`).toString('base64url')}`,
    oid: sha,
    abbreviatedOid: sha.slice(0, 7),
    url: webUrl(scope, repository, 'commit', sha),
    commitUrl: webUrl(scope, repository, 'commit', sha),
    repository: () => scope.repositoryNode(repository),
    message: async () => (await read()).message,
    messageHeadline: async () => (await read()).message.split('\n')[0],
    messageBody: async () => (await read()).message.split('\n').slice(1).join('\n').trim(),
    committedDate: async () => at((await read()).committer.at),
    authoredDate: async () => at((await read()).author.at),
    author: async () => gitActorNode((await read()).author),
    committer: async () => gitActorNode((await read()).committer),
    tree: async () => ({ __typename: 'Tree', oid: (await read()).tree }),
    parents: async (args: PageArgs) =>
      connection((await read()).parents, args, (parent) => commitNode(scope, repository, parent)),
    statusCheckRollup: () => rollupNode(scope, repository, sha),
    status: () => statusNode(scope, repository, sha),
    checkSuites: (args: PageArgs) =>
      connection(
        repository.suites.filter((suite) => suite.sha === sha),
        args,
        (suite) => checkSuiteNode(scope, repository, suite),
      ),
  };
}

function gitActorNode(person: Commit['author']): Node {
  return { name: person.name, email: person.email, date: at(person.at), user: null };
}

/** Null when no check and no status was reported. */
export function rollupNode(scope: Scope, repository: Repository, sha: string): Node | null {
  mustRead(scope, repository, 'checks', 'statuses');
  // GitHub lists superseded attempts too. The reader must find out which one counts.
  const checks = checksOf(repository, sha);
  const statuses = latestStatuses(repository, sha);
  if (checks.length + statuses.length === 0) return null;
  const nodes = [
    ...checks.map((check) => checkRunNode(scope, repository, check)),
    ...statuses.map((status) => statusContextNode(scope, repository, status)),
  ];
  return {
    id: `SCR_${sha}`,
    state: rollupState(latestInSuites(checks), statuses),
    commit: () => commitNode(scope, repository, sha),
    contexts: (args: PageArgs) => ({
      ...connection(nodes, args, (node) => node),
      checkRunCount: checks.length,
      statusContextCount: statuses.length,
    }),
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

interface RequiredArgs {
  readonly pullRequestId?: string;
  readonly pullRequestNumber?: number;
}

function isRequired(
  repository: Repository,
  { name, appId }: { name: string; appId: number | undefined },
  args: RequiredArgs,
) {
  const pr = repository.pulls
    .values()
    .find(({ number, nodeId }) => number === args.pullRequestNumber || nodeId === args.pullRequestId);
  if (pr === undefined) throw new Error('A pull request ID or pull request number is required.');
  return requiredChecksOf(repository, pr.baseRef).some(
    (required) => required.context === name && (required.appId === undefined || required.appId === appId),
  );
}

export function checkRunNode(scope: Scope, repository: Repository, check: CheckRun): Node {
  const { app } = check.suite;
  return {
    __typename: 'CheckRun',
    id: check.nodeId,
    databaseId: narrow(check.id),
    name: check.name,
    externalId: check.externalId,
    status: check.status.toUpperCase(),
    conclusion: check.conclusion?.toUpperCase() ?? null,
    startedAt: at(check.startedAt),
    completedAt: at(check.completedAt),
    detailsUrl: check.detailsUrl ?? null,
    url: webUrl(scope, repository, 'runs', check.id),
    permalink: webUrl(scope, repository, 'runs', check.id),
    title: check.title ?? null,
    summary: check.summary ?? null,
    text: check.text ?? null,
    repository: () => scope.repositoryNode(repository),
    checkSuite: () => checkSuiteNode(scope, repository, check.suite),
    isRequired: (args: RequiredArgs) => isRequired(repository, { name: check.name, appId: app.id }, args),
  };
}

export function checkSuiteNode(scope: Scope, repository: Repository, suite: CheckSuite): Node {
  const checks = repository.checks.filter((check) => check.suite === suite);
  const { status, conclusion } = suiteStatus(repository, suite);
  return {
    __typename: 'CheckSuite',
    id: suite.nodeId,
    databaseId: narrow(suite.id),
    app: () => appNode(suite.app),
    status: status.toUpperCase(),
    conclusion: conclusion?.toUpperCase() ?? null,
    createdAt: at(suite.createdAt),
    updatedAt: at(suite.updatedAt),
    commit: () => commitNode(scope, repository, suite.sha),
    repository: () => scope.repositoryNode(repository),
    workflowRun: () => workflowRunNode(scope, repository, suite),
    checkRuns: (args: PageArgs) => connection(checks, args, (check) => checkRunNode(scope, repository, check)),
  };
}

function workflowRunNode(scope: Scope, repository: Repository, suite: CheckSuite): Node | null {
  const run = repository.runs.find((candidate) => candidate.suite === suite);
  if (run === undefined) return null;
  return {
    __typename: 'WorkflowRun',
    id: run.nodeId,
    databaseId: narrow(run.id),
    event: run.event,
    runNumber: run.number,
    url: webUrl(scope, repository, 'actions', 'runs', run.id),
    createdAt: at(run.createdAt),
    updatedAt: at(run.updatedAt),
    workflow: { __typename: 'Workflow', id: `W_${run.workflowId}`, databaseId: run.workflowId, name: run.name },
  };
}

function statusContextNode(scope: Scope, repository: Repository, status: CommitStatus): Node {
  return {
    __typename: 'StatusContext',
    id: status.nodeId,
    context: status.context,
    state: status.state.toUpperCase(),
    description: status.description ?? null,
    targetUrl: status.targetUrl ?? null,
    createdAt: at(status.at),
    creator: () => actorNode(status.creator),
    commit: () => commitNode(scope, repository, status.sha),
    isRequired: (args: RequiredArgs) => isRequired(repository, { name: status.context, appId: status.app?.id }, args),
  };
}

function statusNode(scope: Scope, repository: Repository, sha: string): Node | null {
  const statuses = latestStatuses(repository, sha);
  if (statuses.length === 0) return null;
  return {
    id: `S_${sha}`,
    state: rollupState([], statuses),
    contexts: () => statuses.map((status) => statusContextNode(scope, repository, status)),
  };
}
