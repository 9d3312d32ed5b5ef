import { isReportedBy } from '../engine/model/required.ts';
import type { CheckReport } from './hosting.ts';

// SPEC G120
export function reportOfCheck(reports: readonly CheckReport[], name: string, app?: string): CheckReport | undefined {
  const combined = combineReports(
    reports.filter((report) => report.name === name && (app === undefined || isReportedBy(app, report))),
  );
  if (combined === undefined) return undefined;
  const { parts = 1, ...report } = combined;
  return report.startedAt === undefined ? report : { ...report, startedAt: report.startedAt + parts - 1 };
}

/** As new as its newest part. Timestamps have whole seconds: by `parts`, a report with more of them is newer. */
// SPEC G123
export function combineReports(reports: readonly CheckReport[]): CheckReport | undefined {
  const [worst] = reports.toSorted((a, b) => badness(b) - badness(a));
  if (worst === undefined) return undefined;
  const starts = reports.flatMap(({ startedAt }) => startedAt ?? []);
  const parts = reports.reduce((sum, report) => sum + (report.parts ?? 1), 0);
  return { ...worst, startedAt: starts.length === 0 ? undefined : Math.max(...starts), parts };
}

/** Pending is worse than failed, failed is worse than passed. */
export function isWorse(report: CheckReport, other: CheckReport): boolean {
  return badness(report) > badness(other);
}

function badness({ status, conclusion }: CheckReport): number {
  if (status === 'QUEUED') return 5;
  if (status === 'IN_PROGRESS' || conclusion === undefined) return 4;
  if (conclusion === 'SUCCESS') return 0;
  if (conclusion === 'NEUTRAL' || conclusion === 'SKIPPED') return 1;
  // A cancelled check can be retried; a failed one would fail again.
  return conclusion === 'CANCELLED' || conclusion === 'STALE' ? 2 : 3;
}

export function hasPassed({ conclusion }: CheckReport): boolean {
  return conclusion === 'SUCCESS' || conclusion === 'NEUTRAL' || conclusion === 'SKIPPED';
}
