import type { ReplyOf, RequestOf } from '../../contract/operation.ts';
import type * as testingContract from '../../contract/testing.ts';
import type { Candidate } from '../../engine/model/candidate.ts';
import { formatInstant, optionalInstant } from '../../lib/clock.ts';
import { present } from '../../lib/present.ts';
import type { CandidateRow } from '../../storage/queues.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { type FoundQueue, findRepository, getForge } from '../core/find-queue.ts';
import { type Answer, isRefusal, refuseField } from '../core/refusal.ts';
import { readAskedTests } from './asked-tests.ts';
import { PURPOSES, STATUSES } from './candidate-view.ts';
import { testBranchOf } from './entry-run.ts';
import { findQueueOf } from './get-candidate-log.ts';
import { candidateNotFound, parseCandidateId, presentState } from './get-merge-queue-testing-details.ts';
import { findTestRun } from './report-check.ts';

type GetTestRunInfo = RequestOf<typeof testingContract.getTestRunInfo>;

// SPEC C64
export async function getTestRunInfo(
  app: App,
  caller: Caller,
  input: GetTestRunInfo,
): Answer<ReplyOf<typeof testingContract.getTestRunInfo>> {
  const row = await findRow(app, caller, input);
  if (isRefusal(row)) return row;
  const found = await findQueueOf(app, caller, row);
  if (found === undefined) return candidateNotFound(input.testRunId ?? row.id);
  const { host, owner, name } = found.repository;
  const candidate = presentState(found.queue, row);
  const { state, commit, tries, repeats = [], endedAt, ending } = candidate;
  return {
    testRunId: row.id,
    repo: { host, owner, name },
    targetBranch: found.queue.branch,
    purpose: PURPOSES[candidate.purpose.kind],
    status: STATUSES[state],
    // As runs are cancelled on GitHub: one that passed may go on with checks that are not required.
    isWanted: endedAt === undefined || state === 'passed',
    attempt: 1 + tries + repeats.length,
    baseSha: candidate.base.sha,
    testBranch: testBranchOf(getForge(app, host), found, candidate),
    testBranchSha: commit?.sha ?? '',
    prNumbers: candidate.members.map(({ prNumber }) => prNumber),
    dependentPrs: candidate.beneath.map(({ prNumber }) => prNumber),
    ...(await viewScope(app, found, candidate)),
    createdAt: formatInstant(candidate.plannedAt),
    ...present({ endedAt: optionalInstant(endedAt), endReason: ending?.reason, endedByPr: ending?.prNumber }),
  };
}

// SPEC C71
async function viewScope(app: App, { repository }: FoundQueue, { question }: Candidate) {
  if (question === undefined) return { scope: 'ALL' as const };
  return { scope: 'QUESTION' as const, question: await readAskedTests(app, repository.id, question) };
}

async function findRow(app: App, caller: Caller, { repo, testRunId, sha }: GetTestRunInfo): Answer<CandidateRow> {
  if (repo !== undefined) {
    const repository = await findRepository(app, caller, repo);
    if (isRefusal(repository)) return repository;
    return findTestRun(app, repository, sha === undefined ? { testRunId: testRunId as string } : { sha });
  }
  if (testRunId === undefined) return refuseField('/repo', 'is needed with sha');
  const row = await app.store.queueRecords.findCandidateById(parseCandidateId(testRunId));
  return row ?? candidateNotFound(testRunId);
}
