import { connect, createServer, type Server, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

export interface Proxy {
  readonly url: string;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Nothing passes any more, and no connection breaks. */
  hang(): void;
  /** Lets the next message with this text reach the server, and breaks the connection before the answer. */
  cutAfter(text: string, act?: () => void): Promise<void>;
  /** Lets the next message with this text reach the server, and nothing more of that connection. */
  freezeAfter(text: string): Promise<void>;
}

/** A network between the store and PostgreSQL, which can fail. */
export async function startProxy(t: TestContext, url: string): Promise<Proxy> {
  const target = new URL(url);
  const path = `${target.searchParams.get('host')}/.s.PGSQL.5432`;
  const sockets = new Set<Socket>();
  let cut: { readonly text: string; readonly done: () => void } | undefined;
  let freeze: { readonly text: string; readonly done: () => void } | undefined;
  let server: Server | undefined;
  let isHung = false;
  let port = 0;
  const relay = (client: Socket) => {
    const upstream = connect(path);
    for (const socket of [client, upstream]) {
      sockets.add(socket.on('error', () => {}).on('close', () => sockets.delete(socket)));
    }
    let answered: (() => void) | undefined;
    let isFrozen = false;
    client.on('data', (chunk) => {
      if (isFrozen || isHung) return;
      upstream.write(chunk);
      if (freeze !== undefined && chunk.includes(freeze.text)) {
        isFrozen = true;
        freeze.done();
        freeze = undefined;
      }
      if (cut === undefined || !chunk.includes(cut.text)) return;
      answered = cut.done;
      cut = undefined;
    });
    upstream.on('data', (chunk) => {
      if (answered === undefined) client.write(chunk);
      else {
        answered();
        client.destroy();
      }
    });
    upstream.on('close', () => client.destroy());
    client.on('close', () => upstream.destroy());
  };
  const start = async () => {
    isHung = false;
    const listening = createServer(relay);
    server = listening;
    await new Promise<void>((resolve) => listening.listen(port, '127.0.0.1', resolve));
    port = (listening.address() as { port: number }).port;
  };
  const stop = async () => {
    const closed = new Promise((resolve) => (server === undefined ? resolve(undefined) : server.close(resolve)));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  await start();
  t.after(stop);
  return {
    url: `postgres://postgres@127.0.0.1:${port}${target.pathname}`,
    start,
    stop,
    hang: () => {
      isHung = true;
    },
    freezeAfter: (text) =>
      new Promise((done) => {
        freeze = { text, done };
      }),
    cutAfter: (text, act) =>
      new Promise((done) => {
        const isDone = () => {
          act?.();
          done();
        };
        cut = { text, done: isDone };
      }),
  };
}
