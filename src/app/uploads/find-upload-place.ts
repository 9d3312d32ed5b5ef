import { checkOfProbe } from '../../engine/model/question.ts';
import { type TestedTree, testedTree } from '../../flaky/core/run.ts';
import type { PlaceQuestion, UploadPlace } from '../../flaky/upload-place.ts';
import { Fault } from '../../lib/fault.ts';
import type { Sha } from '../../lib/sha.ts';
import type { CandidateRow, QueueId } from '../../storage/queues.ts';
import type { Repository, RepositoryId } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';
import { toForgeRepository } from '../core/find-queue.ts';
import { decodeCandidate } from '../core/queue-codec.ts';

const WHOLE_SHA = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const UUID_AT_END = /([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(?:-bisection)?$/;

/**
 * Whether the repository has the upload's commit, which candidate and check the upload belongs to, and which tree was
 * tested.
 */
export async function findUploadPlace(app: App, question: PlaceQuestion): Promise<UploadPlace> {
  const sha = question.sha.toLowerCase();
  const { repositoryId, jobName, isOfRunner } = question;
  const repository = await app.directory.findRepositoryById(repositoryId as RepositoryId);
  const queueIds = repository === undefined ? [] : await app.directory.listQueueIds(repository.id);
  const named = await findCandidate(app, queueIds, question.candidateId);
  const candidate = await findCandidateOf(app, queueIds, { ...question, sha });
  if (candidate !== undefined) {
    const tree = treeOf(named ?? candidate, isOfRunner);
    return { hasCommit: true, candidateId: candidate.id, check: checkNamed(candidate, jobName), tree };
  }
  const known = await findCommit(app, repository, sha);
  // The forge may be away, and the queue knows what it built.
  const isBuilt = named === undefined && known.tree === null;
  const tested = isBuilt ? await app.store.queueRecords.findCandidateBySha(queueIds, sha) : named;
  return { ...known, candidateId: null, check: null, tree: treeOf(tested, isOfRunner) ?? known.tree };
}

// SPEC F86
function treeOf(row: CandidateRow | undefined, isOfRunner: boolean): TestedTree | null {
  const { commit, required, question } = row === undefined ? {} : decodeCandidate(row);
  const scope = question && 'probe';
  return commit === undefined ? null : testedTree(commit.tree, isOfRunner ? required?.commands : undefined, scope);
}

// SPEC U46
async function findCandidateOf(
  app: App,
  queueIds: readonly QueueId[],
  { sha, branch }: Pick<PlaceQuestion, 'sha' | 'branch'>,
): Promise<CandidateRow | undefined> {
  const row = await findCandidate(app, queueIds, UUID_AT_END.exec(branch)?.[1] ?? null);
  return row !== undefined && decodeCandidate(row).commit?.sha === sha ? row : undefined;
}

async function findCandidate(
  app: App,
  queueIds: readonly QueueId[],
  id: string | null,
): Promise<CandidateRow | undefined> {
  const row = id === null ? undefined : await app.store.queueRecords.findCandidateById(id);
  return row !== undefined && queueIds.includes(row.queueId) ? row : undefined;
}

/** GitHub names a job "workflow / job", and its check "job". */
// SPEC U64
function checkNamed(row: CandidateRow, jobName: string | null): string | null {
  const { required, checks, question } = decodeCandidate(row);
  // The job of a probe may have the name that it has in other runs.
  const knownAs = (name: string) => (question === undefined ? [name] : [name, checkOfProbe(name)]);
  const isNamed = (name: string) => jobName === name || jobName?.endsWith(` / ${name}`) === true;
  for (const names of [required?.names ?? [], checks.map(({ name }) => name)]) {
    const named = names.filter((name) => knownAs(name).some(isNamed));
    if (named.length === 1) return named[0] ?? null;
  }
  return null;
}

/** Null while the forge is away: then the commit counts where a lie costs little, and elsewhere needs proof. */
// SPEC U76
async function findCommit(
  app: App,
  repository: Repository | undefined,
  sha: string,
): Promise<Pick<UploadPlace, 'hasCommit' | 'tree'>> {
  const forge = repository && app.forges.get(repository.host);
  // A repository that only uploads made has no git address.
  const isRegistered = repository?.git !== null || repository.forgeId !== null;
  if (repository === undefined || forge === undefined || !isRegistered) return { hasCommit: null, tree: null };
  if (!WHOLE_SHA.test(sha)) return { hasCommit: false, tree: null };
  try {
    const tree = (await forge.findTree(toForgeRepository(repository), sha as Sha)) ?? null;
    return { hasCommit: tree !== null, tree };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { hasCommit: null, tree: null };
  }
}
