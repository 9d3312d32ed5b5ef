/** The nearest-rank percentile of a sorted list; undefined if it is empty. */
export function percentile(sorted: readonly number[], percent: number): number | undefined {
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)];
}
