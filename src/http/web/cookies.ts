import type { FastifyReply, FastifyRequest } from 'fastify';

/** One cookie an organization, so that two tabs can show two of them. */
const PREFIX = 'sluice-session-';
/** A browser sends what a page of a stranger's subdomain may have set: more are not looked at. */
const MOST = 20;

/** The secrets of the sessions that a browser has, by organization. */
export function readSessionCookies({ headers }: FastifyRequest): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const part of (headers.cookie ?? '').split(';')) {
    const [name = '', value = ''] = part.trim().split('=');
    if (name.startsWith(PREFIX) && /^[\w-]{43}$/.test(value) && found.size < MOST) {
      found.set(name.slice(PREFIX.length), value);
    }
  }
  return found;
}

interface NewCookie {
  readonly organization: string;
  readonly secret: string;
  /** Behind https the cookie is never sent without it. */
  readonly isSecure: boolean;
}

/** Scripts cannot read it, and no other site can send it along. It goes with the browser. */
// SPEC A33
export function setSessionCookie(reply: FastifyReply, { organization, secret, isSecure }: NewCookie): void {
  reply.header('set-cookie', `${PREFIX}${organization}=${secret}; Path=/web; ${attributes(isSecure)}`);
}

/** The secret of a sign-in that is under way. A browser sends it when it comes back from the provider. */
// SPEC A54
export function setTripCookie(reply: FastifyReply, value: string, isSecure: boolean): void {
  reply.header('set-cookie', `${tripName(isSecure)}=${value}; ${tripAttributes(isSecure)}; Max-Age=${TRIP_S}`);
}

export function readTripCookie({ headers }: FastifyRequest, isSecure: boolean): string | undefined {
  const all = (headers.cookie ?? '').split(';').map((part) => part.trim().split('='));
  return all.find(([name]) => name === tripName(isSecure))?.[1];
}

export function clearTripCookie(reply: FastifyReply, isSecure: boolean): void {
  reply.header('set-cookie', `${tripName(isSecure)}=; ${tripAttributes(isSecure)}; Max-Age=0`);
}

const TRIP_S = 600;

/** With the prefix, no page of another subdomain can set it. Browsers allow the prefix behind https alone. */
function tripName(isSecure: boolean): string {
  return `${isSecure ? '__Host-' : ''}sluice-sign-in`;
}

function tripAttributes(isSecure: boolean): string {
  return `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
}

export function clearSessionCookie(reply: FastifyReply, of: Omit<NewCookie, 'secret'>): void {
  reply.header('set-cookie', `${PREFIX}${of.organization}=; Path=/web; Max-Age=0; ${attributes(of.isSecure)}`);
}

function attributes(isSecure: boolean): string {
  return `HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
}
