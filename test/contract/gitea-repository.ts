import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PrNumber } from '../../src/engine/model/pull-request.ts';
import type { ForgeRepository } from '../../src/forge/forge.ts';
import { createGiteaForge, type GiteaForge } from '../../src/forge/gitea/create-gitea-forge.ts';
import { systemClock } from '../../src/lib/clock.ts';
import type { Sha } from '../../src/lib/sha.ts';
import { until } from '../e2e/harness.ts';
import { orGit } from '../fake/git-files/object-files.ts';
import { breakGitea, GiteaPeople, startGitea } from '../gitea/any-gitea.ts';
import { silentLog } from '../helpers/silent-log.ts';
import type { Change, GitWorld } from './forge.ts';
import type { StackWorld } from './forge-stacks.ts';
import { commitChange, parseRevisionArgs, runGit } from './plain-repository.ts';

const WAIT_MS = 30_000;

/** Time flies: the forge waits for many seconds before it believes in a conflict. */
const startedAt = Date.now();
const hastyClock = { ...systemClock, now: () => startedAt + (Date.now() - startedAt) * 100 };

/** A repository at a Gitea, real or fake, with pull requests from a fork. The bot administrates it. */
export interface GiteaWorld extends GitWorld, StackWorld {
  readonly people: GiteaPeople;
  readonly forge: GiteaForge;
  /** `acme/app-…` */
  readonly fullName: string;
}

/** A Gitea with the accounts that all worlds share. */
export async function createGitea(): Promise<GiteaPeople> {
  const people = new GiteaPeople(await startGitea());
  await people.get('root', 'POST', '/orgs', { username: 'acme' });
  for (const login of ['bot', 'ada']) await people.tokenOf(login);
  return people;
}

/** Creates a repository on a shared Gitea, or on one that is closed with the world. */
export async function createGiteaWorld(shared?: GiteaPeople): Promise<GiteaWorld> {
  const people = shared ?? (await createGitea());
  const { gitea } = people;
  const name = `app-${randomUUID()}`;
  const [fullName, fork] = [`acme/${name}`, `ada/${name}`];
  const [app, mirror] = [`/repos/${fullName}`, `/repos/${fork}`];
  await people.get('root', 'POST', '/orgs/acme/repos', { name, default_branch: 'main' });
  await people.get('root', 'PATCH', app, { allow_manual_merge: true, autodetect_manual_merge: true });
  await people.get('root', 'PUT', `${app}/collaborators/bot`, { permission: 'admin' });

  const folder = await mkdtemp(join(tmpdir(), 'sluice-gitea-'));
  const connection = {
    host: 'gitea.test',
    url: gitea.url,
    token: await people.tokenOf('bot'),
    webhookSecret: 'a secret of a hook',
  };
  const createForge: GitWorld['createForge'] = ({ directory = join(folder, 'mirrors'), ...more } = {}) =>
    createGiteaForge({ connection, clock: hastyClock, log: silentLog, directory, ...more });
  const forge = createForge() as GiteaForge;
  const repository: ForgeRepository = {
    id: 'app',
    host: 'gitea.test',
    owner: 'acme',
    name,
    git: undefined,
    checks: [],
  };
  const path = gitea.gitDirOf(fullName);
  const git = (args: readonly string[], input?: string | Buffer) =>
    orGit(
      () => parseRevisionArgs(path, args),
      () => runGit(path, args, input),
    );

  const pullRequest = (number: PrNumber) => people.get('root', 'GET', `${app}/pulls/${number}`);
  const headOf = (dir: string, ref: string) => runGit(dir, ['for-each-ref', '--format=%(objectname)', ref]);
  const wait = (what: string, isSo: () => Promise<boolean>) =>
    until(what, WAIT_MS, async () => ((await isSo()) ? true : undefined));
  /** Gitea moves pull requests and learns of branches some time after a push. */
  const settled = async (ref: string, sha: string | undefined) => {
    if ('catchUp' in gitea || !ref.startsWith('refs/heads/')) return;
    const branch = `${app}/branches/${encodeURIComponent(ref.slice('refs/heads/'.length))}`;
    await wait(`${ref} is known`, async () => (await people.ask('root', 'GET', branch)).body?.commit?.id === sha);
  };
  const commitTo = async (ref: string, from: string | undefined, change: Change) => {
    // Gitea refuses pushes to these.
    if (ref.startsWith('refs/pull/')) return commitChange(path, ref, from, change);
    const sha = await people.commit('root', fullName, ref, from, change);
    await settled(ref, sha);
    return sha;
  };
  const push = (refspec: string) => people.push('root', fullName, path, refspec);
  const followed = (number: PrNumber, sha: Sha) =>
    wait(`pull request ${number} is at ${sha}`, async () => (await headOf(path, `refs/pull/${number}/head`)) === sha);

  const open = async (author: string, draft: Readonly<Record<string, string>>) => {
    const answer = await until('the branch is known', WAIT_MS, async () => {
      const opened = await people.ask(author, 'POST', `${app}/pulls`, draft);
      return opened.status === 404 ? undefined : opened;
    });
    if (answer.status !== 201) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
    const number = answer.body.number as PrNumber;
    await wait(`pull request ${number} is checked`, async () => (await pullRequest(number)).mergeable);
    return number;
  };

  let forking: Promise<unknown> | undefined;
  /** A repository without commits cannot be forked. */
  const ensureFork = () => {
    forking ??= people
      .get('ada', 'POST', `${app}/forks`, {})
      .then(() => wait('the fork', async () => (await people.ask('ada', 'GET', mirror)).status === 200));
    return forking;
  };

  return {
    people,
    forge,
    fullName,
    repository,
    folder,
    path,
    git,
    createForge,
    commitTo,
    commit: async (branch, change) => {
      const ref = `refs/heads/${branch}`;
      return commitTo(ref, (await headOf(path, ref)) || undefined, change);
    },
    openPullRequest: async (branch, change) => {
      await ensureFork();
      const [head, author] = [`change-${randomUUID()}`, change.author || 'Ada'];
      const from = await headOf(path, `refs/heads/${branch}`);
      const headSha = await people.commit('ada', fork, `refs/heads/${head}`, from, change, fullName);
      await people.tokenOf(author);
      if (author.toLowerCase() !== 'ada')
        await people.get('root', 'PUT', `${mirror}/collaborators/${author}`, { permission: 'write' });
      const number = await open(author, { ...wordsOf(change), head: `ada:${head}`, base: branch });
      return { number, headSha };
    },
    openFrom: async (branch, base, body) => {
      await people.get('root', 'PUT', `${app}/collaborators/ada`, { permission: 'write' });
      return open('ada', { title: 'Change something', body: body ?? '', head: branch, base });
    },
    makeDraft: async (number) => {
      await people.get('ada', 'PATCH', `${app}/pulls/${number}`, { title: 'WIP: Change something' });
    },
    review: async (number, login, event) => {
      await people.tokenOf(login);
      const permission = login === 'eve' ? 'write' : 'read';
      await people.get('root', 'PUT', `${app}/collaborators/${login}`, { permission });
      await people.get(login, 'POST', `${app}/pulls/${number}/reviews`, { event, body: 'Because.' });
    },
    protect: async (branch, approvals) => {
      const rule = { rule_name: branch, required_approvals: approvals, block_on_rejected_reviews: true };
      await people.get('root', 'POST', `${app}/branch_protections`, rule);
      forge.hosting.forget('acme');
    },
    pushToPullRequest: async (number, change) => {
      const { head } = await pullRequest(number);
      const sha = await people.commit('ada', fork, `refs/heads/${head.ref}`, head.sha, change);
      await followed(number, sha);
      return sha;
    },
    pushFromClone: async (number, clone) => {
      const { head } = await pullRequest(number);
      await people.push('ada', fork, clone, `+HEAD:refs/heads/${head.ref}`);
      await followed(number, (await runGit(clone, ['rev-parse', 'HEAD'])) as Sha);
    },
    closePullRequest: async (number) => {
      const answer = await people.ask('root', 'PATCH', `${app}/pulls/${number}`, { state: 'closed' });
      // A merged one stays merged.
      if (![201, 412].includes(answer.status)) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
    },
    landPullRequest: async (number, branch) => {
      await push(`refs/pull/${number}/head:refs/heads/${branch}`);
      await wait(`pull request ${number} is merged`, async () => (await pullRequest(number)).merged);
    },
    createBranch: async (branch, sha) => {
      await push(`+${sha}:refs/heads/${branch}`);
      await settled(`refs/heads/${branch}`, sha);
    },
    deleteBranch: async (branch) => {
      const { default_branch: usual } = await people.get('root', 'GET', app);
      const other = (await runGit(path, ['for-each-ref', '--format=%(refname:short)', 'refs/heads']))
        .split('\n')
        .find((known) => known !== branch);
      // Gitea keeps its default branch, and fails while it still works on an earlier change of it.
      if (usual === branch)
        await wait('another branch is the default', async () => {
          const { status } = await people.ask('root', 'PATCH', app, { default_branch: other });
          return status < 300;
        });
      await push(`:refs/heads/${branch}`);
    },
    breakRepository: () => breakGitea(gitea),
    close: async () => {
      await forge.close();
      if (shared === undefined) await gitea.close();
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** A pull request takes its title and body from the commit message. */
function wordsOf({ message = 'Change something' }: Change): { readonly title: string; readonly body: string } {
  const [title = '', ...body] = message.toString().split('\n');
  return { title: title || 'Change something', body: body.join('\n').trim() };
}
