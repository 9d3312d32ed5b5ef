/** One Ctrl-C may arrive twice: a terminal signals every process of its group, and npm signals its child again. */
const SAME_MS = 500;

export function watchStopSignals() {
  const first = Promise.withResolvers<void>();
  const second = Promise.withResolvers<void>();
  let firstMs: number | undefined;
  const note = () => {
    firstMs ??= performance.now();
    first.resolve();
    if (performance.now() - firstMs > SAME_MS) second.resolve();
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, note);
  return { first: first.promise, second: second.promise };
}
