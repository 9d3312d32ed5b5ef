import type { CandidateNumber } from '../../engine/model/candidate.ts';
import type { Check } from '../../engine/model/check.ts';
import { checkOfProbe } from '../../engine/model/question.ts';
import { appFor } from '../../engine/model/required.ts';
import type { Sha } from '../../lib/sha.ts';
import type { CandidateRow } from '../../storage/queues.ts';
import type { Repository, RepositoryId, RepositoryRef } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { findRepository } from '../core/find-queue.ts';
import { decodeCandidate } from '../core/queue-codec.ts';
import { type Answer, isRefusal, type Refusal, refuse, refuseField } from '../core/refusal.ts';
import type { CandidateView } from './candidate-view.ts';
import { findAnyCandidate } from './find-entry.ts';
import { candidateNotFound, describeCandidate, parseCandidateId } from './get-merge-queue-testing-details.ts';

interface ReportCheck {
  readonly repo: RepositoryRef;
  readonly of: TestRunName;
  readonly check: Omit<Check, 'reportedAt'>;
}

/** CI knows the test branch, whose name ends with the id, or only the commit. */
type TestRunName = { readonly testRunId: string } | { readonly sha: Sha };

/** Stores a CI result, also one of an ended candidate, and returns the candidate as it is after it. */
export async function reportCheck(app: App, caller: Caller, input: ReportCheck): Answer<CandidateView> {
  const repository = await findRepository(app, caller, input.repo);
  if (isRefusal(repository)) return repository;
  const row = await findTestRun(app, repository, input.of);
  if (isRefusal(row)) return row;
  const refusal = refuseReporter(repository, row, input.check.name);
  if (refusal !== undefined) return refusal;
  const number = row.number as CandidateNumber;
  const check = { ...input.check, ...(await uploadsOf(app, repository.id, [input.check])) };
  const result = await app.queues.run(row.queueId, () => ({
    kind: 'check_reported',
    at: app.clock.now(),
    candidate: number,
    check,
  }));
  const loaded = result && (await app.queues.find(row.queueId));
  if (result === undefined || loaded === undefined) return notFound(input.of);
  const found = { ...loaded, queue: result.queue, repository };
  const candidate = await findAnyCandidate(app, found, number);
  return candidate === undefined ? notFound(input.of) : describeCandidate(app, found, candidate);
}

/** A required check may name its app, and a token does not prove which app uses it. */
// SPEC C31, G125
function refuseReporter({ checks }: Repository, row: CandidateRow, name: string): Refusal | undefined {
  const { required, question } = decodeCandidate(row);
  const plain = question === undefined ? name : checkOfProbe(name);
  const app = required && appFor(required, name);
  const isOwn = required?.commands !== '' && checks.some((check) => check.name === plain);
  if (!isOwn && app === undefined) return undefined;
  const why = isOwn
    ? 'which Sluice runs itself: nobody else can report its result'
    : `which counts only when the app ${app} reports it at the forge`;
  return refuseField('/name', `is "${name}", ${why}`);
}

// SPEC C13
export async function findTestRun(app: App, { id }: Repository, of: TestRunName): Answer<CandidateRow> {
  const queueIds = await app.directory.listQueueIds(id);
  if ('sha' in of) return (await app.store.queueRecords.findCandidateBySha(queueIds, of.sha)) ?? notFound(of);
  const row = await app.store.queueRecords.findCandidateById(parseCandidateId(of.testRunId));
  return row !== undefined && queueIds.includes(row.queueId) ? row : notFound(of);
}

function notFound(of: TestRunName): Refusal {
  if ('testRunId' in of) return candidateNotFound(of.testRunId);
  return refuse(
    'TEST_RUN_NOT_FOUND',
    `No test run here has the commit ${of.sha}. Report on the commit that was tested.`,
  );
}

/** Adds to a report of passed checks that the repository has uploads: without any, no reports are waited for. */
// SPEC V58
export async function uploadsOf(
  { store }: Pick<App, 'store'>,
  repositoryId: RepositoryId,
  checks: readonly Pick<Check, 'conclusion'>[],
): Promise<Pick<Check, 'hasUploads'>> {
  if (!checks.some(({ conclusion }) => conclusion === 'SUCCESS')) return {};
  return (await store.uploads.getWatermark(repositoryId)) === 0 ? {} : { hasUploads: true };
}
