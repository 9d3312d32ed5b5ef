import type { IncomingMessage } from 'node:http';

export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
  readonly location: string | null;
  /** In seconds, as the server asks for; undefined without one. */
  readonly retryAfter: number | undefined;
  /** Of the server; undefined if something else answered. */
  readonly version: string | undefined;
}

export interface ExchangeOptions {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export class TimeoutError extends Error {
  override readonly name = 'TimeoutError';
}

/** One request and its answer. `fetch` does the same, and takes longer to load than the rest of a command. */
export function exchange(url: string, { method, headers, body, timeoutMs, signal }: ExchangeOptions): Promise<Answer> {
  // An import would read all exports of the module, and with them load the WebSocket of `fetch`.
  const { request } = process.getBuiltinModule(url.startsWith('https:') ? 'node:https' : 'node:http');
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  return new Promise((resolve, reject) => {
    const asked = request(url, { method, headers: { ...headers, ...length }, signal });
    const timer = setTimeout(() => asked.destroy(new TimeoutError()), timeoutMs);
    asked.on('error', reject);
    asked.on('close', () => clearTimeout(timer));
    asked.on('response', (response) => readAnswer(response).then(resolve, reject));
    asked.end(body);
  });
}

/** Reads at most `maxBytes` of the text; the rest of a longer answer is dropped. */
export async function readAnswer(response: IncomingMessage, maxBytes = Number.POSITIVE_INFINITY): Promise<Answer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= maxBytes) chunks.push(chunk);
  }
  const { statusCode = 0, headers } = response;
  return {
    status: statusCode,
    type: headers['content-type'] ?? '',
    text: Buffer.concat(chunks).toString('utf8'),
    location: headers.location ?? null,
    retryAfter: parseRetryAfter(headers['retry-after']),
    version: headers['sluice-version']?.toString(),
  };
}

/** Seconds, or the date that a proxy may write. */
function parseRetryAfter(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const seconds = /^\d+$/.test(text) ? Number(text) : Math.ceil((Date.parse(text) - Date.now()) / 1000);
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}
