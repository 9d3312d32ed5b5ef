import type { Detector } from '../core/detector.ts';
import type { MonitorType } from '../core/monitor.ts';
import { failureCount } from './failure-count.ts';
import { failureRate } from './failure-rate.ts';
import { newTest } from './new-test.ts';
import { passOnRetry } from './pass-on-retry.ts';
import { skippedTest } from './skipped-test.ts';
import { slowTest } from './slow-test.ts';
import { timeoutInflation } from './timeout-inflation.ts';

const DETECTORS: { readonly [Type in MonitorType]: Detector<Type> } = {
  pass_on_retry: passOnRetry,
  failure_rate: failureRate,
  failure_count: failureCount,
  new_test: newTest,
  skipped_test: skippedTest,
  slow_test: slowTest,
  timeout_inflation: timeoutInflation,
};

/** The compiler cannot see that monitor and data are always of one type here. */
export function detectorOf(type: MonitorType): Detector<MonitorType> {
  return DETECTORS[type] as unknown as Detector<MonitorType>;
}
