import type { PrNumber } from '../../engine/model/pull-request.ts';
import type { CommitDraft, CommitStore, StoredCommit } from '../../git/git.ts';
import type { Instant } from '../../lib/clock.ts';
import { Fault } from '../../lib/fault.ts';
import type { Sha } from '../../lib/sha.ts';
import type { BuildRequest, CandidateEntry } from '../forge.ts';
import { mergeMessage, messageOf, squashMessage, withoutSkips } from './message.ts';
import { formatOrigin, type Signed, withTrailers } from './trailers.ts';

/** The commit that the next entry is applied to. */
export interface Tip {
  readonly sha: Sha;
  readonly tree: Sha;
}

/** The settings that, beside the entries, decide the bytes of a candidate's commits. */
type Recipe = Pick<BuildRequest, 'candidateId' | 'mergeMethod' | 'plannedAt' | 'proofKey'>;

export interface Application {
  readonly tip: Tip;
  readonly entry: CandidateEntry;
  /** Heads of the entries already in the tip. A squash names no co-author from their commits. */
  readonly ahead: readonly Sha[];
}

export const SLUICE = 'Sluice <sluice@localhost>';

/** Applies one entry as its own commit or commits. Undefined when it conflicts with the tip. */
export function applyEntry(git: CommitStore, recipe: Recipe, application: Application): Promise<Tip | undefined> {
  switch (recipe.mergeMethod) {
    case 'MERGE_COMMIT':
      return mergeEntry(git, recipe, application);
    case 'SQUASH':
      return squashEntry(git, recipe, application);
    case 'REBASE':
      return rebaseEntry(git, recipe, application);
  }
}

/** Tells whether `applyEntry` would answer undefined, without writing a commit. */
export async function conflicts(git: CommitStore, recipe: Recipe, application: Application): Promise<boolean> {
  const { entry } = application;
  if (recipe.mergeMethod === 'REBASE') return (await rebaseEntry(git, recipe, application)) === undefined;
  const target = await targetOf(git, recipe, application);
  return (await git.testMerge({ target, head: entry.headSha })).kind !== 'clean';
}

/**
 * A squash or a rebase leaves out the commits below a pull request, so that git would find them in the pull request a
 * second time. The stand-in has the tree of the tip and those commits as parents.
 */
// SPEC C70
export async function targetOf(git: CommitStore, recipe: Recipe, { tip, entry }: Application): Promise<Sha> {
  if (entry.below === undefined || recipe.mergeMethod === 'MERGE_COMMIT') return tip.sha;
  const below = await presentCommits(git, entry.below);
  return below.length === 0 ? tip.sha : writeStandIn(git, recipe, { tree: tip.tree, parents: [tip.sha, ...below] });
}

/** A test of the head itself needs a commit of its own, since CI reports by commit. */
export async function addEmptyCommit(git: CommitStore, recipe: Recipe, tip: Tip): Promise<Tip> {
  const trailers = formatOrigin({ candidateId: recipe.candidateId, prNumber: undefined });
  const message = messageOf(['Test the head of the target'], trailers);
  return write(git, recipe, {
    tree: tip.tree,
    parents: [tip.sha],
    message,
    author: personAt(SLUICE, recipe.plannedAt),
  });
}

async function mergeEntry(git: CommitStore, recipe: Recipe, { tip, entry }: Application): Promise<Tip | undefined> {
  const [merge, head] = await Promise.all([
    git.merge({ target: tip.sha, head: entry.headSha }),
    getCommit(git, entry.headSha),
  ]);
  if (merge.kind !== 'clean') return undefined;
  return write(git, recipe, {
    tree: merge.tree,
    parents: [tip.sha, entry.headSha],
    author: personAt(SLUICE, recipe.plannedAt),
    message: mergeMessage({ entry, head, origin: originOf(recipe, entry, { parent: tip.sha, tree: merge.tree }) }),
  });
}

async function squashEntry(git: CommitStore, recipe: Recipe, application: Application): Promise<Tip | undefined> {
  const { tip, entry, ahead } = application;
  const target = await targetOf(git, recipe, application);
  const [merge, head, authors] = await Promise.all([
    git.merge({ target, head: entry.headSha }),
    getCommit(git, entry.headSha),
    git.listAuthors({ tip: entry.headSha, without: [target, ...ahead] }),
  ]);
  if (merge.kind !== 'clean') return undefined;
  return write(git, recipe, {
    tree: merge.tree,
    parents: [tip.sha],
    author: personAt(head.authorName, recipe.plannedAt),
    message: squashMessage(
      { entry, head, origin: originOf(recipe, entry, { parent: tip.sha, tree: merge.tree }) },
      authors,
    ),
  });
}

/** As in `git rebase`, a commit that changes nothing is dropped. If all are, one with the trailers is made. */
// SPEC C43
async function rebaseEntry(git: CommitStore, recipe: Recipe, application: Application): Promise<Tip | undefined> {
  const { tip, entry } = application;
  const replayed = await replay(git, recipe, application);
  if (replayed === undefined) return undefined;
  if (replayed.length === 0) return addNothing(git, recipe, application);
  let last = tip;
  for (const [index, { commit, tree }] of replayed.entries()) {
    const trailers = index === replayed.length - 1 ? originOf(recipe, entry, { parent: last.sha, tree }) : [];
    const message = withTrailers(commit.message, trailers);
    last = await write(git, recipe, { ...commit, tree, parents: [last.sha], message });
  }
  return last;
}

async function addNothing(git: CommitStore, recipe: Recipe, { tip, entry }: Application): Promise<Tip> {
  const head = await getCommit(git, entry.headSha);
  return write(git, recipe, {
    tree: tip.tree,
    parents: [tip.sha],
    author: head.author,
    encoding: head.encoding,
    message: withTrailers(head.message, originOf(recipe, entry, { parent: tip.sha, tree: tip.tree })),
  });
}

interface Replayed {
  readonly commit: StoredCommit;
  readonly tree: Sha;
}

async function replay(
  git: CommitStore,
  recipe: Recipe,
  application: Application,
): Promise<readonly Replayed[] | undefined> {
  const { tip, entry } = application;
  const replayed: Replayed[] = [];
  let tree = tip.tree;
  const first = await targetOf(git, recipe, application);
  const line = await git.listFirstParents({ tip: entry.headSha, without: [first] });
  for (const [index, sha] of line.entries()) {
    const commit = await getCommit(git, sha);
    const [parent] = commit.parents;
    // The pull request has a root commit of its own. Git refuses to merge unrelated histories, and so does Sluice.
    if (parent === undefined) return undefined;
    // The first target already contains the first commit's parent, so git finds the right merge base by itself.
    const target = index === 0 ? first : await writeStandIn(git, recipe, { tree, parents: [parent, tip.sha] });
    const merge = await git.merge({ target, head: sha, attributesOf: tip.sha });
    if (merge.kind !== 'clean') return undefined;
    const isKept = merge.tree !== tree || (await getCommit(git, parent)).tree === commit.tree;
    if (isKept) replayed.push({ commit, tree: merge.tree });
    tree = merge.tree;
  }
  return replayed;
}

/**
 * Git before 2.40 has no `merge-tree --merge-base`. The stand-in has the replayed tree and the parent of the next
 * commit, so git finds that parent as the merge base. When the next commit is itself a merge of the target branch, its
 * second parent is a merge base too, and the changes it merged in count as already present.
 */
function writeStandIn(
  git: CommitStore,
  recipe: Recipe,
  { tree, parents }: { readonly tree: Sha; readonly parents: readonly Sha[] },
): Promise<Sha> {
  const person = personAt(SLUICE, recipe.plannedAt);
  const message = Buffer.from('Stands in for what was made so far\n');
  return git.writeCommit({ tree, parents, author: person, committer: person, encoding: undefined, message });
}

type Draft = Pick<CommitDraft, 'tree' | 'parents' | 'author' | 'message'> & Partial<Pick<CommitDraft, 'encoding'>>;

async function write(git: CommitStore, recipe: Recipe, draft: Draft): Promise<Tip> {
  const { tree, parents, author, encoding } = draft;
  const message = withoutSkips(draft.message);
  const committer = personAt(SLUICE, recipe.plannedAt);
  return { sha: await git.writeCommit({ tree, parents, author, committer, encoding, message }), tree };
}

export async function getCommit(git: CommitStore, sha: Sha): Promise<StoredCommit> {
  const commit = await git.findStoredCommit(sha);
  if (commit === undefined) throw new Fault('FORGE_UNAVAILABLE', `The repository does not have the commit ${sha}.`);
  return commit;
}

function originOf(
  { candidateId, proofKey: key }: Recipe,
  { prNumber }: { readonly prNumber: PrNumber },
  content: Omit<Signed, 'key'>,
): readonly string[] {
  return formatOrigin({ candidateId, prNumber }, key === undefined ? undefined : { key, ...content });
}

export function personAt(nameAndEmail: string, at: Instant): Buffer {
  return Buffer.from(`${nameAndEmail} ${Math.floor(at / 1_000)} +0000`);
}

interface Stack {
  readonly start: Tip;
  /** Entries that the start commit already contains. */
  readonly beneath: readonly CandidateEntry[];
  readonly entries: readonly CandidateEntry[];
}

export interface Assembled {
  /** One tip after each applied entry. */
  readonly tips: readonly Tip[];
  /** The first entry that conflicted. The entries after it are not tried. */
  readonly conflicting: CandidateEntry | undefined;
}

export async function assemble(git: CommitStore, recipe: Recipe, stack: Stack): Promise<Assembled> {
  const ahead = await presentHeads(git, stack.beneath);
  const tips: Tip[] = [];
  let tip = stack.start;
  for (const entry of stack.entries) {
    const next = await applyEntry(git, recipe, { tip, entry, ahead });
    if (next === undefined) return { tips, conflicting: entry };
    tips.push(next);
    ahead.push(entry.headSha);
    tip = next;
  }
  return { tips, conflicting: undefined };
}

function presentHeads(git: CommitStore, entries: readonly CandidateEntry[]): Promise<Sha[]> {
  return presentCommits(
    git,
    entries.map(({ headSha }) => headSha),
  );
}

/** The heads of entries that landed long ago may have been garbage-collected. */
async function presentCommits(git: CommitStore, shas: readonly Sha[]): Promise<Sha[]> {
  const commits = await Promise.all(shas.map((sha) => git.findStoredCommit(sha)));
  return commits.flatMap((commit) => (commit === undefined ? [] : [commit.sha]));
}
