import type { FastifyReply } from 'fastify';

/** Of every page for people: it loads nothing, runs nothing, sends nothing, and is shown in no other page. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export function asPage(reply: FastifyReply): FastifyReply {
  return reply.type('text/html; charset=utf-8').header('content-security-policy', CONTENT_SECURITY_POLICY);
}
