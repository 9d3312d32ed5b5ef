import { connect, createServer, type Socket } from 'node:net';
import { listen } from '../../helpers/listen.ts';

/** The only connection from one server to GitHub. After a cut, requests that arrived still run, and no more arrive. */
export interface Line {
  readonly url: string;
  cut(): void;
}

export async function createLine(to: string): Promise<Line> {
  const { hostname, port } = new URL(to);
  const sockets = new Set<Socket>();
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  };
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    for (const socket of [near, far]) keep(socket);
    near.on('error', () => far.destroy()).on('close', () => far.destroy());
    far.on('error', () => near.destroy()).on('close', () => near.destroy());
    near.pipe(far).pipe(near);
  });
  return {
    url: await listen(server),
    cut: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
