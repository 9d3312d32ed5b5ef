import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { until } from '../e2e/harness.ts';

export interface Received {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export type Answering = (response: ServerResponse, received: Received, request: IncomingMessage) => void;

/** A real endpoint. It answers 204 until it is told otherwise. */
export class WebhookReceiver {
  readonly received: Received[] = [];
  answer: Answering = (response) => response.writeHead(204).end();
  readonly #server = createServer(async (request, response) => {
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const received = { path: request.url ?? '', headers, body: await text(request) };
    this.received.push(received);
    this.answer(response, received, request);
  });

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async take(count: number): Promise<readonly Received[]> {
    return until(`${count} messages`, 10_000, async () => (this.received.length >= count ? this.received : undefined));
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
