import type { PlaceQuestion, UploadPlace } from '../../flaky/upload-place.ts';
import { Fault } from '../../lib/fault.ts';
import type { Sha } from '../../lib/sha.ts';
import type { CandidateRow } from '../../storage/queues.ts';
import type { Repository, RepositoryId } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';
import { toForgeRepository } from '../core/find-queue.ts';
import { decodeCandidate } from '../core/queue-codec.ts';

const WHOLE_SHA = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const UUID_AT_END = /([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(?:-bisection)?$/;

/** Whether the repository has the upload's commit, and which candidate and check the upload belongs to. */
export async function findUploadPlace(app: App, question: PlaceQuestion): Promise<UploadPlace> {
  const sha = question.sha.toLowerCase();
  const repository = await app.directory.findRepositoryById(question.repositoryId as RepositoryId);
  const candidate = repository && (await findCandidateOf(app, repository, { ...question, sha }));
  if (candidate === undefined)
    return { hasCommit: await hasCommit(app, repository, sha), candidateId: null, check: null };
  return { hasCommit: true, candidateId: candidate.id, check: checkNamed(candidate, question.jobName) };
}

// SPEC U46
async function findCandidateOf(
  app: App,
  repository: Repository,
  { sha, branch }: Pick<PlaceQuestion, 'sha' | 'branch'>,
): Promise<CandidateRow | undefined> {
  const id = UUID_AT_END.exec(branch)?.[1];
  const row = id === undefined ? undefined : await app.store.queueRecords.findCandidateById(id);
  if (row === undefined || decodeCandidate(row).commit?.sha !== sha) return undefined;
  const queueIds = await app.directory.listQueueIds(repository.id);
  return queueIds.includes(row.queueId) ? row : undefined;
}

/** GitHub names a job "workflow / job", and its check "job". */
// SPEC U64
function checkNamed(row: CandidateRow, jobName: string | null): string | null {
  const { required, checks } = decodeCandidate(row);
  for (const names of [required?.names ?? [], checks.map(({ name }) => name)]) {
    const named = names.filter((name) => jobName === name || jobName?.endsWith(` / ${name}`));
    if (named.length === 1) return named[0] ?? null;
  }
  return null;
}

/** Null while the forge is away: then the commit counts where a lie costs little, and elsewhere needs proof. */
// SPEC U76
async function hasCommit(app: App, repository: Repository | undefined, sha: string): Promise<boolean | null> {
  const forge = repository && app.forges.get(repository.host);
  // A repository that only uploads made has no git address.
  const isRegistered = repository?.git !== null || repository.forgeId !== null;
  if (repository === undefined || forge === undefined || !isRegistered) return null;
  if (!WHOLE_SHA.test(sha)) return false;
  try {
    return (await forge.findTree(toForgeRepository(repository), sha as Sha)) !== undefined;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return null;
  }
}
