import type { Commit } from '../../hosted/git.ts';
import { checksOf, latestOf, latestStatuses, suiteStatus } from '../checks.ts';
import type { CheckRun, CheckSuite, CommitStatus, Repository, World } from '../model.ts';
import { openPullRequests } from '../refs.ts';
import { fullNameOf } from '../world.ts';
import { minimalRepositoryView } from './repository-view.ts';
import { maybeTime, timeView } from './time.ts';
import { appView, userView } from './user-view.ts';

export function checkView(world: World, repository: Repository, check: CheckRun) {
  const { suite } = check;
  const api = `${world.url}/repos/${fullNameOf(repository)}/check-runs/${check.id}`;
  const page = `${world.url}/${fullNameOf(repository)}/runs/${check.id}`;
  return {
    id: check.id,
    name: check.name,
    node_id: check.nodeId,
    head_sha: suite.sha,
    external_id: check.externalId,
    url: api,
    html_url: page,
    details_url: check.detailsUrl ?? page,
    status: check.status,
    conclusion: check.conclusion ?? null,
    started_at: maybeTime(check.startedAt),
    completed_at: maybeTime(check.completedAt),
    output: {
      title: check.title ?? null,
      summary: check.summary ?? null,
      text: check.text ?? null,
      annotations_count: 0,
      annotations_url: `${api}/annotations`,
    },
    check_suite: { id: suite.id },
    app: appView(world, suite.app),
    pull_requests: pullsAt(world, repository, suite.sha),
  };
}

export function suiteView(world: World, repository: Repository, suite: CheckSuite, commit: Commit | undefined) {
  const api = `${world.url}/repos/${fullNameOf(repository)}/check-suites/${suite.id}`;
  const { status, conclusion } = suiteStatus(repository, suite);
  return {
    id: suite.id,
    node_id: suite.nodeId,
    head_branch: suite.branch ?? null,
    head_sha: suite.sha,
    status,
    conclusion: conclusion ?? null,
    url: api,
    before: null,
    after: suite.sha,
    pull_requests: pullsAt(world, repository, suite.sha),
    app: appView(world, suite.app),
    repository: minimalRepositoryView(world, repository),
    created_at: timeView(suite.createdAt),
    updated_at: timeView(suite.updatedAt),
    head_commit: simpleCommitView(suite.sha, commit),
    latest_check_runs_count: latestOf(checksOf(repository, suite.sha).filter((check) => check.suite === suite)).length,
    check_runs_url: `${api}/check-runs`,
  };
}

/** Only pull requests of this repository: like GitHub, forks are not listed. */
export function pullsAt(world: World, repository: Repository, sha: string) {
  return openPullRequests(repository)
    .filter(({ headSha, headRepository }) => headSha === sha && headRepository === repository)
    .map((pr) => {
      const api = `${world.url}/repos/${fullNameOf(repository)}`;
      const repo = { id: repository.id, url: api, name: repository.name };
      return {
        url: `${api}/pulls/${pr.number}`,
        id: pr.id,
        number: pr.number,
        head: { ref: pr.headRef, sha: pr.headSha, repo },
        base: { ref: pr.baseRef, sha: pr.baseSha, repo },
      };
    });
}

export function simpleCommitView(sha: string, commit: Commit | undefined) {
  const nobody = { name: 'Nobody', email: 'nobody@example.test', at: 0 };
  const { tree, message, author, committer } = commit ?? { tree: sha, message: '', author: nobody, committer: nobody };
  return {
    id: sha,
    tree_id: tree,
    message,
    timestamp: timeView(committer.at),
    author: { name: author.name, email: author.email },
    committer: { name: committer.name, email: committer.email },
  };
}

export function statusView(world: World, repository: Repository, status: CommitStatus) {
  return {
    url: `${world.url}/repos/${fullNameOf(repository)}/statuses/${status.sha}`,
    avatar_url: `${world.url}/avatars/u/${status.creator.id}`,
    id: status.id,
    node_id: status.nodeId,
    state: status.state,
    description: status.description ?? null,
    target_url: status.targetUrl ?? null,
    context: status.context,
    created_at: timeView(status.at),
    updated_at: timeView(status.at),
  };
}

export function fullStatusView(world: World, repository: Repository, status: CommitStatus) {
  return { ...statusView(world, repository, status), creator: userView(world, status.creator) };
}

export function combinedStatusView(world: World, repository: Repository, sha: string) {
  const statuses = latestStatuses(repository, sha);
  const api = `${world.url}/repos/${fullNameOf(repository)}/commits/${sha}`;
  return {
    state: combine(statuses),
    statuses: statuses.map((status) => statusView(world, repository, status)),
    sha,
    total_count: statuses.length,
    repository: minimalRepositoryView(world, repository),
    commit_url: api,
    url: `${api}/status`,
  };
}

function combine(statuses: readonly CommitStatus[]): string {
  if (statuses.some(({ state }) => state === 'failure' || state === 'error')) return 'failure';
  return statuses.length === 0 || statuses.some(({ state }) => state === 'pending') ? 'pending' : 'success';
}
