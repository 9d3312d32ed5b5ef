import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PrNumber } from '../../src/engine/model/pull-request.ts';
import type { ForgeRepository } from '../../src/forge/forge.ts';
import { githubConnection } from '../../src/forge/github/api/connection.ts';
import { createGithubForge, type GithubForge } from '../../src/forge/github/create-github-forge.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { orGit } from '../fake/git-files/object-files.ts';
import { createFakeGithub, type FakeGithub, type FakeGithubOptions } from '../fake/github/fake-github.ts';
import type { PullRequest, Repository } from '../fake/github/model.ts';
import { closePullRequest } from '../fake/github/pull-request-state.ts';
import { catchUp } from '../fake/github/refs.ts';
import { createRepository, forkRepository } from '../fake/github/repositories.ts';
import { inTurn } from '../fake/github/world.ts';
import { silentLog } from '../helpers/silent-log.ts';
import type { Change, GitWorld } from './forge.ts';
import type { StackWorld } from './forge-stacks.ts';
import { commitChange, parseRevisionArgs, runGit } from './plain-repository.ts';

/** A repository at the fake GitHub, with pull requests from a fork. */
export interface GithubWorld extends GitWorld, StackWorld {
  readonly fake: FakeGithub;
  readonly forge: GithubForge;
  readonly app: Repository;
}

/** A GitHub where the app is installed for `acme`. */
export async function createGithub(options?: FakeGithubOptions): Promise<FakeGithub> {
  const fake = await createFakeGithub(options);
  fake.install(fake.app, 'acme');
  return fake;
}

/** Creates a repository on a shared GitHub, or on one that is closed with the world. */
export async function createGithubWorld(shared?: FakeGithub, options?: FakeGithubOptions): Promise<GithubWorld> {
  const fake = shared ?? (await createGithub(options));
  const folder = await mkdtemp(join(tmpdir(), 'sluice-github-'));
  const app = await createRepository(fake.world, `acme/app-${randomUUID()}`);
  const fork = await forkRepository(fake.world, app, 'ada');
  // As on GitHub, a fork shares the objects of its repository.
  await writeFile(join(fork.gitDir, 'objects', 'info', 'alternates'), `${join(app.gitDir, 'objects')}\n`);
  const auth = { kind: 'app', appId: String(fake.app.id), privateKey: fake.privateKey } as const;
  const connection = githubConnection({ host: 'github.test', auth, apiUrl: fake.url, webUrl: fake.url });
  const createForge: GitWorld['createForge'] = ({ directory = join(folder, 'mirrors'), ...more } = {}) =>
    createGithubForge({ connection, clock: systemClock, log: silentLog, directory, paceMs: 0, ...more });
  const forge = createForge() as GithubForge;
  const repository: ForgeRepository = {
    id: 'app',
    host: 'github.test',
    owner: 'acme',
    name: app.name,
    git: undefined,
    checks: [],
  };
  const git = (args: readonly string[], input?: string | Buffer) =>
    orGit(
      () => parseRevisionArgs(app.gitDir, args),
      () => runGit(app.gitDir, args, input),
    );
  const write = (target: Repository, args: readonly string[], input?: Buffer) =>
    inTurn(target, async () => {
      await runGit(target.gitDir, args, input);
      await catchUp(fake.world, target, fake.user('ada'));
    });
  const commitTo = (target: Repository, ref: string, from: string | undefined, change: Change) =>
    inTurn(target, async () => {
      const sha = await commitChange(target.gitDir, ref, from, change);
      await catchUp(fake.world, target, fake.user('ada'));
      return sha;
    });
  const getPullRequest = (number: PrNumber) => app.pulls.get(number) as PullRequest;

  return {
    fake,
    forge,
    app,
    repository,
    folder,
    path: app.gitDir,
    git,
    createForge,
    commitTo: (ref, from, change) => commitTo(app, ref, from, change),
    commit: (branch, change) => {
      const ref = `refs/heads/${branch}`;
      return commitTo(app, ref, app.refs.get(ref), change);
    },
    openPullRequest: async (branch, change) => {
      const headRef = `change-${randomUUID()}`;
      const from = app.refs.get(`refs/heads/${branch}`);
      const headSha = await commitTo(fork, `refs/heads/${headRef}`, from, change);
      const { number } = await fake.openPullRequest(app, {
        ...wordsOf(change),
        from: fork,
        branch: headRef,
        base: branch,
        author: change.author || 'Ada',
      });
      return { number: number as PrNumber, headSha };
    },
    pushToPullRequest: async (number, change) => {
      const { headRef, headSha } = getPullRequest(number);
      return commitTo(fork, `refs/heads/${headRef}`, headSha, change);
    },
    pushFromClone: async (number, clone) => {
      const { headRef } = getPullRequest(number);
      await runGit(clone, ['push', '--quiet', fork.gitDir, `HEAD:refs/heads/${headRef}`]);
      await inTurn(fork, () => catchUp(fake.world, fork, fake.user('ada')));
    },
    closePullRequest: async (number) => closePullRequest(fake.world, getPullRequest(number), fake.user('ada')),
    landPullRequest: (number, branch) => write(app, ['update-ref', `refs/heads/${branch}`, `refs/pull/${number}/head`]),
    createBranch: (branch, sha) => write(app, ['update-ref', `refs/heads/${branch}`, sha]),
    deleteBranch: (branch) => write(app, ['update-ref', '-d', `refs/heads/${branch}`]),
    openFrom: async (branch, base, body) => {
      const { number } = await fake.openPullRequest(app, { branch, base, body: body ?? '', author: 'Ada' });
      return number as PrNumber;
    },
    makeDraft: async (number) => fake.convertToDraft(getPullRequest(number)),
    review: async (number, login, state) => {
      fake.setPermission(app, login, login === 'eve' ? 'write' : 'read');
      fake.review(getPullRequest(number), login, state === 'APPROVED' ? state : 'CHANGES_REQUESTED');
    },
    protect: async (branch, count) => {
      fake.protect(app, branch, { reviews: { count, dismissesStale: false, needsCodeOwners: false } });
      forge.hosting.forget('acme');
    },
    breakRepository: async () => {
      const repair = fake.faults.always('*', { kind: 'error', status: 503, when: 'before' });
      return async () => repair();
    },
    close: async () => {
      await forge.close();
      if (shared === undefined) await fake.close();
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** A pull request takes its title and body from the commit message. */
function wordsOf({ message = 'Change something' }: Change): { readonly title: string; readonly body: string } {
  const [title = '', ...body] = message.toString().split('\n');
  return { title: title || 'Change something', body: body.join('\n').trim() };
}
