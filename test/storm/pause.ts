/** Waits for a random time or for the next poll, which no condition can replace. */
export function pause(delayMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, delayMs));
}

/** Polls until there is a result. Undefined at the time limit. */
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
