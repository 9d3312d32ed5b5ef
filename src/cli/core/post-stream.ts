import http from 'node:http';
import https from 'node:https';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Answer, readAnswer, TimeoutError } from './exchange.ts';

export interface StreamOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AsyncIterable<Uint8Array>;
  /** The request is aborted after this time without a byte in either direction. */
  readonly idleMs: number;
}

const MAX_ANSWER_BYTES = 1024 * 1024;

/** `fetch` would lose the answer of a server that refuses before it has read everything. */
export function postStream(url: string, { headers, body, idleMs }: StreamOptions): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { request } = url.startsWith('https:') ? https : http;
    const posted = request(url, { method: 'POST', headers });
    posted.setTimeout(idleMs, () => posted.destroy(new TimeoutError()));
    let isAnswered = false;
    let trouble: UnreadableBody | undefined;
    // A server that has answered may close the connection while the rest is still being sent.
    posted.on('error', (error) => {
      if (!isAnswered) reject(trouble ?? error);
    });
    posted.on('response', (response) => {
      isAnswered = true;
      readAnswer(response, MAX_ANSWER_BYTES).then((answer) => {
        resolve(answer);
        // The server answered early, so the rest need not be sent.
        posted.destroy();
      }, reject);
    });
    const noted = noteFailure(body, (error) => {
      trouble = error;
    });
    // A failure in the pipeline destroys the request, and arrives in the error handler above.
    pipeline(Readable.from(noted), posted).catch(() => undefined);
  });
}

/** The body could not be read; the server is not at fault. */
export class UnreadableBody extends Error {
  override readonly name = 'UnreadableBody';
}

async function* noteFailure(
  body: AsyncIterable<Uint8Array>,
  note: (error: UnreadableBody) => void,
): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    note(new UnreadableBody(code ?? message, { cause: error }));
    throw error;
  }
}
