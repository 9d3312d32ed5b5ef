import type { PrNumber } from '../../src/engine/model/pull-request.ts';
import type { BuildAnswer, BuildRequest, CandidateEntry, LandAnswer, LandRequest } from '../../src/forge/forge.ts';
import type { Sha } from '../../src/lib/sha.ts';
import type { GitModel, ModelCommit } from './git-model.ts';

type Recipe = Pick<BuildRequest, 'candidateId' | 'mergeMethod' | 'plannedAt'>;
type Conflict = Extract<BuildAnswer, { kind: 'conflict' }>;
export type Landed = Extract<LandAnswer, { kind: 'landed' }>;
export type LandingPlan = Landed | Extract<LandAnswer, { kind: 'not_composable' }>;

const SLUICE = 'Sluice';

/** Builds a candidate's commit, or answers the conflict. All input commits must exist. */
export function buildCommit(git: GitModel, request: BuildRequest): ModelCommit | Conflict {
  const { beneath, members } = request;
  const base = git.getCommit(request.base);
  const parent = request.parent === undefined ? undefined : git.findCommit(request.parent);
  const foundation = parent === undefined ? assemble(git, request, base, beneath) : { tips: [parent] };
  if (foundation.conflicting !== undefined) {
    const { prNumber: culprit } = foundation.conflicting;
    return { kind: 'conflict', prNumber: members[0]?.prNumber ?? culprit, culprit };
  }
  const start = foundation.tips.at(-1) ?? base;
  const { tips, conflicting } = assemble(git, request, start, members);
  if (conflicting !== undefined) {
    const ahead = [...beneath, ...members.slice(0, tips.length)];
    const culprit = findCulprit(git, request, { base, ahead, conflicting });
    const merge = git.merge((tips.at(-1) ?? start).sha, conflicting.headSha);
    const files = merge.kind === 'conflict' ? { files: merge.paths } : {};
    return { kind: 'conflict', prNumber: conflicting.prNumber, culprit, ...files };
  }
  return tips.at(-1) ?? addEmptyCommit(git, request, start);
}

/**
 * Works out what to push onto exactly `expectedHead`. The plan depends on the request alone, so a retry can work it out
 * again and find that it was pushed.
 */
export function planLanding(git: GitModel, request: LandRequest): LandingPlan {
  const numbers = request.entries.map(({ prNumber }) => prNumber);
  const line = findTestedLine(git, request);
  const identical = line && findPartAfter(line, request, numbers);
  if (identical !== undefined) return landing('IDENTICAL', identical, numbers);
  const start = git.getCommit(request.expectedHead);
  const { tips, conflicting } = assemble(git, request, start, request.entries);
  if (conflicting !== undefined) return refuse(`Pull request ${conflicting.prNumber} conflicts with the present head.`);
  const tip = tips.at(-1);
  if (tip === undefined) return refuse('There is nothing to land.');
  if (tip.tree === request.tree) return landing('SAME_TREE', tips, numbers);
  if (request.composedWith.length === 0) return refuse('On the present head it would not be what was tested.');
  const foundation = (line && findFoundation(line, numbers)) ?? request.base;
  const overlap = findOverlap(git, request, { foundation, tip });
  return overlap === undefined ? landing('COMPOSED', tips, numbers) : refuse(overlap);
}

interface Assembled {
  readonly tips: readonly ModelCommit[];
  readonly conflicting?: CandidateEntry;
}

function assemble(git: GitModel, recipe: Recipe, start: ModelCommit, entries: readonly CandidateEntry[]): Assembled {
  const tips: ModelCommit[] = [];
  for (const entry of entries) {
    const next = applyEntry(git, recipe, tips.at(-1) ?? start, entry);
    if (next === undefined) return { tips, conflicting: entry };
    tips.push(next);
  }
  return { tips };
}

/** Applies one entry to the tip. Undefined when it conflicts. */
export function applyEntry(
  git: GitModel,
  recipe: Recipe,
  tip: ModelCommit,
  entry: CandidateEntry,
): ModelCommit | undefined {
  if (recipe.mergeMethod === 'REBASE') return rebaseEntry(git, recipe, tip, entry);
  const isSquash = recipe.mergeMethod === 'SQUASH';
  const isStacked = entry.below !== undefined;
  const target = isSquash ? standInFor(git, tip, entry) : tip.sha;
  const merge = isStacked ? git.mergeOnAllBases(target, entry.headSha) : git.merge(target, entry.headSha);
  if (merge.kind !== 'clean') return undefined;
  return git.writeCommit({
    parents: isSquash ? [tip.sha] : [tip.sha, entry.headSha],
    tree: merge.tree,
    author: isSquash ? entry.author : SLUICE,
    message: `${entry.title} (#${entry.prNumber})${trailersOf(recipe, entry)}`,
    at: recipe.plannedAt,
  });
}

/** A squash or a rebase left out the commits below the entry, which its head contains. */
export function standInFor(
  git: GitModel,
  { sha, tree }: ModelCommit,
  { below = [] }: Pick<CandidateEntry, 'below'>,
): Sha {
  const parents = below.filter((head) => git.findCommit(head) !== undefined);
  if (parents.length === 0) return sha;
  return git.writeCommit({ parents: [sha, ...parents], tree, author: SLUICE, message: 'Stand in', at: 0 }).sha;
}

interface Replayed {
  readonly commit: ModelCommit;
  readonly tree: Sha;
}

/** The trees of a pull request's commits on the tip. Undefined when one of them conflicts. */
export function replay(
  git: GitModel,
  tip: ModelCommit,
  { headSha: head, below }: Pick<CandidateEntry, 'headSha' | 'below'>,
): readonly Replayed[] | undefined {
  const replayed: Replayed[] = [];
  let { tree } = tip;
  for (const commit of git.listFirstParents(head, standInFor(git, tip, { ...(below && { below }) }))) {
    const [parent, second] = commit.parents;
    if (parent === undefined) return undefined;
    if (second !== undefined) continue;
    const merge = git.mergeTrees({ base: git.getCommit(parent).tree, ours: tree, theirs: commit.tree });
    if (merge.kind !== 'clean') return undefined;
    if (merge.tree !== tree) replayed.push({ commit, tree: merge.tree });
    tree = merge.tree;
  }
  // An entry always gets a commit of its own.
  return replayed.length > 0 ? replayed : [{ commit: git.getCommit(head), tree }];
}

/** Replays the entry's commits, without merges and without commits that change nothing any more. */
function rebaseEntry(git: GitModel, recipe: Recipe, tip: ModelCommit, entry: CandidateEntry): ModelCommit | undefined {
  const replayed = replay(git, tip, entry);
  if (replayed === undefined) return undefined;
  let last = tip;
  for (const [index, { commit, tree: made }] of replayed.entries()) {
    const trailers = index === replayed.length - 1 ? trailersOf(recipe, entry) : '';
    const { author } = commit;
    const message = `${withoutTrailers(commit.message)}${trailers}`;
    last = git.writeCommit({ parents: [last.sha], tree: made, author, message, at: recipe.plannedAt });
  }
  return last;
}

function addEmptyCommit(git: GitModel, recipe: Recipe, { sha, tree }: ModelCommit): ModelCommit {
  const message = `Test the head of the target\n\nSluice-Candidate: ${recipe.candidateId}`;
  return git.writeCommit({ parents: [sha], tree, author: SLUICE, message, at: recipe.plannedAt });
}

function findCulprit(
  git: GitModel,
  recipe: Recipe,
  {
    base,
    ahead,
    conflicting,
  }: { readonly base: ModelCommit; readonly ahead: readonly CandidateEntry[]; readonly conflicting: CandidateEntry },
): PrNumber | undefined {
  let tip = base;
  if (applyEntry(git, recipe, tip, withoutBelow(conflicting, ahead)) === undefined) return undefined;
  for (const [index, entry] of ahead.entries()) {
    const next = applyEntry(git, recipe, tip, entry);
    const trial = withoutBelow(conflicting, ahead.slice(index + 1));
    if (next === undefined || applyEntry(git, recipe, next, trial) === undefined) return entry.prNumber;
    tip = next;
  }
  return ahead.at(-1)?.prNumber;
}

/** As it is applied where these are missing: it brings their commits itself. */
function withoutBelow({ below, ...entry }: CandidateEntry, missing: readonly CandidateEntry[]): CandidateEntry {
  const left = below?.filter((head) => !missing.some(({ headSha }) => headSha === head)) ?? [];
  return left.length === 0 ? entry : { ...entry, below: left };
}

/** The last commit of each entry in a tested commit, oldest first. Undefined when it was not built on its base. */
function findTestedLine(git: GitModel, { base, sha, tree }: LandRequest): readonly ModelCommit[] | undefined {
  if (git.findCommit(sha)?.tree !== tree || !git.isAncestor(base, sha)) return undefined;
  const commits = git.listFirstParents(sha, base);
  if (commits[0]?.parents[0] !== base) return undefined;
  const line = commits.filter((commit) => findPrNumber(commit) !== undefined);
  return line.at(-1)?.sha === sha ? line : undefined;
}

function findPartAfter(
  line: readonly ModelCommit[],
  { base, expectedHead }: LandRequest,
  numbers: readonly PrNumber[],
): readonly ModelCommit[] | undefined {
  const place = expectedHead === base ? 0 : line.findIndex(({ sha }) => sha === expectedHead) + 1;
  if (place === 0 && expectedHead !== base) return undefined;
  const part = line.slice(place);
  return areOf(part, numbers) ? part : undefined;
}

/** The commit beneath the last entries of the line. Undefined when that is the base. */
function findFoundation(line: readonly ModelCommit[], numbers: readonly PrNumber[]): Sha | undefined {
  const count = line.length - numbers.length;
  return count > 0 && areOf(line.slice(count), numbers) ? line[count - 1]?.sha : undefined;
}

function areOf(commits: readonly ModelCommit[], numbers: readonly PrNumber[]): boolean {
  return commits.length === numbers.length && commits.every((commit, i) => findPrNumber(commit) === numbers[i]);
}

/** Answers why the tip is not the tested tree plus the other side's paths, or undefined when it is. */
function findOverlap(
  git: GitModel,
  { expectedHead, tree }: LandRequest,
  { foundation, tip }: { readonly foundation: Sha; readonly tip: ModelCommit },
): string | undefined {
  const before = git.getCommit(foundation).tree;
  const ours = git.listChanges(before, tree);
  const theirs = git.listChanges(before, git.getCommit(expectedHead).tree);
  const added = git.listChanges(tree, tip.tree);
  const shared = [...ours.keys()].find((path) => theirs.has(path));
  if (shared !== undefined) return `Both sides changed ${JSON.stringify(shared)}.`;
  const isSum = added.size === theirs.size && [...theirs].every(([path, content]) => added.get(path) === content);
  return isSum ? undefined : 'On the present head it would be more than what was tested and what has landed since.';
}

function landing(how: Landed['how'], commits: readonly ModelCommit[], numbers: readonly PrNumber[]): LandingPlan {
  const last = commits.at(-1);
  if (last === undefined) return refuse('There is nothing to land.');
  const entries = commits.map(({ sha, tree }, index) => ({ prNumber: numbers[index] as PrNumber, sha, tree }));
  return { kind: 'landed', how, pushedSha: last.sha, pushedTree: last.tree, entries };
}

function refuse(detail: string): LandingPlan {
  return { kind: 'not_composable', detail };
}

function trailersOf({ candidateId }: Recipe, { prNumber }: CandidateEntry): string {
  return `\n\nSluice-Pull-Request: ${prNumber}\nSluice-Candidate: ${candidateId}`;
}

function withoutTrailers(message: string): string {
  return message.replace(/\n\nSluice-Pull-Request: [\s\S]*$/, '');
}

export function findPrNumber({ message }: ModelCommit): PrNumber | undefined {
  const number = /\nSluice-Pull-Request: (\d+)\n/.exec(message)?.[1];
  return number === undefined ? undefined : (Number(number) as PrNumber);
}

/** Finds an earlier landing by the trailers on the target branch. */
export function findByTrailers(git: GitModel, request: LandRequest, head: Sha): Landed | undefined {
  const numbers = request.entries.map(({ prNumber }) => prNumber);
  const line = git.listFirstParents(head, request.expectedHead);
  const own = line.filter(
    (commit) =>
      commit.message.includes(`Sluice-Candidate: ${request.candidateId}`) && findPrNumber(commit) !== undefined,
  );
  const last = own.at(-1);
  if (last === undefined || !areOf(own, numbers)) return undefined;
  const how = last.sha === request.sha ? 'IDENTICAL' : last.tree === request.tree ? 'SAME_TREE' : 'COMPOSED';
  const found = landing(how, own, numbers);
  return found.kind === 'landed' ? found : undefined;
}
