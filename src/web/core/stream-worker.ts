// One stream for all tabs: a browser opens six connections to a server, so that a seventh tab with its own would hang.
import { StreamConnection, type StreamState } from './stream-connection.ts';

interface Followed {
  readonly ports: Set<MessagePort>;
  state: StreamState;
  readonly connection: StreamConnection;
}

const followed = new Map<string, Followed>();

/** By organization and person. */
function follow(key: string, org: string): Followed {
  const tell = (message: object) => {
    for (const port of known.ports) port.postMessage(message);
  };
  const known: Followed = {
    ports: new Set(),
    state: 'connecting',
    connection: new StreamConnection(org, {
      onEvent: (event) => tell({ event }),
      onState: (state) => {
        known.state = state;
        tell({ state });
      },
    }),
  };
  followed.set(key, known);
  known.connection.open();
  return known;
}

interface Joined {
  readonly org: string;
  readonly who?: string;
}

function leave(port: MessagePort): void {
  for (const [key, { ports, connection }] of followed) {
    if (!ports.delete(port) || ports.size > 0) continue;
    connection.close();
    followed.delete(key);
  }
}

function join(port: MessagePort, { org, who = '' }: Joined): void {
  leave(port);
  const key = `${org} ${who}`;
  const known = followed.get(key) ?? follow(key, org);
  if (known.state === 'refused') known.connection.retry();
  known.ports.add(port);
  port.postMessage({ state: known.state });
}

self.addEventListener('connect', (event) => {
  const [port] = (event as MessageEvent).ports;
  if (port === undefined) return;
  port.onmessage = ({ data }: MessageEvent<Partial<Joined>>) => {
    if (data.org === undefined) leave(port);
    else join(port, { ...data, org: data.org });
  };
});
