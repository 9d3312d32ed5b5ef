import type { Reply } from '../../core/api.ts';
import { type RepoPlace, testScope, touchesTests } from '../../core/places.ts';

export interface TestPlace extends RepoPlace {
  readonly testId: string;
}

export type Test = Reply<'getTestDetails'>['test'];

export function testBody(place: TestPlace) {
  return { ...testScope(place), test_id: place.testId };
}

/** An upload does not say which tests it is about. */
export function isTouched({ repo, testId }: TestPlace, event: Parameters<typeof touchesTests>[1]): boolean {
  return touchesTests(repo, event) && (event.testId === undefined || event.testId === testId);
}
