import { type IncomingMessage, maxHeaderSize, type ServerResponse, STATUS_CODES } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ERRORS } from '../contract/errors.ts';
import { isUploadPath, UPLOAD_LIMIT_BYTES } from './core/incoming-upload.ts';
import { formatProblem, HttpProblem, PROBLEM_CONTENT_TYPE } from './core/problem.ts';
import { BODY_LIMIT_BYTES, isAnnouncedTooLarge } from './core/read-body.ts';
import { makeRequestPrefix, pathOf } from './request-log.ts';

const METHODS = ['GET', 'POST', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

/** Rejects requests that no operation can answer, before their body is read. */
export function rejectMalformed(
  server: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
): HttpProblem | undefined {
  if (request.is404) return refuseUnknown(server, request, reply);
  if (request.headers.host === undefined && request.raw.httpVersion === '1.1') {
    const errors = [{ path: '', message: 'has no Host' }];
    return new HttpProblem('VALIDATION_FAILED', 'An HTTP/1.1 request needs the header Host.', errors);
  }
  return undefined;
}

// SPEC H6
function refuseUnknown(server: FastifyInstance, request: FastifyRequest, reply: FastifyReply): HttpProblem {
  const allowed = METHODS.filter((method) => server.findRoute({ url: pathOf(request), method }) !== null);
  if (allowed.length === 0) {
    return new HttpProblem(
      'ROUTE_NOT_FOUND',
      'There is no such operation. GET /openapi.json lists them all, /docs shows them.',
    );
  }
  reply.header('allow', allowed.join(', '));
  return new HttpProblem('METHOD_NOT_ALLOWED', `This operation is called with ${allowed.join(' or ')}.`);
}

/** Sends no "100 Continue" for a body that will be refused for its size. */
// SPEC H24
export function answerExpectations(server: FastifyInstance): void {
  server.server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    const limit = isUploadPath(request.url ?? '') ? UPLOAD_LIMIT_BYTES : BODY_LIMIT_BYTES;
    if (isAnnouncedTooLarge(request, limit)) response.setHeader('connection', 'close');
    else response.writeContinue();
    server.server.emit('request', request, response);
  });
  // Other expectations are ignored. Node would answer them with 417 and no body.
  server.server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    server.server.emit('request', request, response);
  });
}

/** For bytes that are no HTTP request, and for requests that did not arrive in time. */
// SPEC H17
export function answerBrokenRequest(
  error: Error & { code?: string },
  socket: { writable: boolean; end(text: string): void; destroy(): void },
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const problem = problemOf(error.code);
  const requestId = makeRequestPrefix();
  const body = formatProblem(problem, requestId);
  const { status } = ERRORS[problem.code];
  const headers = [
    `content-type: ${PROBLEM_CONTENT_TYPE}`,
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${requestId}`,
    'x-content-type-options: nosniff',
    'connection: close',
  ];
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers.join('\r\n')}\r\n\r\n${body}`);
}

function problemOf(code: string | undefined): HttpProblem {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new HttpProblem('REQUEST_TIMEOUT', 'The request did not arrive in time.');
    case 'HPE_HEADER_OVERFLOW':
      return new HttpProblem(
        'HEADERS_TOO_LARGE',
        `The address and the headers of a request may have ${maxHeaderSize / 1024} KiB together. Send less in them.`,
      );
    default:
      return new HttpProblem('MALFORMED_JSON', 'This is not an HTTP request.');
  }
}
