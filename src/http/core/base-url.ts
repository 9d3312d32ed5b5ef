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
