/** A storm has its own pace: what is waited for here is chance, or the next look at something. */
export function pause(delayMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, delayMs));
}

/** Looks again and again; undefined when the time is over. */
export async function lookUntil<T>(
  { withinMs, everyMs }: { readonly withinMs: number; readonly everyMs: number },
  look: () => Promise<T | undefined> | T | undefined,
): Promise<T | undefined> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const found = await look();
    if (found !== undefined || performance.now() > deadline) return found;
    await pause(everyMs);
  }
}
