import { readCommits } from '../hosted/git.ts';
import type { Happening } from './happening.ts';
import { findKnownCommit, statOf } from './known-commits.ts';
import type { Repository, World } from './model.ts';
import { ZEROS } from './refs.ts';
import { checkView, suiteView } from './views/check-view.ts';
import { commentView } from './views/comment-view.ts';
import { rulesetView } from './views/protection-view.ts';
import { labelView, reviewView } from './views/pull-request-view.ts';
import { repositoryView } from './views/repository-view.ts';
import { timeView } from './views/time.ts';
import { installationView, userView } from './views/user-view.ts';
import { workflowRunView } from './views/workflow-run-view.ts';
import {
  commitInPush,
  commitOfStatus,
  issueView,
  organizationView,
  protectionRuleView,
  pullRequestPayload,
  repositoryOfPush,
  shortRepositoryView,
  suiteInCheckView,
  workflowView,
} from './webhook-views.ts';

export type Payload = Readonly<Record<string, unknown>>;

type InRepository = Extract<Happening, { readonly repository: Repository }>;
type Of<Event extends Happening['event']> = Extract<Happening, { readonly event: Event }>;

/** GitHub lists at most this many commits of a push. */
const MAX_COMMITS = 20;

/** Takes the present state synchronously, even when git is read before the payload is complete. */
export function payloadOf(world: World, happening: Happening): Promise<Payload> {
  if (!('repository' in happening)) return Promise.resolve(installationPayload(world, happening));
  const { repository, sender } = happening;
  const { owner } = repository;
  const place = {
    repository: happening.event === 'push' ? repositoryOfPush(world, repository) : repositoryView(world, repository),
    ...(owner.type === 'Organization' ? { organization: organizationView(world, owner) } : {}),
    sender: userView(world, sender),
  };
  const action = 'action' in happening ? { action: happening.action } : {};
  return detailsOf(world, happening).then((details) => ({ ...action, ...details, ...place }));
}

function detailsOf(world: World, happening: InRepository): Promise<Payload> {
  switch (happening.event) {
    case 'pull_request':
      return pullRequestDetails(world, happening);
    case 'pull_request_review':
      return reviewDetails(world, happening);
    case 'issue_comment':
      return Promise.resolve(commentDetails(world, happening));
    case 'push':
      return pushDetails(world, happening);
    case 'check_run':
      return Promise.resolve(checkDetails(world, happening));
    case 'check_suite':
      return suiteDetails(world, happening);
    case 'status':
      return statusDetails(world, happening);
    case 'workflow_run':
      return workflowDetails(world, happening);
    default:
      return Promise.resolve(settingDetails(world, happening));
  }
}

async function pullRequestDetails(world: World, happening: Of<'pull_request'>): Promise<Payload> {
  const { pr, repository } = happening;
  const view = pullRequestPayload(world, pr);
  const more = {
    number: pr.number,
    ...('label' in happening ? { label: labelView(world, repository, happening.label) } : {}),
    ...('changes' in happening ? { changes: happening.changes } : {}),
    ...('before' in happening ? { before: happening.before, after: happening.after } : {}),
  };
  const { commits, additions, deletions, files } = await statOf(pr);
  return { ...more, pull_request: { ...view, commits, additions, deletions, changed_files: files } };
}

async function reviewDetails(world: World, { pr, review }: Of<'pull_request_review'>): Promise<Payload> {
  return {
    review: { ...reviewView(world, pr, review), state: review.state.toLowerCase() },
    pull_request: pullRequestPayload(world, pr),
  };
}

function commentDetails(world: World, { pr, comment, from }: Of<'issue_comment'>): Payload {
  const changes = from === undefined ? {} : { changes: { body: { from } } };
  return { ...changes, issue: issueView(world, pr), comment: commentView(world, pr, comment) };
}

async function pushDetails(world: World, happening: Of<'push'>): Promise<Payload> {
  const { repository, ref, before, after, isForced, sender } = happening;
  const page = `${world.url}/${repository.owner.login}/${repository.name}`;
  const isDeleted = after === ZEROS;
  const range = before === ZEROS ? { limit: 1 } : { without: before, limit: MAX_COMMITS };
  const facts = {
    ref,
    before,
    after,
    created: before === ZEROS,
    deleted: isDeleted,
    forced: isForced,
    base_ref: null,
    compare: `${page}/compare/${before.slice(0, 12)}...${after.slice(0, 12)}`,
    pusher: { name: sender.login, email: `${sender.id}+${sender.login}@users.noreply.github.com` },
  };
  const commits = isDeleted ? [] : await readCommits(repository.gitDir, { tip: after, ...range });
  const views = commits.map((commit) => commitInPush(page, commit));
  return { ...facts, commits: before === ZEROS ? [] : views, head_commit: views.at(-1) ?? null };
}

function checkDetails(world: World, { repository, check }: Of<'check_run'>): Payload {
  const view = checkView(world, repository, check);
  return { check_run: { ...view, check_suite: suiteInCheckView(world, repository, check.suite) } };
}

async function suiteDetails(world: World, { repository, suite }: Of<'check_suite'>): Promise<Payload> {
  const view = suiteView(world, repository, suite, undefined);
  const commit = await findKnownCommit(repository, suite.sha);
  const { head_commit } = suiteView(world, repository, suite, commit);
  return { check_suite: { ...view, before: view.before ?? ZEROS, head_commit } };
}

async function statusDetails(world: World, { repository, status }: Of<'status'>): Promise<Payload> {
  const { id, sha, context, state, description, targetUrl, creator, at } = status;
  const branches = [...repository.refs]
    .filter(([ref, head]) => head === sha && ref.startsWith('refs/heads/'))
    .map(([ref]) => ({
      name: ref.slice('refs/heads/'.length),
      commit: { sha, url: `${world.url}/repos/${repository.owner.login}/${repository.name}/commits/${sha}` },
      protected: false,
    }));
  const facts = {
    id,
    sha,
    name: `${repository.owner.login}/${repository.name}`,
    target_url: targetUrl ?? null,
    avatar_url: `${world.url}/avatars/u/${creator.id}`,
    context,
    description: description ?? null,
    state,
    branches,
    created_at: timeView(at),
    updated_at: timeView(at),
  };
  const commit = await findKnownCommit(repository, sha);
  return { ...facts, commit: commitOfStatus(world, repository, sha, commit) };
}

async function workflowDetails(world: World, { repository, run }: Of<'workflow_run'>): Promise<Payload> {
  const view = workflowRunView(world, repository, run, undefined);
  const commit = await findKnownCommit(repository, run.headSha);
  const { head_commit } = workflowRunView(world, repository, run, commit);
  return { workflow_run: { ...view, head_commit }, workflow: workflowView(world, repository, run) };
}

type Setting = Of<'branch_protection_rule' | 'repository_ruleset' | 'repository' | 'member'>;

function settingDetails(world: World, happening: Setting): Payload {
  switch (happening.event) {
    case 'branch_protection_rule': {
      const changes = happening.action === 'edited' ? { changes: {} } : {};
      return { rule: protectionRuleView(happening.repository, happening.protection), ...changes };
    }
    case 'repository_ruleset':
      return { repository_ruleset: rulesetView(world, happening.repository, happening.ruleset, { kind: 'nobody' }) };
    case 'member':
      return { member: userView(world, happening.member), changes: { role_name: { to: happening.role } } };
    case 'repository':
      return happening.from === undefined ? {} : { changes: renamed(world, happening.action, happening.from) };
  }
}

function renamed(world: World, action: string, from: string): Payload {
  if (action === 'renamed') return { repository: { name: { from } } };
  const owner = world.users.get(from.toLowerCase());
  if (owner === undefined) return {};
  if (owner.type === 'Organization') return { owner: { from: { organization: organizationView(world, owner) } } };
  return { owner: { from: { user: userView(world, owner) } } };
}

function installationPayload(world: World, happening: Of<'installation' | 'installation_repositories'>): Payload {
  const { installation, repositories, sender, action } = happening;
  const view = { ...installationView(world, installation), ...instantsOf(happening) };
  const list = repositories.map(shortRepositoryView);
  const place = { action, installation: view, sender: userView(world, sender) };
  if (happening.event === 'installation') return { ...place, repositories: list };
  return {
    ...place,
    repository_selection: view.repository_selection,
    repositories_added: action === 'added' ? list : [],
    repositories_removed: action === 'removed' ? list : [],
    requester: null,
  };
}

/** Timestamps are in seconds, except for a suspension, which has text. */
function instantsOf({ action, installation }: Of<'installation' | 'installation_repositories'>): Payload {
  if (action === 'suspend' || action === 'unsuspend') return {};
  const createdAt = Math.floor(installation.createdAt / 1000);
  return { created_at: createdAt, updated_at: createdAt };
}
