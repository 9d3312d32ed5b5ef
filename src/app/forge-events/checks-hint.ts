import type { Candidate } from '../../engine/candidate.ts';
import { type Entry, isAdmitted } from '../../engine/queue.ts';
import type { CheckReport } from '../../forge/hosting.ts';
import { valuesOf } from '../../lib/int-map.ts';
import { type FoundQueue, toForgeRepository } from '../core/find-queue.ts';
import { lookAgainSoon } from '../core/request-poll.ts';
import { loadQueues } from '../queue/list-queues.ts';
import type { NoticeAnswer, NoticeOf, NoticeRun } from './hint-run.ts';
import { findOpenCandidates, reportChecks } from './report-checks.ts';

type ChecksNotice = NoticeOf<'checks'>;

/** CI said something about a commit: one that is under test, or the head of a pull request that waits to be ready. */
export async function lookAtChecks(run: NoticeRun, notice: ChecksNotice): Promise<NoticeAnswer> {
  const queues = await loadQueues(run.app, [run.repository]);
  await lookAtWaiting(run, queues, notice);
  const tested = queues.flatMap((found) =>
    findOpenCandidates(found.queue, notice.sha).map((candidate) => ({ found, candidate })),
  );
  if (!tested.some(({ candidate }) => mayDecide(candidate, notice))) return 'done';
  const answer = await run.hosting.readChecks(toForgeRepository(run.repository), [notice.sha]);
  const reports = answer.get(notice.sha) ?? [];
  for (const { found, candidate } of tested) await reportChecks(run.app, found, candidate, reports);
  return isThere(reports, notice) ? 'done' : 'later';
}

/** Whether anybody waits for it. */
export function isWaitedFor({ queue }: Pick<FoundQueue, 'queue'>, notice: ChecksNotice): boolean {
  const tested = findOpenCandidates(queue, notice.sha);
  return tested.some((candidate) => mayDecide(candidate, notice)) || waitingAt({ queue }, notice).length > 0;
}

/** Whether it may be merged now is a question about the pull request. */
async function lookAtWaiting(
  { app, repository }: NoticeRun,
  queues: readonly FoundQueue[],
  notice: ChecksNotice,
): Promise<void> {
  const waiting = queues.flatMap((found) => waitingAt(found, notice));
  for (const { prNumber } of waiting) await lookAgainSoon(app, repository, prNumber);
}

function waitingAt({ queue }: Pick<FoundQueue, 'queue'>, { sha }: ChecksNotice): readonly Entry[] {
  return [...valuesOf(queue.entries)].filter((entry) => entry.pr.headSha === sha && isWaiting(entry));
}

export function hasWaiting({ queue }: Pick<FoundQueue, 'queue'>): boolean {
  return [...valuesOf(queue.entries)].some(isWaiting);
}

/** The forge does not let it be merged yet. */
function isWaiting(entry: Entry): boolean {
  return !isAdmitted(entry) && entry.pr.mergeability !== 'MERGEABLE';
}

/** Checks that nobody waits for, and those that are known already, need no question. */
function mayDecide({ required, checks }: Candidate, { check: name, startedAt }: ChecksNotice): boolean {
  const names = required?.names ?? [];
  const isFinished = (each: string, since = 0) =>
    checks.some((check) => check.name === each && check.status === 'COMPLETED' && (check.startedAt ?? 0) >= since);
  if (name === undefined) return names.some((each) => !isFinished(each));
  return names.includes(name) && !(startedAt !== undefined && isFinished(name, startedAt));
}

/** What was told of finished and cannot be seen yet is seen a moment later. */
function isThere(reports: readonly CheckReport[], { check: name }: ChecksNotice): boolean {
  if (name === undefined) return true;
  return reports.some((report) => report.name === name && report.status === 'COMPLETED');
}
