import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PrNumber } from '../../src/engine/model/pull-request.ts';
import type { ForgeRepository } from '../../src/forge/forge.ts';
import { createGitlabForge, type GitlabForge } from '../../src/forge/gitlab/create-gitlab-forge.ts';
import { systemClock } from '../../src/lib/clock.ts';
import type { Sha } from '../../src/lib/sha.ts';
import { orGit } from '../fake/git-files/object-files.ts';
import { createFakeGitlab, type FakeGitlab } from '../fake/gitlab/fake-gitlab.ts';
import { branchHead, LEVEL, type MergeRequest, type Project } from '../fake/gitlab/model.ts';
import { readStatus, setState } from '../fake/gitlab/pushes.ts';
import { openRequest } from '../fake/gitlab/request-routes.ts';
import { silentLog } from '../helpers/silent-log.ts';
import type { Change, GitWorld } from './forge.ts';
import type { StackWorld } from './forge-stacks.ts';
import { commitChange, parseRevisionArgs, runGit } from './plain-repository.ts';

/** Time flies: a settling waits for seconds. */
const startedAt = Date.now();
const hastyClock = { ...systemClock, now: () => startedAt + (Date.now() - startedAt) * 100 };

/** A project in a group of a group at a fake GitLab, with merge requests from a fork. */
export interface GitlabWorld extends GitWorld, StackWorld {
  readonly gitlab: FakeGitlab;
  readonly forge: GitlabForge;
  readonly project: Project;
  request(number: PrNumber): MergeRequest;
}

/** Creates a project on a shared GitLab, or on one that is closed with the world. */
export async function createGitlabWorld(shared?: FakeGitlab): Promise<GitlabWorld> {
  const gitlab = shared ?? (await createFakeGitlab());
  const { world } = gitlab;
  const name = `app-${randomUUID()}`;
  const bot = gitlab.addUser('project_7_bot_0a', { isBot: true });
  const [ada, root] = [gitlab.addUser('ada'), gitlab.addUser('root')];
  const members = { [bot.username]: LEVEL.maintainer, root: LEVEL.owner };
  const project = gitlab.addProject(`acme/tools/${name}`, members);
  const folder = await mkdtemp(join(tmpdir(), 'sluice-gitlab-'));
  const connection = { host: 'gitlab.test', url: gitlab.url, token: gitlab.addToken(bot), webhookSecret: 'a secret' };
  const createForge: GitWorld['createForge'] = ({ directory = join(folder, 'mirrors'), ...more } = {}) =>
    createGitlabForge({ connection, clock: hastyClock, log: silentLog, directory, ...more });
  const forge = createForge() as GitlabForge;
  const repository: ForgeRepository = {
    ...{ id: 'app', host: 'gitlab.test', owner: 'acme/tools', name, git: undefined, checks: [] },
    forgeId: String(project.id),
  };
  const path = project.gitDir;
  const git = (args: readonly string[], input?: string | Buffer) =>
    orGit(
      () => parseRevisionArgs(path, args),
      () => runGit(path, args, input),
    );
  const seen = (which: Project, user = root) => gitlab.catchUp(which, user);
  const commitTo = async (ref: string, from: string | undefined, change: Change) => {
    const sha = await commitChange(path, ref, from, change);
    await seen(project);
    return sha;
  };
  const request = (number: PrNumber) => {
    const found = project.requests.get(number);
    if (found === undefined) throw new Error(`There is no !${number}.`);
    return found;
  };
  const sourceOf = (number: PrNumber) => request(number).source ?? project;
  let fork: Project | undefined;
  const open = async (draft: Partial<Parameters<typeof openRequest>[1]> & { sourceBranch: string }) => {
    const common = { project, source: project, targetBranch: 'main', author: ada };
    const opened = await openRequest(world, { ...common, ...draft });
    // GitLab checks a new one at once.
    await readStatus(opened);
    return opened.iid as PrNumber;
  };
  return {
    ...{ gitlab, forge, project, repository, folder, path, git, createForge, commitTo, request },
    commit: (branch, change) => commitTo(`refs/heads/${branch}`, branchHead(project, branch), change),
    openPullRequest: async (branch, change) => {
      fork ??= gitlab.fork(project, ada);
      const sourceBranch = `change-${randomUUID()}`;
      const headSha = await commitChange(
        fork.gitDir,
        `refs/heads/${sourceBranch}`,
        branchHead(project, branch),
        change,
      );
      await seen(fork, ada);
      const author = gitlab.addUser(change.author || 'Ada');
      const [title = '', ...body] = (change.message ?? 'Change something').toString().split('\n');
      const words = { title: title || 'Change something', description: body.join('\n').trim() };
      return { number: await open({ source: fork, sourceBranch, targetBranch: branch, author, ...words }), headSha };
    },
    openFrom: (branch, base, description = '') =>
      open({ sourceBranch: branch, targetBranch: base, title: 'Change something', description }),
    makeDraft: async (number) => {
      request(number).title = 'Draft: Change something';
    },
    review: async (number, _login, event) => {
      // Reviews count on a paid GitLab alone, which tells them so.
      const isApproved = event === 'APPROVED' && _login === 'eve';
      request(number).forced = isApproved
        ? undefined
        : event === 'APPROVED'
          ? request(number).forced
          : 'requested_changes';
    },
    protect: async (_branch, approvals) => {
      for (const each of project.requests.values()) if (approvals > 0) each.forced = 'not_approved';
    },
    pushToPullRequest: async (number, change) => {
      const { sourceBranch, headSha } = request(number);
      const sha = await commitChange(sourceOf(number).gitDir, `refs/heads/${sourceBranch}`, headSha, change);
      await seen(sourceOf(number), ada);
      await readStatus(request(number));
      return sha;
    },
    pushFromClone: async (number, clone) => {
      const { sourceBranch } = request(number);
      await runGit(clone, ['push', '--quiet', sourceOf(number).gitDir, `+HEAD:refs/heads/${sourceBranch}`]);
      await seen(sourceOf(number), ada);
    },
    closePullRequest: async (number) => {
      if (request(number).state === 'opened') setState(world, request(number), root, 'closed');
    },
    landPullRequest: async (number, branch) => {
      await git(['update-ref', `refs/heads/${branch}`, request(number).headSha]);
      await seen(project);
    },
    createBranch: async (branch, sha: Sha) => {
      await git(['update-ref', `refs/heads/${branch}`, sha]);
      await seen(project);
    },
    deleteBranch: async (branch) => {
      await git(['update-ref', '-d', `refs/heads/${branch}`]);
      await seen(project);
    },
    breakRepository: async () => {
      const repair = gitlab.faults.always('*', { kind: 'error', status: 503, when: 'before' });
      return async () => repair();
    },
    close: async () => {
      await forge.close();
      if (shared === undefined) await gitlab.close();
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
