import type { Candidate } from '../../engine/candidate.ts';
import type { Sha } from '../../engine/pull-request.ts';
import { isAdmitted } from '../../engine/queue.ts';
import type { CheckReport } from '../../forge/hosting.ts';
import { valuesOf } from '../../lib/int-map.ts';
import { type FoundQueue, toForgeRepository } from '../find-queue.ts';
import { loadQueues } from '../list-queues.ts';
import { lookAgainSoon } from './look-again.ts';
import type { NoticeAnswer, NoticeOf, NoticeRun } from './notice-run.ts';
import { findOpenCandidates, reportChecks } from './report-checks.ts';

/** CI said something about a commit: one that is under test, or the head of a pull request that waits to be ready. */
export async function lookAtChecks(run: NoticeRun, notice: NoticeOf<'checks'>): Promise<NoticeAnswer> {
  const queues = await loadQueues(run.app, [run.repository]);
  await lookAtHeads(run, queues, notice.sha);
  const tested = queues.flatMap((found) =>
    findOpenCandidates(found.queue, notice.sha).map((candidate) => ({ found, candidate })),
  );
  if (!tested.some(({ candidate }) => mayDecide(candidate, notice))) return 'done';
  const answer = await run.hosting.readChecks(toForgeRepository(run.repository), [notice.sha]);
  const reports = answer.get(notice.sha) ?? [];
  for (const { found, candidate } of tested) await reportChecks(run.app, found, candidate, reports);
  return isThere(reports, notice) ? 'done' : 'later';
}

/** Whether it may be merged now is a question about the pull request. */
async function lookAtHeads({ app, repository }: NoticeRun, queues: readonly FoundQueue[], sha: Sha): Promise<void> {
  for (const { queue } of queues) {
    for (const entry of valuesOf(queue.entries)) {
      const { pr, prNumber } = entry;
      const isWaitedFor = !isAdmitted(entry) && pr.mergeability !== 'MERGEABLE';
      if (isWaitedFor && pr.headSha === sha) await lookAgainSoon(app, repository, prNumber);
    }
  }
}

/** Checks that nobody waits for, and those that are known already, need no question. */
function mayDecide({ required, checks }: Candidate, { check: name, startedAt }: NoticeOf<'checks'>): boolean {
  const names = required?.names ?? [];
  const isFinished = (each: string, since = 0) =>
    checks.some((check) => check.name === each && check.status === 'COMPLETED' && (check.startedAt ?? 0) >= since);
  if (name === undefined) return names.some((each) => !isFinished(each));
  return names.includes(name) && !(startedAt !== undefined && isFinished(name, startedAt));
}

/** What was told of finished and cannot be seen yet is seen a moment later. */
function isThere(reports: readonly CheckReport[], { check: name }: NoticeOf<'checks'>): boolean {
  if (name === undefined) return true;
  return reports.some((report) => report.name === name && report.status === 'COMPLETED');
}
