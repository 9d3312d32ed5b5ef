/** Runs at most `count` tasks at a time, in order. */
export function createLimit(count: number): <T>(task: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (task) => {
    if (running >= count) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await task();
    } finally {
      // The slot passes directly to the next task, so a newcomer cannot overtake it.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
