import { readChanges } from '../changes.ts';
import type { Ask, Route } from '../exchange.ts';
import { type Commit, findCommit, findMergeBase, readCommits } from '../git.ts';
import type { Repository } from '../model.ts';
import { branchHead } from '../refs.ts';
import { notFound, Refused } from '../refused.ts';
import { commitView, fileView, gitCommitView } from '../views/commit-view.ts';
import { fullNameOf } from '../world.ts';
import { listed, need, ok, type Params, pageOf, repositoryOf } from './tools.ts';

const READ = need('contents', 'read');
const REPO = '/repos/{owner}/{repo}';

export const commitRoutes: readonly Route[] = [
  { method: 'GET', path: `${REPO}/commits`, handle: listCommits },
  { method: 'GET', path: `${REPO}/commits/{ref}`, handle: getCommit },
  { method: 'GET', path: `${REPO}/git/commits/{commit_sha}`, handle: getGitCommit },
  { method: 'GET', path: `${REPO}/compare/{basehead}`, handle: compare },
];

/** Resolves a branch, a tag or a commit id. */
export async function findNamed(repository: Repository, name: string): Promise<Commit | undefined> {
  const known =
    branchHead(repository, name) ?? repository.refs.get(`refs/tags/${name}`) ?? repository.refs.get(`refs/${name}`);
  return findCommit(repository.gitDir, known ?? name);
}

async function listCommits(ask: Ask, params: Params) {
  const repository = repositoryOf(ask, params, READ);
  const from = await findNamed(repository, ask.query.get('sha') ?? repository.defaultBranch);
  if (from === undefined) throw notFound();
  const path = ask.query.get('path');
  const commits = await readCommits(repository.gitDir, [from.sha, ...(path === null ? [] : ['--', path])]);
  return listed(ask, commits, (commit) => commitView(ask.world, repository, commit));
}

async function getCommit(ask: Ask, params: Params) {
  const repository = repositoryOf(ask, params, READ);
  const ref = params['ref'] ?? '';
  const commit = await findNamed(repository, ref);
  if (commit === undefined) throw new Refused(422, `No commit found for SHA: ${ref}`);
  return ok(commitView(ask.world, repository, commit));
}

async function getGitCommit(ask: Ask, params: Params) {
  const repository = repositoryOf(ask, params, READ);
  const sha = params['commit_sha'] ?? '';
  const commit = /^[0-9a-f]{40}$/.test(sha) ? await findCommit(repository.gitDir, sha) : undefined;
  if (commit === undefined) throw notFound();
  return ok(gitCommitView(ask.world, repository, commit));
}

async function compare(ask: Ask, params: Params) {
  const { world } = ask;
  const repository = repositoryOf(ask, params, READ);
  const { gitDir } = repository;
  const basehead = params['basehead'] ?? '';
  const [base, head] = await Promise.all(basehead.split('...').map((name) => findNamed(repository, name)));
  const common = base === undefined || head === undefined ? undefined : await findMergeBase(gitDir, base.sha, head.sha);
  if (base === undefined || head === undefined || common === undefined) throw notFound();
  const [ahead, behind, files, [root]] = await Promise.all([
    readCommits(gitDir, ['--reverse', '--topo-order', head.sha, `^${base.sha}`]),
    readCommits(gitDir, [base.sha, `^${head.sha}`]),
    readChanges(gitDir, base.sha, head.sha),
    readCommits(gitDir, ['--no-walk', common]),
  ]);
  const page = `${world.url}/${fullNameOf(repository)}/compare/${basehead}`;
  const { items, headers } = pageOf(ask, ahead);
  return ok(
    {
      url: `${world.url}/repos/${fullNameOf(repository)}/compare/${basehead}`,
      html_url: page,
      permalink_url: `${world.url}/${fullNameOf(repository)}/compare/${base.sha}...${head.sha}`,
      diff_url: `${page}.diff`,
      patch_url: `${page}.patch`,
      base_commit: commitView(world, repository, base),
      merge_base_commit: commitView(world, repository, root ?? base),
      status: statusOf(ahead.length, behind.length),
      ahead_by: ahead.length,
      behind_by: behind.length,
      total_commits: ahead.length,
      commits: items.map((commit) => commitView(world, repository, commit)),
      files: files.map((file) => fileView(world, repository, head.sha, file)),
    },
    headers,
  );
}

function statusOf(ahead: number, behind: number): string {
  if (ahead > 0) return behind > 0 ? 'diverged' : 'ahead';
  return behind > 0 ? 'behind' : 'identical';
}
