import type { ExplanationReason } from '../../engine/explanation.ts';
import { words } from './markdown.ts';

const MAX_REASONS = 20;
const MAX_DEPTH = 3;

/** The tree of reasons as nested lists. Depth is limited; a long list ends with the number of hidden reasons. */
export function renderReasons(reasons: readonly ExplanationReason[], ours: ReadonlySet<number>): string[] {
  const lines: string[] = [];
  let left = 0;
  const add = (list: readonly ExplanationReason[], depth: number) => {
    for (const reason of list.flatMap(simplify)) {
      if (lines.length < MAX_REASONS)
        lines.push(`${'  '.repeat(depth)}- ${words(withPlainTimes(reason.text), { ours })}`);
      else left += 1;
      if (depth + 1 < MAX_DEPTH) add(reason.reasons, depth + 1);
    }
  };
  add(reasons, 0);
  return left === 0 ? lines : [...lines, `- ${left} more`];
}

/** Leaves out reasons that the comment shows elsewhere, or that change within moments. */
function simplify(reason: ExplanationReason): ExplanationReason[] {
  switch (reason.code) {
    // The candidate, its checks and the failures have places of their own.
    case 'CHECK_OPEN':
    case 'TESTING':
      return [];
    case 'FAILED_CHECKS':
    case 'BISECTION':
      return [...reason.reasons].flatMap(simplify);
    // Its text already contains the first of its reasons.
    case 'NOT_MERGEABLE':
      return [reason.reasons.length > 1 ? { ...reason, text: 'It cannot be merged:' } : { ...reason, reasons: [] }];
    default:
      return [reason];
  }
}

function withPlainTimes(text: string): string {
  return text.replace(/\b(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\d(?:\.\d+)?Z/g, '$1 $2 UTC');
}
