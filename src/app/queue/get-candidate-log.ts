import type * as candidateLogContract from '../../contract/candidate-log.ts';
import type { ReplyOf, RequestOf } from '../../contract/operation.ts';
import type { Candidate } from '../../engine/model/candidate.ts';
import { verdictOfCheck } from '../../engine/model/check.ts';
import type { CandidateRow } from '../../storage/queues.ts';
import type { Repository } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';
import { type Caller, maySee } from '../core/caller.ts';
import { type FoundQueue, findQueue } from '../core/find-queue.ts';
import { type Answer, isRefusal, type Refusal, refuse, refuseField } from '../core/refusal.ts';
import { viewCheck } from './candidate-view.ts';
import { candidateNotFound, parseCandidateId, presentState } from './get-merge-queue-testing-details.ts';

type GetCandidateLog = RequestOf<typeof candidateLogContract.getCandidateLog>;

export type CandidateLogView = ReplyOf<typeof candidateLogContract.getCandidateLog>;

const MAX_BYTES = 256 * 1024;

// SPEC C14
export async function getCandidateLog(app: App, caller: Caller, input: GetCandidateLog): Answer<CandidateLogView> {
  const found = await findTestRun(app, caller, input);
  if (isRefusal(found)) return found;
  const { offset = 0 } = input;
  const { candidate, candidateId, repository } = found;
  const checks = listChecks(candidate, repository);
  // SPEC C39
  const first = candidate.checks.find((each) => verdictOfCheck(each) === 'failed') ?? checks[0];
  const check = input.check ?? first?.name;
  if (check === undefined || !checks.some(({ name }) => name === check)) return unknownCheck(check, checks);
  // Read before the log: output that is written in between is in this answer or in the next one.
  const isOver = hasEnded(candidate, check);
  const part = await app.store.logs.read({ candidateId, check }, offset, MAX_BYTES);
  const { bytes, size } = part ?? { bytes: new Uint8Array(), size: 0 };
  const isEnd = isOver && offset + bytes.length >= size;
  const whole = isEnd ? bytes : bytes.subarray(0, wholeCharacters(bytes));
  return {
    text: new TextDecoder('utf-8', { ignoreBOM: true }).decode(whole),
    nextOffset: offset + whole.length,
    complete: isEnd,
    check,
    checks,
  };
}

interface FoundTestRun {
  readonly candidateId: string;
  readonly candidate: Candidate;
  readonly repository: Repository;
}

/** A test run that the caller may not see counts as not found. */
// SPEC C40
async function findTestRun(app: App, caller: Caller, input: GetCandidateLog): Answer<FoundTestRun> {
  const { repo, targetBranch = '' } = input;
  const named = repo && (await findQueue(app, caller, { repo, targetBranch }));
  if (isRefusal(named)) return named;
  const candidateId = parseCandidateId(input.testRunId);
  const row = await app.store.queueRecords.findCandidateById(candidateId);
  if (row === undefined || (named !== undefined && named.id !== row.queueId)) return candidateNotFound(input.testRunId);
  const found = named ?? (await findQueueOf(app, caller, row));
  if (found === undefined) return candidateNotFound(input.testRunId);
  return { candidateId, candidate: presentState(found.queue, row), repository: found.repository };
}

/** The queue of a candidate, if the caller may see it. */
export async function findQueueOf(app: App, caller: Caller, row: CandidateRow): Promise<FoundQueue | undefined> {
  const loaded = await app.queues.find(row.queueId);
  const repository = loaded && (await app.directory.findRepositoryById(loaded.repositoryId));
  if (loaded === undefined || repository === undefined || !maySee(caller, repository)) return undefined;
  return { ...loaded, repository };
}

/** Checks that reported, then the open ones: required checks and those of the built-in runner. */
function listChecks({ checks, required }: Candidate, repository: Repository): CandidateLogView['checks'] {
  const reported = new Set(checks.map(({ name }) => name));
  const names = [...(required?.names ?? []), ...repository.checks.map(({ name }) => name)];
  const open = [...new Set(names)].filter((name) => !reported.has(name));
  return [...checks.map(viewCheck), ...open.map((name) => ({ name, url: '' }))];
}

function unknownCheck(check: string | undefined, checks: CandidateLogView['checks']): Refusal {
  const names = checks.map(({ name }) => name);
  if (check === undefined) {
    return refuse('VALIDATION_FAILED', 'This test run has no checks, so there is no log to read.', [
      { path: '/check', message: 'names nothing: there are no checks' },
    ]);
  }
  const known = names.length === 0 ? 'there are none' : `there are ${names.join(', ')}`;
  return refuseField('/check', `must be a check of this test run: ${known}`);
}

// SPEC C38
function hasEnded({ state, checks }: Candidate, name: string): boolean {
  if (state === 'passed' || state === 'failed' || state === 'abandoned') return true;
  return checks.find((check) => check.name === name)?.status === 'COMPLETED';
}

/** The number of bytes without a last character that is cut in two. */
function wholeCharacters(bytes: Uint8Array): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back] as number;
    const isContinuation = (byte & 0xc0) === 0x80;
    if (!isContinuation) return lengthOf(byte) > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** The length of the UTF-8 sequence that the byte begins. */
function lengthOf(lead: number): number {
  if (lead >= 0xf0 && lead <= 0xf4) return 4;
  if (lead >= 0xe0 && lead <= 0xef) return 3;
  return lead >= 0xc2 && lead <= 0xdf ? 2 : 1;
}
