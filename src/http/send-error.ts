import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Fault } from '../lib/fault.ts';
import { sluiceDialect } from './core/dialect.ts';
import { toProblem } from './core/error-response.ts';
import { formatProblem, type HttpProblem, PROBLEM_CONTENT_TYPE } from './core/problem.ts';
import type { ServerDeps } from './core/server-deps.ts';
import { logRequest, pathOf } from './request-log.ts';

/** The Retry-After for a fork whose workflow run could not be proven yet. */
const FORK_RETRY_S = 10;
/** The Retry-After while the server is unavailable. */
const RETRY_S = 5;

export function sendError(
  { log }: Pick<ServerDeps, 'log'>,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const problem = toProblem(error);
  request.span?.set({ 'error.type': problem.code });
  const facts = { err: error, requestId: request.id, path: pathOf(request) };
  if (problem.code === 'INTERNAL') log.error(facts, 'request failed by a bug');
  else if (error instanceof Fault) log.warn(facts, 'request failed by a fault');
  const { dialect = sluiceDialect, operation } = request.route;
  const status = dialect.statusOf(problem.code, operation);
  // Fastify would close the connection. That resets it for a client that is still sending, and the answer is lost.
  reply.removeHeader('connection');
  if (problem.code === 'RATE_LIMITED' && !reply.hasHeader('retry-after')) reply.header('retry-after', FORK_RETRY_S);
  if (problem.code === 'IDEMPOTENCY_KEY_IN_USE') reply.header('retry-after', 1);
  if (status === 503) reply.header('retry-after', RETRY_S);
  if (problem.code === 'REQUEST_TIMEOUT') reply.header('connection', 'close');
  closeIfStopping(request.server, reply);
  logRequest(log, request, status);
  return sendProblem(reply, problem, request.id, status);
}

/** Without it, a request in flight would keep its connection open, and the stop would wait for its timeout. */
export function closeIfStopping(server: FastifyInstance, reply: FastifyReply): void {
  if (server.isStopping) reply.header('connection', 'close');
}

export function sendProblem(
  reply: FastifyReply,
  problem: HttpProblem,
  requestId: string,
  status = sluiceDialect.statusOf(problem.code, undefined),
): FastifyReply {
  return reply
    .code(status)
    .type(PROBLEM_CONTENT_TYPE)
    .serializer((payload: string) => payload)
    .send(formatProblem(problem, requestId, status));
}
