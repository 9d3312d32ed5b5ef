import type { App, CheckRun, CheckSuite, CommitStatus, Repository, User, World } from './model.ts';
import { nodeId } from './world.ts';

/** Like GitHub's, ids of checks exceed 32 bits. */
const CHECK_IDS = 30_000_000_000;

export function ensureSuite(world: World, repository: Repository, app: App, sha: string): CheckSuite {
  const found = repository.suites.find((suite) => suite.app === app && suite.sha === sha);
  return found ?? addSuite(world, repository, app, sha);
}

/** Each workflow has its own suite. */
export function addSuite(world: World, repository: Repository, app: App, sha: string): CheckSuite {
  const id = CHECK_IDS + world.nextId();
  const suite: CheckSuite = {
    id,
    app,
    sha,
    branch: branchAt(repository, sha),
  };
  repository.suites.push(suite);
  return suite;
}

function branchAt({ refs }: Repository, sha: string): string | undefined {
  for (const [ref, at] of refs) if (at === sha && ref.startsWith('refs/heads/')) return ref.slice(11);
  return undefined;
}

export type CheckFields = Partial<Omit<CheckRun, 'id' | 'nodeId' | 'suite'>>;

export function createCheck(
  world: World,
  repository: Repository,
  suite: CheckSuite,
  fields: CheckFields & { readonly name: string },
): CheckRun {
  const id = CHECK_IDS + world.nextId();
  const check: CheckRun = {
    id,
    nodeId: nodeId('CR', id),
    suite,
    name: fields.name,
    externalId: '',
    status: 'queued',
    conclusion: undefined,
    startedAt: world.now(),
    completedAt: undefined,
    detailsUrl: undefined,
    title: undefined,
    summary: undefined,
    text: undefined,
  };
  repository.checks.push(check);
  assign(world, check, fields);
  world.announce({ event: 'check_run', action: 'created', repository, sender: suite.app.bot, check });
  announceEnd(world, repository, check);
  return check;
}

export function updateCheck(world: World, repository: Repository, check: CheckRun, fields: CheckFields): void {
  const before = check.status;
  assign(world, check, fields);
  if (before !== 'completed' || fields.conclusion !== undefined) announceEnd(world, repository, check);
}

function assign(world: World, check: CheckRun, fields: CheckFields): void {
  Object.assign(check, fields);
  // A conclusion completes a check, and a restarted check has none.
  if (fields.conclusion !== undefined) check.status = 'completed';
  if (check.status !== 'completed') {
    check.conclusion = undefined;
    check.completedAt = undefined;
  } else check.completedAt ??= world.now();
}

function announceEnd(world: World, repository: Repository, check: CheckRun): void {
  if (check.status !== 'completed') return;
  const { suite } = check;
  world.announce({ event: 'check_run', action: 'completed', repository, sender: suite.app.bot, check });
  if (suiteStatus(repository, suite).status !== 'completed') return;
  world.announce({ event: 'check_suite', action: 'completed', repository, sender: suite.app.bot, suite });
}

/** The worst conclusion first. It becomes the suite's conclusion. */
const BY_WEIGHT = [
  'startup_failure',
  'action_required',
  'failure',
  'timed_out',
  'cancelled',
  'stale',
  'success',
  'neutral',
  'skipped',
] as const;

export function suiteStatus(repository: Repository, suite: CheckSuite): Pick<CheckRun, 'status' | 'conclusion'> {
  const checks = latestOf(repository.checks.filter((check) => check.suite === suite));
  if (checks.length === 0) return { status: 'queued', conclusion: undefined };
  if (checks.some(({ status }) => status !== 'completed')) return { status: 'in_progress', conclusion: undefined };
  const conclusion = BY_WEIGHT.find((weight) => checks.some((check) => check.conclusion === weight));
  return { status: 'completed', conclusion };
}

export function checksOf({ checks }: Repository, sha: string): readonly CheckRun[] {
  return checks.filter(({ suite }) => suite.sha === sha);
}

/** The newest of each suite and name, newest first. */
export function latestOf(checks: readonly CheckRun[]): readonly CheckRun[] {
  const latest = new Map<string, CheckRun>();
  for (const check of checks) latest.set(`${check.suite.id} ${check.name}`, check);
  return [...latest.values()].toReversed();
}

export type StatusDraft = Pick<CommitStatus, 'sha' | 'context' | 'state'> &
  Partial<Pick<CommitStatus, 'description' | 'targetUrl' | 'app'>>;

export function addStatus(world: World, repository: Repository, creator: User, draft: StatusDraft): CommitStatus {
  const status: CommitStatus = {
    id: world.nextId(),
    description: undefined,
    targetUrl: undefined,
    app: undefined,
    ...draft,
    creator,
    at: world.now(),
  };
  repository.statuses.push(status);
  world.announce({ event: 'status', repository, sender: creator, status });
  return status;
}

/** The newest of each context. */
export function latestStatuses({ statuses }: Repository, sha: string): readonly CommitStatus[] {
  const latest = new Map<string, CommitStatus>();
  for (const status of statuses) if (status.sha === sha) latest.set(status.context, status);
  return [...latest.values()];
}
