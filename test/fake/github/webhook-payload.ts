import type { Happening } from './happening.ts';
import { unknown } from './mergeability.ts';
import type { PullRequest, Repository, World } from './model.ts';
import { ZEROS } from './refs.ts';
import { installationView, timeView, userView } from './views/account-view.ts';
import { checkView, statusView, suiteView, workflowRunView } from './views/check-view.ts';
import { rulesetView } from './views/protection-view.ts';
import { commentView, fullPullRequestView, labelView, pullRequestView, reviewView } from './views/pull-request-view.ts';
import { repositoryView } from './views/repository-view.ts';
import { fullNameOf } from './world.ts';

export type Payload = Readonly<Record<string, unknown>>;

type InRepository = Extract<Happening, { readonly repository: Repository }>;
type Of<Event extends Happening['event']> = Extract<Happening, { readonly event: Event }>;

/** The fields of a webhook that mean something to Sluice. GitHub sends more. */
export function payloadOf(world: World, happening: Happening): Payload {
  const sender = userView(happening.sender);
  const action = 'action' in happening ? { action: happening.action } : {};
  if (!('repository' in happening)) return { ...action, ...installationDetails(happening), sender };
  const { owner } = happening.repository;
  const { login, id } = owner;
  return {
    ...action,
    ...detailsOf(world, happening),
    repository:
      happening.event === 'push' ? repositoryOfPush(happening.repository) : repositoryView(happening.repository),
    ...(owner.type === 'Organization' && { organization: { login, id } }),
    sender,
  };
}

function detailsOf(world: World, happening: InRepository): Payload {
  const { repository } = happening;
  switch (happening.event) {
    case 'pull_request':
      return pullRequestDetails(happening);
    case 'pull_request_review': {
      const review = { ...reviewView(happening.review), state: happening.review.state.toLowerCase() };
      return { review, pull_request: pullRequestPayload(happening.pr) };
    }
    case 'issue_comment':
      return commentDetails(happening);
    case 'push':
      return pushDetails(world, happening);
    case 'check_run': {
      const { id, head_branch, head_sha, status, conclusion, app } = suiteView(repository, happening.check.suite);
      const suite = { id, head_branch, head_sha, status, conclusion, app };
      return { check_run: { ...checkView(world, repository, happening.check), check_suite: suite } };
    }
    case 'check_suite':
      return { check_suite: suiteView(repository, happening.suite) };
    case 'status': {
      const { sha } = happening.status;
      // The description has two contradictory forms of a person.
      const person = { name: '', email: '' };
      const commit = { sha, commit: { author: person, committer: person } };
      return { ...statusView(happening.status), sha, name: fullNameOf(repository), commit };
    }
    case 'workflow_run':
      return { workflow_run: workflowRunView(repository, happening.run) };
    default:
      return settingDetails(happening);
  }
}

/** A webhook does not wait for mergeability: unknown is null. */
function pullRequestPayload(pr: PullRequest) {
  return fullPullRequestView(pr, pr.merge.headSha === pr.headSha ? pr.merge : unknown(pr, pr.baseSha));
}

function pullRequestDetails(happening: Of<'pull_request'>): Payload {
  const { pr } = happening;
  return {
    number: pr.number,
    ...('label' in happening && { label: labelView(happening.label) }),
    ...('changes' in happening && { changes: happening.changes }),
    ...('before' in happening && { before: happening.before, after: happening.after }),
    pull_request: pullRequestPayload(pr),
  };
}

/** Every pull request is also an issue. */
function commentDetails({ pr, comment, from }: Of<'issue_comment'>): Payload {
  const { id, node_id, number, title, user, labels, state, created_at, updated_at, body } = pullRequestView(pr);
  const issue = { id, node_id, number, title, user, labels, state, created_at, updated_at, body, pull_request: {} };
  return { ...(from !== undefined && { changes: { body: { from } } }), issue, comment: commentView(comment) };
}

function pushDetails(world: World, { repository, ref, before, after, isForced, sender }: Of<'push'>): Payload {
  return {
    ref,
    before,
    after,
    created: before === ZEROS,
    deleted: after === ZEROS,
    forced: isForced,
    compare: `${world.url}/${fullNameOf(repository)}/compare/${before.slice(0, 12)}...${after.slice(0, 12)}`,
    pusher: { name: sender.login },
  };
}

/** Push payloads are older than the rest of the API: the owner has a name, and some timestamps are in seconds. */
function repositoryOfPush(repository: Repository) {
  const view = repositoryView(repository);
  const seconds = (instant: number) => Math.floor(instant / 1000);
  const { createdAt, updatedAt, owner } = repository;
  const times = { created_at: seconds(createdAt), pushed_at: seconds(updatedAt) };
  return { ...view, owner: { name: owner.login, ...view.owner }, ...times };
}

type Setting = Of<'branch_protection_rule' | 'repository_ruleset' | 'repository' | 'member'>;

function settingDetails(happening: Setting): Payload {
  const { repository } = happening;
  switch (happening.event) {
    case 'branch_protection_rule': {
      const { id, pattern } = happening.protection;
      const rule = { id, repository_id: repository.id, name: pattern, created_at: timeView(repository.createdAt) };
      return { rule, ...(happening.action === 'edited' && { changes: {} }) };
    }
    case 'repository_ruleset':
      return { repository_ruleset: rulesetView(repository, happening.ruleset, { kind: 'nobody' }) };
    case 'member':
      return { member: userView(happening.member), changes: { role_name: { to: happening.role } } };
    case 'repository':
      return happening.from === undefined ? {} : { changes: { repository: { name: { from: happening.from } } } };
  }
}

function installationDetails(happening: Of<'installation' | 'installation_repositories'>): Payload {
  const { action } = happening;
  const installation = installationView(happening.installation);
  const list = happening.repositories.map((repository) => {
    const { id, nodeId, name, isPrivate } = repository;
    return { id, node_id: nodeId, name, full_name: fullNameOf(repository), private: isPrivate };
  });
  if (happening.event === 'installation') return { installation, repositories: list };
  return {
    installation,
    repository_selection: installation.repository_selection,
    repositories_added: action === 'added' ? list : [],
    repositories_removed: action === 'removed' ? list : [],
  };
}
