/** GitHub writes timestamps in whole seconds. */
export function timeView(instant: number): string {
  return `${new Date(instant).toISOString().slice(0, 19)}Z`;
}

export function maybeTime(instant: number | undefined): string | null {
  return instant === undefined ? null : timeView(instant);
}
