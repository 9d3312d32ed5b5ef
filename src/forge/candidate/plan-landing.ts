import type { PrNumber } from '../../engine/pull-request.ts';
import type { GitRepository } from '../../git/git.ts';
import type { Sha } from '../../lib/sha.ts';
import type { LandAnswer, LandRequest } from '../forge.ts';
import { getCommit, type Tip } from './apply-entry.ts';
import { assemble } from './assemble.ts';
import { findPartAfter, findTestedLine, foundationOf, type LineEntry } from './tested-line.ts';

export type LandingPlan = Extract<LandAnswer, { kind: 'landed' | 'not_composable' }>;

/**
 * What has to be pushed onto exactly `expectedHead`. It depends on the request alone, so that it can be worked out again
 * to find out whether it was pushed.
 */
export async function planLanding(git: GitRepository, request: LandRequest): Promise<LandingPlan> {
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
  // It was lost, and is the very same commit again.
  if (tip.sha === request.sha) return landing('IDENTICAL', remade);
  if (tip.tree === request.tree) return landing('SAME_TREE', remade);
  if (request.composedWith.length === 0) return refuse('On the present head it would not be what was tested.');
  const foundation = line === undefined ? request.base : foundationOf(line, prNumbers);
  const overlap = await findOverlap(git, request, { foundation, tip });
  return overlap === undefined ? landing('COMPOSED', remade) : refuse(overlap);
}

/**
 * Why the tip is not the tested tree with the paths of the other side, or undefined when it is. The other side is what
 * the head has that the foundation of the tested commit has not.
 */
async function findOverlap(
  git: GitRepository,
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

/** A path of the one side that is changed by the other too, or lies in a folder that is a file there. */
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
