import { readChanges } from '../changes.ts';
import type { Ask, Route } from '../exchange.ts';
import { readCommits } from '../git.ts';
import { mergePullRequest } from '../merge.ts';
import { askMergeability } from '../mergeability.ts';
import type { PullRequest, Repository, User } from '../model.ts';
import { closePullRequest } from '../pull-request-state.ts';
import { editPullRequest, getPullRequest, openPullRequest, reopenPullRequest, statOf } from '../pulls.ts';
import { invalid, notFound, Refused } from '../refused.ts';
import { mergeBase } from '../update-branch.ts';
import { commitView, fileView } from '../views/commit-view.ts';
import { fullPullRequestView, pullRequestView } from '../views/pull-request-view.ts';
import { findRepository, fullNameOf } from '../world.ts';
import {
  actorOf,
  type Body,
  bodyOf,
  choiceOf,
  created,
  listed,
  need,
  nothing,
  numberOf,
  ok,
  type Params,
  repositoryOf,
  requiredText,
  textOf,
} from './tools.ts';

const READ = need('pull_requests', 'read');
const WRITE = need('pull_requests', 'write');
export const OPEN = { ...WRITE, role: 'read' } as const;
const MERGE = need('contents', 'write');
const PULLS = '/repos/{owner}/{repo}/pulls';

export const pullRoutes: readonly Route[] = [
  { method: 'GET', path: PULLS, handle: listPulls },
  { method: 'POST', path: PULLS, handle: createPull },
  { method: 'GET', path: `${PULLS}/{pull_number}`, handle: getPull },
  { method: 'PATCH', path: `${PULLS}/{pull_number}`, handle: patchPull },
  { method: 'GET', path: `${PULLS}/{pull_number}/commits`, handle: listCommits },
  { method: 'GET', path: `${PULLS}/{pull_number}/merge`, handle: isMerged },
  { method: 'PUT', path: `${PULLS}/{pull_number}/merge`, handle: mergePull },
  { method: 'GET', path: `${PULLS}/{pull_number}/files`, handle: listFiles },
  { method: 'PUT', path: `${PULLS}/{pull_number}/update-branch`, handle: updateBranch },
  { method: 'GET', path: '/repos/{owner}/{repo}/commits/{commit_sha}/pulls', handle: listForCommit },
];

export function pullOf(ask: Ask, params: Params, wanted = READ): PullRequest {
  return getPullRequest(repositoryOf(ask, params, wanted), numberOf(params, 'pull_number'));
}

function listPulls(ask: Ask, params: Params) {
  const repository = repositoryOf(ask, params, READ);
  const { query } = ask;
  const state = query.get('state') ?? 'open';
  // GitHub ignores a `head` filter without an owner.
  const [, owner, branch] = /^([^:]+):(.+)$/.exec(query.get('head') ?? '') ?? [];
  const base = query.get('base');
  const sort = query.get('sort') ?? 'created';
  const weightOf = WEIGHTS[sort] ?? ((pr: PullRequest) => pr.createdAt);
  const isDown = (query.get('direction') ?? (sort === 'created' ? 'desc' : 'asc')) === 'desc';
  const found = [...repository.pulls.values()]
    .filter((pr) => state === 'all' || pr.state === state)
    .filter((pr) => owner === undefined || (isNamed(pr.headOwner, owner) && pr.headRef === branch))
    .filter((pr) => base === null || pr.baseRef === base)
    .toSorted((a, b) => (weightOf(a) - weightOf(b) || a.number - b.number) * (isDown ? -1 : 1));
  return listed(ask, found, (pr) => pullRequestView(ask.world, pr));
}

const WEIGHTS: Readonly<Record<string, (pr: PullRequest) => number>> = {
  updated: ({ updatedAt }) => updatedAt,
  popularity: ({ comments }) => comments.length,
};

function isNamed(user: User, login: string): boolean {
  return user.login.toLowerCase() === login.toLowerCase();
}

async function createPull(ask: Ask, params: Params) {
  const repository = repositoryOf(ask, params, OPEN);
  const body = bodyOf(ask);
  const { headRepository, headRef } = headOf(ask, repository, requiredText(body, 'head'));
  const pr = await openPullRequest(ask.world, repository, actorOf(ask), {
    title: requiredText(body, 'title'),
    body: textOf(body, 'body'),
    headRepository,
    headRef,
    baseRef: requiredText(body, 'base'),
    isDraft: body['draft'] === true,
  });
  return created(await fullView(ask, pr));
}

function headOf({ world }: Ask, repository: Repository, head: string) {
  const [first = '', ...rest] = head.split(':');
  if (rest.length === 0) return { headRepository: repository, headRef: head };
  const headRepository = findRepository(world, `${first}/${repository.name}`);
  if (headRepository === undefined) throw invalid({ resource: 'PullRequest', field: 'head', code: 'invalid' });
  return { headRepository, headRef: rest.join(':') };
}

async function fullView({ world, caller }: Ask, pr: PullRequest) {
  const merge = await askMergeability(world, pr);
  return fullPullRequestView(world, pr, { merge, stat: await statOf(pr), viewer: caller });
}

async function getPull(ask: Ask, params: Params) {
  return ok(await fullView(ask, pullOf(ask, params)));
}

async function patchPull(ask: Ask, params: Params) {
  const { world } = ask;
  const pr = pullOf(ask, params, WRITE);
  const body = bodyOf(ask);
  const sender = actorOf(ask);
  const edit = { title: textOf(body, 'title'), body: textOf(body, 'body'), base: textOf(body, 'base') };
  editPullRequest(world, pr, sender, edit);
  const state = choiceOf(body, 'state', ['open', 'closed']);
  if (state === 'closed') closePullRequest(world, pr, sender);
  if (state === 'open') await reopenPullRequest(world, pr, sender);
  return ok(await fullView(ask, pr));
}

async function listCommits(ask: Ask, params: Params) {
  const { repository, baseSha, headSha } = pullOf(ask, params);
  const commits = await readCommits(repository.gitDir, ['--reverse', `${baseSha}..${headSha}`]);
  return listed(ask, commits, (commit) => commitView(ask.world, repository, commit));
}

function isMerged(ask: Ask, params: Params) {
  if (pullOf(ask, params).merged === undefined) throw notFound();
  return nothing();
}

async function mergePull(ask: Ask, params: Params) {
  const pr = pullOf(ask, params, MERGE);
  const { caller, world } = ask;
  if (caller.kind === 'nobody') throw new Refused(401, 'Requires authentication');
  const sha = await mergePullRequest(world, pr, caller, mergeRequestOf(bodyOf(ask)));
  return ok({ sha, merged: true, message: 'Pull Request successfully merged' });
}

function mergeRequestOf(body: Body) {
  return {
    method: choiceOf(body, 'merge_method', ['merge', 'squash', 'rebase']) ?? 'merge',
    sha: textOf(body, 'sha'),
    title: textOf(body, 'commit_title'),
    message: textOf(body, 'commit_message'),
  };
}

async function listFiles(ask: Ask, params: Params) {
  const { repository, baseSha, headSha } = pullOf(ask, params);
  const files = await readChanges(repository.gitDir, baseSha, headSha);
  return listed(ask, files, (file) => fileView(ask.world, repository, headSha, file));
}

/** Merges the base into the head branch, after the answer. */
async function updateBranch(ask: Ask, params: Params) {
  const pr = pullOf(ask, params, WRITE);
  const expected = textOf(bodyOf(ask), 'expected_head_sha');
  await mergeBase(ask.world, pr, actorOf(ask), expected);
  const url = `${ask.world.url}/${fullNameOf(pr.repository)}/pull/${pr.number}`;
  return { status: 202, body: { message: 'Updating pull request branch.', url } };
}

function listForCommit(ask: Ask, params: Params) {
  const repository = repositoryOf(ask, params, READ);
  const sha = params['commit_sha'];
  const found = [...repository.pulls.values()].filter((pr) => pr.headSha === sha || pr.merged?.sha === sha);
  return listed(ask, found, (pr) => pullRequestView(ask.world, pr));
}
