// A server in front of a server: it holds chosen calls for ever, or breaks every connection.
import { createServer, request } from 'node:http';
import type { TestContext } from 'node:test';
import { listen } from '../helpers/listen.ts';

export interface Proxy {
  readonly url: string;
  /** From now on, calls of this operation are not answered. */
  hold(operation: string): void;
  /** Such a call has come. */
  isHeld(): boolean;
  setAway(isAway: boolean): void;
}

export async function openProxy(t: TestContext, target: string): Promise<Proxy> {
  let held = '';
  let isHeld = false;
  let isAway = false;
  const server = createServer((given, answer) => {
    if (isAway) return void given.socket.destroy();
    if (given.url === `/v1/${held}`) {
      isHeld = true;
      return;
    }
    const { url = '', method, headers } = given;
    const forward = request(target + url, { method, headers }, (got) => {
      answer.writeHead(got.statusCode ?? 500, got.headers);
      got.pipe(answer);
    });
    forward.on('error', () => answer.destroy());
    given.pipe(forward);
  });
  const url = await listen(server);
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url,
    hold: (operation) => {
      held = operation;
      isHeld = false;
    },
    isHeld: () => isHeld,
    setAway: (now) => {
      isAway = now;
    },
  };
}
