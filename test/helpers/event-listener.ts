import assert from 'node:assert/strict';
import { until } from '../e2e/harness.ts';

export interface Sent {
  readonly id?: string;
  readonly event?: string;
  readonly data?: string;
}

/** Reads a stream of events like a browser does. */
export class EventListener {
  readonly sent: Sent[] = [];
  readonly #reader: ReadableStreamDefaultReader<string>;
  #rest = '';
  isEnded = false;

  constructor(response: Response) {
    assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
    assert.ok(response.body);
    this.#reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    void this.#read();
  }

  async until(isSo: (sent: readonly Sent[]) => boolean): Promise<void> {
    await until('the events come', 30_000, async () => isSo(this.sent) || this.isEnded || undefined);
  }

  close(): Promise<void> {
    return this.#reader.cancel();
  }

  async #read(): Promise<void> {
    for (;;) {
      const { value, done } = await this.#reader.read().catch(() => ({ value: undefined, done: true }));
      if (done) break;
      const parts = `${this.#rest}${value}`.split('\n\n');
      this.#rest = parts.pop() ?? '';
      for (const part of parts)
        this.sent.push(Object.fromEntries(part.split('\n').map((line) => line.split(/: (.*)/s, 2))));
    }
    this.isEnded = true;
  }
}
