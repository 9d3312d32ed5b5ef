import { counted, DAY_MS, type Detector, durationWords, KEPT_RUNS, MINUTE_MS, SAME } from '../core/detector.ts';
import { keepLatest, refOf } from '../core/run.ts';

export const skippedTest: Detector<'skipped_test'> = {
  fold(data, { upload, runs }, { parameters }) {
    if (runs.every((run) => run.conclusion !== 'SKIPPED')) return data;
    const skips = runs.filter((run) => run.conclusion === 'SKIPPED').map((run) => refOf(upload, run.startedAt));
    return { skips: keepLatest(data?.skips ?? [], skips, parameters.minimumSkippedCount) };
  },

  decide({ skips }, { parameters }, { at, isActive }) {
    if (isActive) {
      if ((skips[0]?.at ?? 0) + parameters.resolutionDays * DAY_MS > at) return SAME;
      const reason = `It was not skipped for ${counted(parameters.resolutionDays, 'day')}.`;
      return { kind: 'inactive', cause: 'recovered', reason };
    }
    const since = Math.max(at - parameters.windowMinutes * MINUTE_MS, at - parameters.resolutionDays * DAY_MS);
    if ((skips[parameters.minimumSkippedCount - 1]?.at ?? 0) <= since) return SAME;
    const times = counted(parameters.minimumSkippedCount, 'time');
    const reason = `It was skipped at least ${times} within ${durationWords(parameters.windowMinutes)}.`;
    const figures = { skipped: skips.length };
    return { kind: 'active', reason, evidence: { runs: skips.slice(0, KEPT_RUNS), figures } };
  },

  nextAt({ skips }, { parameters }, { isActive }) {
    const [last] = skips;
    return isActive && last !== undefined ? last.at + parameters.resolutionDays * DAY_MS : null;
  },
};
