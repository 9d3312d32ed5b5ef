/** Durations are kept to the microsecond; an invalid one is dropped. */
export function toMicroseconds(durationMs: number | null): number | null {
  if (durationMs === null) return null;
  const microseconds = Math.round(durationMs * 1000);
  return microseconds >= 0 && Number.isSafeInteger(microseconds) ? microseconds : null;
}
