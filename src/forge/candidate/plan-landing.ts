import type { PrNumber } from '../../engine/model/pull-request.ts';
import type { CommitStore } from '../../git/git.ts';
import type { Sha } from '../../lib/sha.ts';
import type { LandAnswer, LandRequest } from '../forge.ts';
import { assemble, getCommit, type Tip } from './apply-entry.ts';
import { findOrigin } from './trailers.ts';

export type LandingPlan = Extract<LandAnswer, { kind: 'landed' | 'not_composable' }>;

/** The plan depends on the request alone, so that a retry works it out again and finds that it was pushed. */
// SPEC L19
export async function planLanding(git: CommitStore, request: LandRequest): Promise<LandingPlan> {
  const prNumbers = request.entries.map(({ prNumber }) => prNumber);
  const line = await findTestedLine(git, request);
  const part = line && findPartAfter(line, request.expectedHead, prNumbers);
  if (part !== undefined) return landing('IDENTICAL', part);
  const start = await getCommit(git, request.expectedHead);
  const { tips, conflicting } = await assemble(git, request, { start, beneath: [], entries: request.entries });
  if (conflicting !== undefined) return refuse(`Pull request ${conflicting.prNumber} conflicts with the present head.`);
  const tip = tips.at(-1);
  if (tip === undefined) return refuse('There is nothing to land.');
  const remade = tips.map((each, index) => ({ ...each, prNumber: prNumbers[index] as PrNumber }));
  // The tested commit was lost, and the rebuild gave the same one.
  if (tip.sha === request.sha) return landing('IDENTICAL', remade);
  if (tip.tree === request.tree) return landing('SAME_TREE', remade);
  if (request.composedWith.length === 0) return refuse('On the present head it would not be what was tested.');
  const foundation = line === undefined ? request.base : foundationOf(line, prNumbers);
  const overlap = await findOverlap(git, request, { foundation, tip });
  return overlap === undefined ? landing('COMPOSED', remade) : refuse(overlap);
}

/** Undefined when it is. The other side is all between the commit beneath the tested entries and the present head. */
// SPEC L20
async function findOverlap(
  git: CommitStore,
  { expectedHead, tree }: LandRequest,
  { foundation, tip }: { readonly foundation: Sha; readonly tip: Tip },
): Promise<string | undefined> {
  const [ours, theirs, added] = await Promise.all([
    git.listChanges({ from: foundation, to: tree }),
    git.listChanges({ from: foundation, to: expectedHead }),
    git.listChanges({ from: tree, to: tip.tree }),
  ]);
  const shared = findSharedPath(ours, theirs) ?? findSharedPath(theirs, ours);
  if (shared !== undefined) return `Both sides changed ${JSON.stringify(shared)}.`;
  const isSum = added.size === theirs.size && [...theirs].every(([path, content]) => added.get(path) === content);
  return isSum ? undefined : 'On the present head it would be more than what was tested and what has landed since.';
}

/** Finds a path that both sides changed, or a folder of one side that is a file on the other. */
function findSharedPath(one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): string | undefined {
  for (const path of one.keys()) {
    for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) {
      if (other.has(path.slice(0, end))) return Buffer.from(path, 'latin1').toString();
    }
  }
  return undefined;
}

function landing(how: Extract<LandingPlan, { kind: 'landed' }>['how'], entries: readonly LineEntry[]): LandingPlan {
  const last = entries.at(-1);
  if (last === undefined) return refuse('There is nothing to land.');
  return { kind: 'landed', how, pushedSha: last.sha, pushedTree: last.tree, entries };
}

function refuse(detail: string): LandingPlan {
  return { kind: 'not_composable', detail };
}

interface LineEntry extends Tip {
  readonly prNumber: PrNumber;
}

/** The first-parent line from the base to the tested commit, grouped by entry. */
interface TestedLine {
  readonly base: Sha;
  /** Oldest first. An entry is represented by its last commit. */
  readonly entries: readonly LineEntry[];
}

/** Undefined when the commit is gone, or Sluice did not build it on this base. */
async function findTestedLine(git: CommitStore, request: LandRequest): Promise<TestedLine | undefined> {
  const { base, sha, tree } = request;
  if ((await git.findStoredCommit(sha))?.tree !== tree) return undefined;
  const shas = await git.listFirstParents({ tip: sha, without: [base] });
  const commits = await Promise.all(shas.map((each) => git.findStoredCommit(each)));
  if (commits[0]?.parents[0] !== base) return undefined;
  const entries = commits.flatMap((commit) => {
    const prNumber = commit && findOrigin(commit.message)?.prNumber;
    return commit === undefined || prNumber === undefined ? [] : [{ prNumber, sha: commit.sha, tree: commit.tree }];
  });
  return entries.at(-1)?.sha === sha ? { base, entries } : undefined;
}

/** Answers the commits of exactly these pull requests, provided that they follow `start`. */
function findPartAfter(
  { base, entries }: TestedLine,
  start: Sha,
  prNumbers: readonly PrNumber[],
): readonly LineEntry[] | undefined {
  const place = start === base ? 0 : entries.findIndex(({ sha }) => sha === start) + 1;
  if (place === 0 && start !== base) return undefined;
  const part = entries.slice(place);
  return areSame(part, prNumbers) ? part : undefined;
}

/** Answers the commit beneath the last `prNumbers` of the line, or the base when the line does not end with them. */
function foundationOf({ base, entries }: TestedLine, prNumbers: readonly PrNumber[]): Sha {
  const count = entries.length - prNumbers.length;
  if (count <= 0 || !areSame(entries.slice(count), prNumbers)) return base;
  return entries[count - 1]?.sha ?? base;
}

function areSame(entries: readonly LineEntry[], prNumbers: readonly PrNumber[]): boolean {
  return entries.length === prNumbers.length && entries.every(({ prNumber }, index) => prNumber === prNumbers[index]);
}
