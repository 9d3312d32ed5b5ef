/** Somebody wants it to end: Ctrl-C, a closed terminal, whoever runs it, or a reader that has seen enough. */
export interface Interruption {
  readonly signal: AbortSignal;
  stopListening(): void;
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export function listenForInterruption(): Interruption {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  for (const name of SIGNALS) process.on(name, abort);
  process.stdout.on('error', abort);
  return {
    signal: controller.signal,
    stopListening: () => {
      for (const name of SIGNALS) process.off(name, abort);
      process.stdout.off('error', abort);
    },
  };
}
