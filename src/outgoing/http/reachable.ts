import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import ipaddr from 'ipaddr.js';
import { buildConnector } from 'undici';

export type Network = [ipaddr.IPv4 | ipaddr.IPv6, number];

/** The public part of IPv6; everything else is reserved, local or a way to write an IPv4 address. */
const GLOBAL_UNICAST: Network = [ipaddr.parse('2000::'), 3];

/** Networks such as 10.0.0.0/8, and single addresses. */
export function parseNetworks(given: readonly string[]): readonly Network[] {
  return given.map((name) => {
    if (name.includes('/')) return ipaddr.parseCIDR(name);
    const address = ipaddr.parse(name);
    return [address, address.kind() === 'ipv4' ? 32 : 128];
  });
}

// SPEC X42
export function isReachable(address: string, networks: readonly Network[] = []): boolean {
  if (!ipaddr.isValid(address)) return false;
  // An IPv4 address in the form of an IPv6 one is judged as what it is.
  const ip = ipaddr.process(address);
  if (networks.some(([network, bits]) => network.kind() === ip.kind() && ip.match(network, bits))) return true;
  return ip.range() === 'unicast' && (ip.kind() === 'ipv4' || ip.match(...GLOBAL_UNICAST));
}

/** The address that a URL names as numbers, whatever their notation; undefined for a name. */
export function literalAddress({ hostname }: URL): string | undefined {
  const bare = hostname.replace(/^\[|\]$/g, '');
  return ipaddr.isValid(bare) ? bare : undefined;
}

export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

export const resolveBySystem: Resolve = (hostname) => lookup(hostname, { all: true, verbatim: true });

export class UnreachableAddress extends Error {}

// SPEC X43
export function guardedConnector(
  networks: readonly Network[],
  resolve: Resolve,
  timeoutMs: number,
): buildConnector.connector {
  const connect = buildConnector({ timeout: timeoutMs, allowH2: false });
  return (options, callback) => {
    const bare = options.hostname.replace(/^\[|\]$/g, '');
    void addressesOf(bare, resolve).then(
      (addresses) => {
        const allowed = addresses.find((address) => isReachable(address, networks));
        if (allowed === undefined) {
          callback(new UnreachableAddress('The address is not public.'), null);
          return;
        }
        const servername = options.servername ?? (ipaddr.isValid(bare) ? '' : bare);
        connect({ ...options, hostname: allowed, servername }, callback);
      },
      (error: Error) => callback(error, null),
    );
  };
}

async function addressesOf(hostname: string, resolve: Resolve): Promise<readonly string[]> {
  return ipaddr.isValid(hostname) ? [hostname] : (await resolve(hostname)).map(({ address }) => address);
}
