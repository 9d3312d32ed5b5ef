import type { StartProblem } from '../../engine/model/required.ts';
import type { GitRepository, RefChange, RefStore } from '../../git/git.ts';
import { branchRef } from '../../git/ref-name.ts';
import { assert } from '../../lib/assert.ts';
import { Fault } from '../../lib/fault.ts';
import type { DiscardRequest, PublishAnswer, PublishRequest, TestBranchParts } from '../forge.ts';

export interface Refusal {
  readonly reason: StartProblem;
  readonly detail: string;
}

/** This ref keeps the commit from being garbage-collected. It is no branch, so no CI builds it. */
export function candidateRef({ candidateId }: { readonly candidateId: string }): string {
  return `refs/sluice/candidates/${checkedId(candidateId)}`;
}

export function testBranch(prefix: string, { candidateId, prNumber, isBisection, isProbe }: TestBranchParts): string {
  const subject = prNumber === undefined ? 'head' : `pr-${prNumber}`;
  return `${prefix}/${isProbe ? 'probe/' : ''}${subject}/${checkedId(candidateId)}${isBisection ? '-bisection' : ''}`;
}

export async function publishCandidate(
  git: GitRepository,
  prefix: string,
  request: PublishRequest,
): Promise<PublishAnswer> {
  if ((await git.findStoredCommit(request.sha)) === undefined) await git.refresh();
  if ((await git.findStoredCommit(request.sha)) === undefined) {
    throw new Fault('FORGE_UNAVAILABLE', `The repository does not have the commit ${request.sha}.`);
  }
  const branch = testBranch(prefix, request);
  const refusal = await changeOwnRefs(git, [{ kind: 'set', ref: branchRef(branch), sha: request.sha }]);
  return refusal === undefined ? { kind: 'published', branch } : { kind: 'refused', ...refusal };
}

export async function discardCandidate(git: RefStore, prefix: string, request: DiscardRequest): Promise<void> {
  const own = request.keepsCommit ? [] : [candidateRef(request)];
  const refs = [...own, branchRef(testBranch(prefix, request))];
  const refusal = await changeOwnRefs(
    git,
    refs.map((ref) => ({ kind: 'delete', ref })),
  );
  if (refusal !== undefined) throw new Fault('FORGE_UNAVAILABLE', refusal.detail);
}

/** Undefined means success. Only Sluice writes these refs, so the result is not read back. */
export async function changeOwnRefs(git: RefStore, changes: readonly RefChange[]): Promise<Refusal | undefined> {
  const answer = await git.changeRefs(changes);
  switch (answer.kind) {
    case 'done':
      return undefined;
    case 'refused':
      return { reason: 'START_TEST_RUN_PERMISSIONS_BLOCK_TEST_BRANCH', detail: answer.detail };
    case 'stale':
      throw new Fault('FORGE_UNAVAILABLE', 'Refs of a candidate are being changed by somebody else.');
  }
}

function checkedId(candidateId: string): string {
  assert(/^[0-9A-Za-z][0-9A-Za-z-]{0,63}$/.test(candidateId), 'the id of a candidate is no part of a ref');
  return candidateId;
}

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const KEPT = 'refs/sluice/candidates/';
const KEPT_NAME = new RegExp(`^(${UUID})$`);
const BRANCH_NAME = new RegExp(`^(?:probe/)?(?:head|pr-[0-9]+)/(${UUID})(?:-bisection)?$`);

/** A foreign ref of the same shape does no harm: the caller compares with the ids it knows. */
export async function listCandidateIds(git: RefStore, prefix: string): Promise<readonly string[]> {
  const ids = new Set<string>();
  for (const [folder, name] of [
    [KEPT, KEPT_NAME],
    [branchRef(`${prefix}/`), BRANCH_NAME],
  ] as const) {
    for (const ref of await git.listRefs(folder)) {
      const id = name.exec(ref.name.slice(folder.length))?.[1];
      if (id !== undefined) ids.add(id);
    }
  }
  return [...ids].sort();
}
