import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';

/** Listens at a free port of this machine, and returns the URL. */
export async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
