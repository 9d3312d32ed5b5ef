import type { PrNumber } from '../../engine/pull-request.ts';
import type { CommitDraft, GitRepository, StoredCommit } from '../../git/git.ts';
import type { Instant } from '../../lib/clock.ts';
import { Fault } from '../../lib/fault.ts';
import type { Sha } from '../../lib/sha.ts';
import type { BuildRequest, CandidateEntry } from '../forge.ts';
import { mergeMessage, messageOf, squashMessage, withoutSkips } from './message.ts';
import { formatOrigin, withTrailers } from './trailers.ts';

/** Where the next entry goes on top. */
export interface Tip {
  readonly sha: Sha;
  readonly tree: Sha;
}

/** What besides the entries decides how commits of a candidate look. */
export type Recipe = Pick<BuildRequest, 'candidateId' | 'mergeMethod' | 'plannedAt'>;

export interface Application {
  readonly tip: Tip;
  readonly entry: CandidateEntry;
  /** Heads of the entries that are in the tip: their commits are not this entry's. */
  readonly ahead: readonly Sha[];
}

const SLUICE = 'Sluice <sluice@localhost>';

/** The tip with one more entry, as its own commit or commits; undefined where they conflict. */
export function applyEntry(git: GitRepository, recipe: Recipe, application: Application): Promise<Tip | undefined> {
  switch (recipe.mergeMethod) {
    case 'MERGE_COMMIT':
      return mergeEntry(git, recipe, application);
    case 'SQUASH':
      return squashEntry(git, recipe, application);
    case 'REBASE':
      return rebaseEntry(git, recipe, application);
  }
}

/** Whether `applyEntry` would find a conflict. */
export async function conflicts(git: GitRepository, recipe: Recipe, application: Application): Promise<boolean> {
  const { tip, entry } = application;
  if (recipe.mergeMethod === 'REBASE') return (await rebaseEntry(git, recipe, application)) === undefined;
  return (await git.testMerge({ target: tip.sha, head: entry.headSha })).kind !== 'clean';
}

/** A commit without changes: a test of what is there already needs a name of its own. */
export async function addEmptyCommit(git: GitRepository, recipe: Recipe, tip: Tip): Promise<Tip> {
  const trailers = formatOrigin({ candidateId: recipe.candidateId, prNumber: undefined });
  const message = messageOf(['Test the head of the target'], trailers);
  return write(git, recipe, {
    tree: tip.tree,
    parents: [tip.sha],
    message,
    author: personAt(SLUICE, recipe.plannedAt),
  });
}

async function mergeEntry(git: GitRepository, recipe: Recipe, { tip, entry }: Application): Promise<Tip | undefined> {
  const [merge, head] = await Promise.all([
    git.merge({ target: tip.sha, head: entry.headSha }),
    getCommit(git, entry.headSha),
  ]);
  if (merge.kind !== 'clean') return undefined;
  return write(git, recipe, {
    tree: merge.tree,
    parents: [tip.sha, entry.headSha],
    author: personAt(SLUICE, recipe.plannedAt),
    message: mergeMessage({ entry, head, origin: originOf(recipe, entry) }),
  });
}

async function squashEntry(git: GitRepository, recipe: Recipe, application: Application): Promise<Tip | undefined> {
  const { tip, entry, ahead } = application;
  const [merge, head, authors] = await Promise.all([
    git.merge({ target: tip.sha, head: entry.headSha }),
    getCommit(git, entry.headSha),
    git.listAuthors({ tip: entry.headSha, without: [tip.sha, ...ahead] }),
  ]);
  if (merge.kind !== 'clean') return undefined;
  return write(git, recipe, {
    tree: merge.tree,
    parents: [tip.sha],
    author: personAt(head.authorName, recipe.plannedAt),
    message: squashMessage({ entry, head, origin: originOf(recipe, entry) }, authors),
  });
}

/**
 * Every commit of the entry's own line, made again. One that brings nothing any more is left out, as `git rebase` does,
 * but an entry always gets a commit of its own.
 */
async function rebaseEntry(git: GitRepository, recipe: Recipe, application: Application): Promise<Tip | undefined> {
  const { tip, entry } = application;
  const replayed = await replay(git, recipe, application);
  if (replayed === undefined) return undefined;
  if (replayed.length === 0) return addNothing(git, recipe, application);
  let last = tip;
  for (const [index, { commit, tree }] of replayed.entries()) {
    const trailers = index === replayed.length - 1 ? originOf(recipe, entry) : [];
    const message = withTrailers(commit.message, trailers);
    last = await write(git, recipe, { ...commit, tree, parents: [last.sha], message });
  }
  return last;
}

async function addNothing(git: GitRepository, recipe: Recipe, { tip, entry }: Application): Promise<Tip> {
  const head = await getCommit(git, entry.headSha);
  return write(git, recipe, {
    tree: tip.tree,
    parents: [tip.sha],
    author: head.author,
    encoding: head.encoding,
    message: withTrailers(head.message, originOf(recipe, entry)),
  });
}

interface Replayed {
  readonly commit: StoredCommit;
  readonly tree: Sha;
}

async function replay(
  git: GitRepository,
  recipe: Recipe,
  { tip, entry }: Application,
): Promise<readonly Replayed[] | undefined> {
  const replayed: Replayed[] = [];
  let tree = tip.tree;
  const line = await git.listFirstParents({ tip: entry.headSha, without: [tip.sha] });
  for (const [index, sha] of line.entries()) {
    const commit = await getCommit(git, sha);
    const [parent] = commit.parents;
    // The line of this pull request began elsewhere: git refuses to merge such histories, and so do we.
    if (parent === undefined) return undefined;
    // The tip has the parent of the first: they are merged as they are.
    const target = index === 0 ? tip.sha : await writeStandIn(git, recipe, { tip, tree, parent });
    const merge = await git.merge({ target, head: sha });
    if (merge.kind !== 'clean') return undefined;
    const isKept = merge.tree !== tree || (await getCommit(git, parent)).tree === commit.tree;
    if (isKept) replayed.push({ commit, tree: merge.tree });
    tree = merge.tree;
  }
  return replayed;
}

/**
 * Git before 2.40 cannot be told which base to merge with. It finds the parent of what is replayed as the base of the
 * merge with a commit that has what was made so far, and that parent. Where a merge of the target into the pull request
 * is replayed, its second parent is a base too, and what it brought from the target counts as there.
 */
function writeStandIn(
  git: GitRepository,
  recipe: Recipe,
  { tip, tree, parent }: { readonly tip: Tip; readonly tree: Sha; readonly parent: Sha },
): Promise<Sha> {
  const person = personAt(SLUICE, recipe.plannedAt);
  const message = Buffer.from('Stands in for what was made so far\n');
  const parents = [parent, tip.sha];
  return git.writeCommit({ tree, parents, author: person, committer: person, encoding: undefined, message });
}

type Draft = Pick<CommitDraft, 'tree' | 'parents' | 'author' | 'message'> & Partial<Pick<CommitDraft, 'encoding'>>;

async function write(git: GitRepository, recipe: Recipe, draft: Draft): Promise<Tip> {
  const { tree, parents, author, encoding } = draft;
  const message = withoutSkips(draft.message);
  const committer = personAt(SLUICE, recipe.plannedAt);
  return { sha: await git.writeCommit({ tree, parents, author, committer, encoding, message }), tree };
}

export async function getCommit(git: GitRepository, sha: Sha): Promise<StoredCommit> {
  const commit = await git.findStoredCommit(sha);
  if (commit === undefined) throw new Fault('FORGE_UNAVAILABLE', `The repository does not have the commit ${sha}.`);
  return commit;
}

function originOf({ candidateId }: Recipe, { prNumber }: { readonly prNumber: PrNumber }): readonly string[] {
  return formatOrigin({ candidateId, prNumber });
}

function personAt(nameAndEmail: string, at: Instant): Buffer {
  return Buffer.from(`${nameAndEmail} ${Math.floor(at / 1_000)} +0000`);
}
