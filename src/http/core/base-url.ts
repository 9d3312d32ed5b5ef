import { BlockList, isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';

export type BaseUrlOf = (request: FastifyRequest) => string;

/** The server's own address without a slash at the end: the configured one, or else that of the request. */
// SPEC H16
export function createBaseUrl(of: {
  readonly publicUrl: string | undefined;
  /** Addresses and CIDRs of trusted proxies. */
  readonly trustedProxies: readonly string[];
}): BaseUrlOf {
  const { publicUrl } = of;
  if (publicUrl !== undefined) return () => publicUrl;
  const trusted = createList(of.trustedProxies);
  return (request) => {
    const proxied = isIn(trusted, request.raw.socket.remoteAddress) ? findForwardedScheme(request) : undefined;
    return `${proxied ?? request.protocol}://${request.host || 'localhost'}`;
  };
}

/** Before the address that a trusted proxy appended stands a client's own claim. */
// SPEC A45
export function createClientAddress(trustedProxies: readonly string[]): (request: FastifyRequest) => string {
  const trusted = createList(trustedProxies);
  return ({ raw, headers }) => {
    const given = headers['x-forwarded-for'];
    const hops = typeof given === 'string' ? given.split(',').map(addressOf) : [];
    let client = addressOf(raw.socket.remoteAddress ?? '');
    while (isIn(trusted, client) && isIP(hops.at(-1) ?? '') !== 0) client = hops.pop() ?? '';
    return networkOf(client);
  };
}

function addressOf(given: string): string {
  const bare = given
    .trim()
    .replace(/^\[(.*)\](?::\d+)?$/, '$1')
    .replace(/^([\d.]+):\d+$/, '$1');
  return bare.replace(/^::ffff:(?=\d+\.)/i, '');
}

/** One customer has 2^64 addresses of IPv6. */
function networkOf(address: string): string {
  if (isIP(address) !== 6) return address;
  const [front = '', back] = address.split('%')[0]?.split('::') ?? [];
  const groups = front === '' ? [] : front.split(':');
  const missing = back === undefined ? 0 : 8 - groups.length - back.split(':').filter((group) => group !== '').length;
  const whole = [...groups, ...Array.from({ length: missing }, () => '0'), ...(back ?? '').split(':')];
  return whole
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}

function createList(entries: readonly string[]): BlockList {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = '', prefix] = entry.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return list;
}

function isIn(list: BlockList, peer: string | undefined): boolean {
  if (peer === undefined) return false;
  // A server that listens on :: sees IPv4 peers in this form.
  const address = peer.replace(/^::ffff:(?=\d+\.)/i, '');
  return list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

/** The first of several proxies met the client. Only the scheme is used: the client itself may have set the host. */
// SPEC H33
function findForwardedScheme({ headers }: FastifyRequest): 'http' | 'https' | undefined {
  const given = headers['x-forwarded-proto'];
  const simple = typeof given === 'string' ? given.split(',')[0] : undefined;
  const [first = ''] = (headers.forwarded ?? '').split(',');
  const standard = /(?:^|;)\s*proto\s*=\s*"?([a-z]+)"?\s*(?:;|$)/i.exec(first)?.[1];
  const scheme = (simple ?? standard)?.trim().toLowerCase();
  return scheme === 'http' || scheme === 'https' ? scheme : undefined;
}
