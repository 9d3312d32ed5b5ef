import type { Instant } from '../lib/clock.ts';
import type { Monitor } from './core/monitor.ts';

const LONG_LIVED = ['main', 'master', 'develop', 'dev', 'release/*'];
const WEEK_MINUTES = 7 * 24 * 60;

/** The monitors of a new repository. `makeId` is called once for each, in this order. */
export function seedMonitors(makeId: () => string, createdAt: Instant): readonly Monitor[] {
  const common = { enabled: true, createdAt };
  const onLongLived = { ...common, branches: LONG_LIVED };
  return [
    {
      ...common,
      id: makeId(),
      type: 'pass_on_retry',
      name: 'Pass on retry',
      branches: ['*'],
      action: { kind: 'classify', status: 'FLAKY' },
      parameters: { recoveryDays: 7 },
    },
    {
      ...onLongLived,
      id: makeId(),
      type: 'failure_count',
      name: 'Repeated failures',
      action: { kind: 'classify', status: 'FLAKY' },
      parameters: {
        failureCount: 5,
        windowMinutes: WEEK_MINUTES,
        resolutionTimeoutMinutes: WEEK_MINUTES,
        passesBetween: 1,
      },
    },
    {
      ...onLongLived,
      id: makeId(),
      type: 'failure_rate',
      name: 'Nearly always failing',
      action: { kind: 'classify', status: 'BROKEN' },
      parameters: {
        activationThreshold: 0.9,
        resolutionThreshold: 0.9,
        windowHours: 24,
        minimumSampleSize: 5,
        staleTimeoutHours: null,
      },
    },
    {
      ...onLongLived,
      id: makeId(),
      type: 'new_test',
      name: 'New tests',
      action: { kind: 'label', labels: ['New'], removeOnResolve: true },
      parameters: { newDays: 7 },
    },
    {
      ...onLongLived,
      id: makeId(),
      type: 'skipped_test',
      name: 'Skipped tests',
      action: { kind: 'label', labels: ['Skipped'], removeOnResolve: true },
      parameters: { windowMinutes: 24 * 60, minimumSkippedCount: 1, resolutionDays: 7 },
    },
  ];
}
