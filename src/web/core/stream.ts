import { signal } from '@preact/signals';
import { StreamConnection, type StreamEvent, type StreamState } from './stream-connection.ts';

/** How the line to the server is. */
export const streamState = signal<StreamState>('connecting');

interface Followed {
  readonly org: string;
  /** Somebody else gets other events. */
  readonly who: string;
}

type Listener = (event: StreamEvent) => void;
const listeners = new Set<Listener>();
let current: (Followed & { close(): void }) | undefined;

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
export function followStream({ org, who }: Followed): void {
  if (current?.org === org && current.who === who) return;
  current?.close();
  current = { org, who, ...open({ org, who }) };
}

/** Somebody signed in: a line that was refused is tried again at once. */
export function retryStream(): void {
  const { org, who } = current ?? {};
  leaveStream();
  if (org !== undefined && who !== undefined) followStream({ org, who });
}

export function leaveStream(): void {
  current?.close();
  current = undefined;
}

function open({ org, who }: Followed): { close(): void } {
  if (typeof SharedWorker === 'undefined') return new StreamConnection(org, connection).open();
  const port = workerPort();
  port.postMessage({ org, who });
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
    if (persisted && current !== undefined) port?.postMessage({ org: current.org, who: current.who });
  });
  return port;
}
