const SIZES = Array.from({ length: 40 }, (_, index) => index + 1);

/**
 * The runs of batches that are halved after a failure, and of which four or fewer are tested one by one, with the best
 * size for these outcomes in hindsight. One character per build: 0 passed, 1 failed.
 */
export function runsOfStop4(outcomes: string): number {
  return Math.min(...SIZES.map((size) => runsOfBatches(outcomes, size)));
}

function runsOfBatches(outcomes: string, size: number): number {
  let runs = 0;
  for (let from = 0; from < outcomes.length; from += size) runs += runsOf(outcomes.slice(from, from + size));
  return runs;
}

function runsOf(batch: string): number {
  if (!batch.includes('1') || batch.length === 1) return 1;
  if (batch.length <= 4) return 1 + batch.length;
  const middle = Math.floor(batch.length / 2);
  return 1 + runsOf(batch.slice(0, middle)) + runsOf(batch.slice(middle));
}
