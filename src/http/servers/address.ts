import { networkInterfaces } from 'node:os';

const EVERYWHERE: ReadonlySet<string> = new Set(['0.0.0.0', '[::]']);

/** A server that listens on every address is reached at the first one that other machines see. */
export function addressForServers(listening: string, interfaces = networkInterfaces()): string {
  const url = new URL(listening);
  if (!EVERYWHERE.has(url.hostname)) return url.origin;
  const outside = Object.values(interfaces).flatMap((all) => all?.filter(({ internal }) => !internal) ?? []);
  const found = outside.find(({ family }) => family === 'IPv4')?.address;
  return `http://${found ?? '127.0.0.1'}:${url.port}`;
}
