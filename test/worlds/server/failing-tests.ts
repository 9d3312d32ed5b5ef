import type { PageView } from '../../../src/app/core/list-page.ts';
import type { TestView } from '../../../src/app/tests/test-view.ts';
import { DAY_MS, NOON } from '../../helpers/store-rows.ts';
import type { InProcess } from './in-process.ts';

export const FAILING = '/v1/flaky-tests/list-failing-tests';

export interface TestPage {
  readonly tests: readonly TestView[];
  readonly page: PageView;
}

/** The request for the tests that failed within a day of noon. */
export function failingRequest({ scope }: InProcess, more: object = {}): object {
  const [start_time, end_time] = [NOON - DAY_MS, NOON + DAY_MS].map((instant) => new Date(instant).toISOString());
  return { ...scope, start_time, end_time, page_query: { page_size: 100 }, ...more };
}

export function listFailing(world: InProcess, more?: object): Promise<TestPage> {
  return world.ok<TestPage>(FAILING, failingRequest(world, more));
}
