import { signal } from '@preact/signals';
import { StreamConnection, type StreamEvent, type StreamState } from './stream-connection.ts';

/** How the line to the server is. */
export const streamState = signal<StreamState>('connecting');

type Listener = (event: StreamEvent) => void;
const listeners = new Set<Listener>();
let current: { readonly org: string; close(): void } | undefined;

const connection = {
  onEvent: (event: StreamEvent) => {
    for (const listener of listeners) listener(event);
  },
  onState: (state: StreamState) => {
    // Events may have been missed while the line was gone, so everything is read again.
    if (state === 'live' && streamState.value !== 'live') for (const listener of listeners) listener({ type: 'back' });
    streamState.value = state;
  },
};

export function onStreamEvent(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Follows this organization, and no other. */
export function followStream(org: string): void {
  if (current?.org === org) return;
  current?.close();
  current = { org, ...open(org) };
}

export function leaveStream(): void {
  current?.close();
  current = undefined;
}

function open(org: string): { close(): void } {
  if (typeof SharedWorker === 'undefined') return new StreamConnection(org, connection).open();
  const port = workerPort();
  port.postMessage({ org });
  return { close: () => port.postMessage({}) };
}

let port: MessagePort | undefined;

function workerPort(): MessagePort {
  if (port !== undefined) return port;
  const worker = new SharedWorker(document.getElementById('script')?.dataset.worker ?? '', { type: 'module' });
  port = worker.port;
  port.onmessage = ({ data }: MessageEvent<{ readonly event?: StreamEvent; readonly state?: StreamState }>) => {
    if (data.event !== undefined) connection.onEvent(data.event);
    if (data.state !== undefined) connection.onState(data.state);
  };
  addEventListener('pagehide', () => port?.postMessage({}));
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted && current !== undefined) port?.postMessage({ org: current.org });
  });
  return port;
}
