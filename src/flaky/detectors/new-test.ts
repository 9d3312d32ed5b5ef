import { counted, DAY_MS, type Detector, SAME } from '../core/detector.ts';

/** Covers only tests first seen while the monitor existed: creating a monitor must not call every old test new. */
// SPEC F49
export const newTest: Detector<'new_test'> = {
  fold: (data, { at }) => (data !== null && data.firstSeenAt <= at ? data : { firstSeenAt: at }),

  decide(data, { parameters, createdAt }, { at, isActive, firstSeenAt }) {
    const isNew = firstSeenAt >= createdAt && at < data.firstSeenAt + parameters.newDays * DAY_MS;
    if (isNew === isActive) return SAME;
    const days = counted(parameters.newDays, 'day');
    return isNew
      ? { kind: 'active', reason: `It was first seen less than ${days} ago.`, evidence: { runs: [], figures: {} } }
      : { kind: 'inactive', cause: 'recovered', reason: `It was first seen ${days} ago.` };
  },

  nextAt: (data, { parameters }, { isActive }) => (isActive ? data.firstSeenAt + parameters.newDays * DAY_MS : null),
};
