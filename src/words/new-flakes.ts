import type { Entry } from '../engine/model/queue.ts';
import { type ExplanationReason, reason } from './explanation.ts';
import { listOf } from './phrases.ts';

/** Its author knows best why a test fails at random since this pull request. */
// SPEC V80
export function flakeReasons({ newFlakes }: Entry): ExplanationReason[] {
  if (newFlakes.length === 0) return [];
  const [the, is, it] = newFlakes.length === 1 ? ['The test', 'is', 'It'] : ['The tests', 'are', 'They'];
  const text = `${the} ${listOf(newFlakes)} ${is} flaky since this pull request. ${it} failed and passed on the same tree with it, and never failed before on a tree that passes.`;
  return [reason('FLAKY_SINCE', text)];
}
