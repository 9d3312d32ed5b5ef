import { isReportedBy } from '../engine/required.ts';
import type { CheckReport } from './hosting.ts';

/**
 * What a commit's reports say about one check. Several may report under one name, and all of them count: it is pending
 * while one of them is, failed when one of them did. With `app`, only that app's word counts.
 */
export function reportOfCheck(reports: readonly CheckReport[], name: string, app?: string): CheckReport | undefined {
  const combined = combineReports(
    reports.filter((report) => report.name === name && (app === undefined || isReportedBy(app, report))),
  );
  if (combined === undefined) return undefined;
  const { parts = 1, ...report } = combined;
  return report.startedAt === undefined ? report : { ...report, startedAt: report.startedAt + parts - 1 };
}

/**
 * Began when the last of them did: an attempt of all of them is as new as its newest part, and newer than one of fewer. Of
 * forges, which tell whole seconds, a part that joins may have begun within the same one.
 */
export function combineReports(reports: readonly CheckReport[]): CheckReport | undefined {
  const [worst] = reports.toSorted((a, b) => badness(b) - badness(a));
  if (worst === undefined) return undefined;
  const starts = reports.flatMap(({ startedAt }) => startedAt ?? []);
  const parts = reports.reduce((sum, report) => sum + (report.parts ?? 1), 0);
  return { ...worst, startedAt: starts.length === 0 ? undefined : Math.max(...starts), parts };
}

/** Pending before failed before passed. */
export function isWorse(report: CheckReport, other: CheckReport): boolean {
  return badness(report) > badness(other);
}

function badness({ status, conclusion }: CheckReport): number {
  if (status === 'QUEUED') return 5;
  if (status === 'IN_PROGRESS' || conclusion === undefined) return 4;
  if (conclusion === 'SUCCESS') return 0;
  if (conclusion === 'NEUTRAL' || conclusion === 'SKIPPED') return 1;
  // What was cancelled is tried again; what failed would fail again.
  return conclusion === 'CANCELLED' || conclusion === 'STALE' ? 2 : 3;
}
