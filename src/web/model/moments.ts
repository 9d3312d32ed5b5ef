/** The index of the latest instant that is not after this one; 0 if all are. */
export function nearest(instants: readonly number[], at: number): number {
  let low = 0;
  let high = instants.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((instants[middle] as number) <= at) low = middle;
    else high = middle - 1;
  }
  return Math.max(0, low);
}

/** The instant before or after this one; undefined at the end. */
export function step(instants: readonly number[], at: number, by: 1 | -1): number | undefined {
  if (by === 1) return instants.find((instant) => instant > at);
  return instants.findLast((instant) => instant < at);
}
