import type { PrNumber } from '../../engine/model/pull-request.ts';
import type { CommitStore, GitRepository, StoredCommit } from '../../git/git.ts';
import type { BuildAnswer, BuildRequest, CandidateEntry } from '../forge.ts';
import {
  type Application,
  type Assembled,
  addEmptyCommit,
  applyEntry,
  assemble,
  conflicts,
  getCommit,
  type Tip,
  targetOf,
} from './apply-entry.ts';
import { candidateRef, changeOwnRefs } from './candidate-refs.ts';
import { readRequiredSources } from './required-sources.ts';

// SPEC C45
export async function buildCandidate(git: GitRepository, request: BuildRequest): Promise<BuildAnswer> {
  const base = await getBase(git, request);
  const [assembled, sources] = await Promise.all([
    assembleCandidate(git, request, base),
    readRequiredSources(git, request),
  ]);
  if (assembled.kind === 'conflict') return assembled;
  const { sha, tree } = assembled.tip;
  const refusal = await changeOwnRefs(git, [{ kind: 'set', ref: candidateRef(request), sha }]);
  if (refusal !== undefined) return { kind: 'unbuildable', ...refusal };
  return { kind: 'built', sha, tree, sources };
}

/** The local copy may be older than the request. One refresh then fetches everything that is missing. */
async function getBase(git: GitRepository, { base, parent, beneath, members }: BuildRequest): Promise<StoredCommit> {
  const heads = [...(parent === undefined ? beneath : []), ...members].map(({ headSha }) => headSha);
  const wanted = [base, ...(parent === undefined ? [] : [parent]), ...heads];
  const found = await Promise.all(wanted.map((sha) => git.findStoredCommit(sha)));
  if (found.includes(undefined)) await git.refresh();
  return found[0] ?? getCommit(git, base);
}

type AssembledCandidate = Extract<BuildAnswer, { kind: 'conflict' }> | { readonly kind: 'tip'; readonly tip: Tip };

async function assembleCandidate(git: CommitStore, request: BuildRequest, base: Tip): Promise<AssembledCandidate> {
  const { beneath, members } = request;
  const foundation = await layFoundation(git, request, base);
  if (foundation.conflicting !== undefined) return conflictBeneath(request, foundation.conflicting);
  const start = foundation.tips.at(-1) ?? base;
  const { tips, conflicting } = await assemble(git, request, { start, beneath, entries: members });
  if (conflicting !== undefined) {
    const ahead = [...beneath, ...members.slice(0, tips.length)];
    const culprit = await findCulprit(git, request, { base, ahead, conflicting });
    const files = await listConflicts(git, request, { tip: tips.at(-1) ?? start, entry: conflicting, ahead: [] });
    return { kind: 'conflict', prNumber: conflicting.prNumber, culprit, ...files };
  }
  return { kind: 'tip', tip: tips.at(-1) ?? (await addEmptyCommit(git, request, start)) };
}

/** A parent that was built earlier is reused; one that was lost is built again. */
async function layFoundation(git: CommitStore, request: BuildRequest, base: Tip): Promise<Assembled> {
  const parent = request.parent === undefined ? undefined : await git.findStoredCommit(request.parent);
  if (parent !== undefined) return { tips: [parent], conflicting: undefined };
  return assemble(git, request, { start: base, beneath: [], entries: request.beneath });
}

function conflictBeneath({ members }: BuildRequest, culprit: CandidateEntry): AssembledCandidate {
  return { kind: 'conflict', prNumber: (members[0] ?? culprit).prNumber, culprit: culprit.prNumber };
}

/** A rebase may conflict where a merge does not; then no file is named. */
async function listConflicts(git: CommitStore, request: BuildRequest, application: Application) {
  const target = await targetOf(git, request, application);
  const merge = await git.testMerge({ target, head: application.entry.headSha });
  return merge.kind === 'conflict' ? { files: merge.files } : {};
}

interface Conflict {
  readonly base: Tip;
  readonly ahead: readonly CandidateEntry[];
  readonly conflicting: CandidateEntry;
}

/** As on a tip that lacks these entries. */
function withoutBelow({ below = [], ...entry }: CandidateEntry, others: readonly CandidateEntry[]): CandidateEntry {
  const heads = new Set(others.map(({ headSha }) => headSha));
  return { ...entry, below: below.filter((sha) => !heads.has(sha)) };
}

/** Finds the first entry ahead that makes the merge conflict. Undefined when it conflicts with the base alone. */
async function findCulprit(
  git: CommitStore,
  request: BuildRequest,
  { base, ahead, conflicting }: Conflict,
): Promise<PrNumber | undefined> {
  const without: Conflict['base']['sha'][] = [];
  let tip = base;
  const isConflict = (later: readonly CandidateEntry[]) =>
    conflicts(git, request, { tip, entry: withoutBelow(conflicting, later), ahead: without });
  if (await isConflict(ahead)) return undefined;
  for (const [index, entry] of ahead.entries()) {
    const next = await applyEntry(git, request, { tip, entry, ahead: without });
    if (next === undefined) return entry.prNumber;
    tip = next;
    without.push(entry.headSha);
    if (await isConflict(ahead.slice(index + 1))) return entry.prNumber;
  }
  // Only a `parent` that differs from base + beneath gets here. The nearest entry ahead is the best guess.
  return ahead.at(-1)?.prNumber;
}
