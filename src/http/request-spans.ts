import type { FastifyInstance, FastifyRequest } from 'fastify';
import { parseTraceparent, runIn, Span, type Tracing } from '../lib/trace.ts';
import { routeOf } from './core/request-counts.ts';

declare module 'fastify' {
  interface FastifyRequest {
    span: Span | undefined;
  }
}

/** A span for each request to an operation, of a forge's webhook and of an upload. The handler runs in it. */
// SPEC M22
export function traceRequests(server: FastifyInstance, tracing: Tracing): void {
  server.addHook('onRequest', (request, _reply, done) => {
    request.span = begin(tracing, request);
    done();
  });
  // The body has been read by now: its events come outside of every span.
  server.addHook('preHandler', (request, _reply, done) => runIn(request.span, done));
  server.addHook('onResponse', (request, reply, done) => {
    const { span } = request;
    span?.set({ 'http.response.status_code': reply.statusCode });
    if (reply.statusCode >= 500) span?.fail();
    span?.end();
    done();
  });
}

/** Scrapes and streams are not traced: the ones are noise, the others last for hours. */
function begin(tracing: Tracing, request: FastifyRequest): Span | undefined {
  const route = routeOf(request);
  const { operation } = request.route;
  const isTraced =
    operation === undefined ? /^\/(?:webhooks|uploads)\//.test(route) : operation.replyType === undefined;
  if (!isTraced) return undefined;
  const { method } = request;
  const attributes = { 'http.request.method': method, 'http.route': route, 'sluice.request.id': request.id };
  const name = operation?.name ?? `${method} ${route}`;
  return Span.begin(tracing, { name, kind: 'server', attributes }, parseTraceparent(request.headers['traceparent']));
}
