import { lendCommit } from '../git-files/commit-files.ts';
import { orGit } from '../git-files/object-files.ts';
import { writeRefFiles } from '../git-files/ref-files.ts';
import { gitLines, isAncestor, listShas, readRefs, runGit } from '../hosted/git.ts';
import type { PullRequest, Repository, User, World } from './model.ts';
import { closePullRequest, markMerged } from './pull-request-state.ts';

export const ZEROS = '0'.repeat(40);
const MAX_TAGS = 3;

export interface RefChange {
  readonly ref: string;
  /** Zeros when the ref did not exist before, or was deleted. */
  readonly before: string;
  readonly after: string;
  /** `before` is known to be an ancestor of `after`. */
  readonly isForward?: boolean;
}

export function branchHead(repository: Repository, branch: string): string | undefined {
  return repository.refs.get(`refs/heads/${branch}`);
}

/** Moves all refs or none, with the consequences for pull requests. */
export async function moveRefs(
  world: World,
  repository: Repository,
  sender: User,
  wanted: readonly (Pick<RefChange, 'ref' | 'isForward'> & { readonly after: string | undefined })[],
): Promise<void> {
  const changes = wanted.map(({ ref, after, isForward = false }) => ({
    ref,
    isForward,
    before: repository.refs.get(ref) ?? ZEROS,
    after: after ?? ZEROS,
  }));
  await writeRefs(repository, changes);
  await followRefs(world, repository, sender, changes);
}

/** Writes refs in git only, for refs that the server alone owns. */
export async function writeRefs(repository: Repository, changes: readonly RefChange[]): Promise<void> {
  const lines = changes.map(({ ref, before, after }) =>
    after === ZEROS ? `delete ${ref} ${before}` : `update ${ref} ${after}${isOwn(ref) ? '' : ` ${before}`}`,
  );
  const writes = changes.map(({ ref, before, after }) => ({
    ref,
    after: after === ZEROS ? undefined : after,
    before: isOwn(ref) ? undefined : before === ZEROS ? null : before,
  }));
  await orGit<unknown>(
    () => writeRefFiles(repository.gitDir, writes),
    () => runGit(repository.gitDir, ['update-ref', '--stdin'], { input: `${lines.join('\n')}\n` }),
  );
  for (const { ref, after } of changes) {
    if (after === ZEROS) repository.refs.delete(ref);
    else repository.refs.set(ref, after);
  }
}

/** Clients cannot push these refs, so they do not wait for pushes. */
function isOwn(ref: string): boolean {
  return ref.startsWith('refs/pull/');
}

/** After git wrote refs itself, finds the changes and applies their consequences. */
export async function catchUp(world: World, repository: Repository, sender: User): Promise<void> {
  const found = await readRefs(repository.gitDir);
  const changes: RefChange[] = [];
  for (const ref of new Set([...found.keys(), ...repository.refs.keys()])) {
    if (isOwn(ref)) continue;
    const before = repository.refs.get(ref) ?? ZEROS;
    const after = found.get(ref) ?? ZEROS;
    if (before === after) continue;
    changes.push({ ref, before, after });
    if (after === ZEROS) repository.refs.delete(ref);
    else repository.refs.set(ref, after);
  }
  await followRefs(world, repository, sender, changes);
}

async function followRefs(
  world: World,
  repository: Repository,
  sender: User,
  changes: readonly RefChange[],
): Promise<void> {
  if (changes.length > 0) repository.updatedAt = world.now();
  const tags = changes.filter(({ ref }) => ref.startsWith('refs/tags/')).length;
  for (const change of changes) {
    const { ref, before, after, isForward } = change;
    // GitHub sends no webhook when many tags are pushed at once.
    if (ref.startsWith('refs/tags/') ? tags > MAX_TAGS : !ref.startsWith('refs/heads/')) continue;
    const isForced =
      before !== ZEROS &&
      after !== ZEROS &&
      isForward !== true &&
      !(await isAncestor(repository.gitDir, before, after));
    world.announce({ event: 'push', repository, sender, ref, before, after, isForced });
    if (!ref.startsWith('refs/heads/')) continue;
    await followHeads(world, repository, sender, change);
    await followBases(world, repository, sender, change);
  }
}

/** Updates pull requests from this branch, here and in the parent repository. */
async function followHeads(world: World, repository: Repository, sender: User, change: RefChange): Promise<void> {
  const branch = change.ref.slice('refs/heads/'.length);
  for (const target of world.repositories.values())
    for (const pr of openPullRequests(target))
      if (pr.headRepository === repository && pr.headRef === branch) await followHead(world, pr, sender, change);
}

async function followHead(world: World, pr: PullRequest, sender: User, { after }: RefChange): Promise<void> {
  if (after === ZEROS) return closePullRequest(world, pr, sender);
  const before = pr.headSha;
  if (before === after) return;
  await keepHead(pr, after);
  pr.headSha = after;
  pr.updatedAt = world.now();
  const base = branchHead(pr.repository, pr.baseRef);
  pr.baseSha = base ?? pr.baseSha;
  world.announce({
    event: 'pull_request',
    action: 'synchronize',
    repository: pr.repository,
    sender,
    pr,
    before,
    after,
  });
  if (base !== undefined && (await isAncestor(pr.repository.gitDir, after, base))) closePullRequest(world, pr, sender);
}

/** `refs/pull/N/head` keeps the commit after the branch or the fork was deleted. */
export async function keepHead({ repository, headRepository, number }: PullRequest, after: string): Promise<void> {
  const ref = `refs/pull/${number}/head`;
  if (headRepository !== undefined && headRepository !== repository)
    await orGit<unknown>(
      () => lendCommit(headRepository.gitDir, repository.gitDir, after),
      () => runGit(repository.gitDir, ['fetch', '--quiet', '--no-tags', headRepository.gitDir, after]),
    );
  await writeRefs(repository, [{ ref, before: repository.refs.get(ref) ?? ZEROS, after }]);
}

async function followBases(world: World, repository: Repository, sender: User, change: RefChange): Promise<void> {
  const branch = change.ref.slice('refs/heads/'.length);
  const pulls = openPullRequests(repository).filter(({ baseRef }) => baseRef === branch);
  if (pulls.length === 0 || change.before === ZEROS) return;
  if (change.after === ZEROS) {
    for (const pr of pulls) closePullRequest(world, pr, sender);
    return;
  }
  const fresh = new Set(await listShas(repository.gitDir, change.before, change.after));
  for (const pr of pulls) {
    if (!fresh.has(pr.headSha) || pr.isMerging) continue;
    markMerged(world, pr, sender, await findLandedAs(pr, change));
  }
}

/** The first-parent commit of the branch that brought in the head. */
async function findLandedAs({ repository, headSha }: PullRequest, { before, after }: RefChange): Promise<string> {
  const args = ['rev-list', '--first-parent', '--reverse', after, `^${before}`];
  for (const sha of await gitLines(repository.gitDir, args))
    if (await isAncestor(repository.gitDir, headSha, sha)) return sha;
  return headSha;
}

export function openPullRequests({ pulls }: Repository): readonly PullRequest[] {
  return [...pulls.values()].filter(({ state }) => state === 'open');
}
