// A receiver of OpenTelemetry traces: OTLP over HTTP, as JSON. It is strict, and misbehaves on demand.
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { until } from '../e2e/harness.ts';
import { type DecodedSpan, decodeOtlp } from './decode-otlp.ts';

type Answering = (response: ServerResponse, request: IncomingMessage) => void;

export class TraceReceiver {
  readonly spans: DecodedSpan[] = [];
  readonly headers: IncomingMessage['headers'][] = [];
  readonly problems: unknown[] = [];
  requests = 0;
  /** Undefined: it takes the spans, as the protocol says. */
  answer: Answering | undefined;
  readonly #server = createServer(async (request, response) => {
    this.requests += 1;
    try {
      const body = await buffer(request);
      this.headers.push(request.headers);
      if (this.answer !== undefined) return this.answer(response, request);
      assert.equal(request.headers['content-type'], 'application/json');
      assert.deepEqual([request.method, request.url], ['POST', '/v1/traces']);
      this.spans.push(...decodeOtlp(body));
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    } catch (error) {
      this.problems.push(error);
      response.writeHead(400).end();
    }
  });

  async start(port = 0): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(port, '127.0.0.1', resolve));
    return this;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Waits until a span is there. */
  find(what: string, isIt: (span: DecodedSpan) => boolean): Promise<DecodedSpan> {
    return until(`the span of ${what}`, 15_000, async () => {
      this.check();
      return this.spans.find(isIt);
    });
  }

  /** Throws if a request was malformed. */
  check(): void {
    for (const problem of this.problems) throw problem;
  }

  /** The spans of a trace that has ended. Each parent must be there, or be the one that the caller named. */
  traceOf(traceId: string, remoteParent?: string): readonly DecodedSpan[] {
    this.check();
    const spans = this.spans.filter((span) => span.traceId === traceId);
    const ids = new Set(spans.map(({ spanId }) => spanId));
    assert.equal(ids.size, spans.length, 'two spans have one id');
    for (const { name, parentId } of spans) {
      assert.ok(parentId === undefined || parentId === remoteParent || ids.has(parentId), `${name} has no parent`);
    }
    return spans;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
