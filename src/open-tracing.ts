import { hostname } from 'node:os';
import type { App } from './app/core/app.ts';
import { traceEntries } from './app/queue/entry-trace.ts';
import type { Config } from './config/config.ts';
import type { Log } from './lib/log.ts';
import { readVersion } from './lib/version.ts';
import type { OpenTracing } from './outgoing/otlp/create-tracing.ts';

/** Loaded only where traces are on. */
export async function openTracing(
  { traces }: Config,
  { serverId, log }: { readonly serverId: string; readonly log: Log },
): Promise<OpenTracing | undefined> {
  if (traces === undefined) return undefined;
  const { createTracing } = await import('./outgoing/otlp/create-tracing.ts');
  const version = readVersion();
  const own = { 'service.version': version, 'service.instance.id': serverId, 'host.name': hostname() };
  return createTracing({ ...traces, resource: { ...own, ...traces.resource }, version, log });
}

/** A stop waits no longer for traces. */
const STOP_MS = 2_000;

/** Returns a function that sends what is left. */
export function startTraces(app: App, tracing: OpenTracing | undefined): () => Promise<void> {
  if (tracing === undefined) return async () => {};
  const untilMade = traceEntries(app, tracing);
  return async () => {
    const endAt = performance.now() + STOP_MS;
    await new Promise<void>((resolve) => {
      const cancel = app.clock.after(STOP_MS / 2, resolve);
      void untilMade().then(cancel).then(resolve);
    });
    await tracing.stop(endAt - performance.now());
  };
}
