import type { Candidate } from '../../engine/model/candidate.ts';
import type { Check } from '../../engine/model/check.ts';
import { type Entry, isAdmitted } from '../../engine/model/queue.ts';
import { isFailFast } from '../../engine/model/required.ts';
import { valuesOf } from '../../lib/int-map.ts';
import { type FoundQueue, toForgeRepository } from '../core/find-queue.ts';
import { requestPullRequestPoll } from '../core/request-poll.ts';
import { loadQueues } from '../queue/list-queues.ts';
import type { HintOf, HintOutcome, HintRun } from './hint-run.ts';
import { checkNamesOf, findOpenCandidates, notePass, reportChecks, unconfirmedIn } from './report-checks.ts';

type ChecksHint = HintOf<'checks'>;

/** CI reported on a commit: one under test, or the head of a pull request that is not mergeable yet. */
export async function readReportedChecks(run: HintRun, hint: ChecksHint): Promise<HintOutcome> {
  const queues = await loadQueues(run.app, [run.repository]);
  // Mergeability is a fact of the pull request, so that the pull request is read again.
  for (const found of queues) {
    for (const { prNumber } of waitingAt(found, hint)) await requestPullRequestPoll(run.app, run.repository, prNumber);
  }
  const tested = queues.flatMap((found) =>
    findOpenCandidates(found.queue, hint.sha).map((candidate) => ({ found, candidate })),
  );
  if (!tested.some(({ candidate }) => mayDecide(candidate, hint))) return 'done';
  const noted = await Promise.all(
    tested.map(({ found, candidate }) => notePass(run.app, found, candidate.number, hint.report)),
  );
  if (noted.every((isNoted) => isNoted)) return 'done';
  const names = checkNamesOf(tested.map(({ candidate }) => candidate));
  const answer = await run.hosting.readChecks(toForgeRepository(run.repository), [hint.sha], names);
  const reports = answer.get(hint.sha) ?? [];
  for (const { found, candidate } of tested) await reportChecks(run.app, found, candidate, reports);
  const unconfirmed = tested.flatMap(({ candidate }) => unconfirmedIn(candidate));
  // GitHub may announce the end of a check a moment before its API shows it.
  const shown = new Set(reports.flatMap(({ name, status }) => (status === 'COMPLETED' ? name : [])));
  return [hint.check ?? [], unconfirmed].flat().every((name) => shown.has(name)) ? 'done' : 'later';
}

/** An open candidate or a waiting entry depends on these checks. */
export function isWaitedFor({ queue }: Pick<FoundQueue, 'queue'>, hint: ChecksHint): boolean {
  const tested = findOpenCandidates(queue, hint.sha);
  return tested.some((candidate) => mayDecide(candidate, hint)) || waitingAt({ queue }, hint).length > 0;
}

function waitingAt({ queue }: Pick<FoundQueue, 'queue'>, { sha }: ChecksHint): readonly Entry[] {
  return [...valuesOf(queue.entries)].filter((entry) => entry.pr.headSha === sha && isWaiting(entry));
}

export function hasWaiting({ queue }: Pick<FoundQueue, 'queue'>): boolean {
  return [...valuesOf(queue.entries)].some(isWaiting);
}

/** The forge does not allow the merge yet. */
function isWaiting(entry: Entry): boolean {
  return !isAdmitted(entry) && entry.pr.mergeability !== 'MERGEABLE';
}

/** Checks that are not required, or whose result is stored already, are not read from the forge. */
function mayDecide({ required, checks }: Candidate, { check: name, startedAt }: ChecksHint): boolean {
  const names = required?.names ?? [];
  const isFinished = (each: string, since = 0) =>
    checks.some((check) => check.name === each && isConfirmed(check) && (check.startedAt ?? 0) >= since);
  if (name === undefined) return names.some((each) => !isFinished(each));
  const isDecisive = names.includes(name) || isFailFast(required, name);
  return isDecisive && !(startedAt !== undefined && isFinished(name, startedAt));
}

function isConfirmed({ status, isUnconfirmed }: Check): boolean {
  return status === 'COMPLETED' && isUnconfirmed !== true;
}
