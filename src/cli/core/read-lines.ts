import type { IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import { type Answer, readAnswer, TimeoutError } from './exchange.ts';

interface Request {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** A connection that is silent for so long is given up. */
  readonly idleMs: number;
}

/** The lines of an answer that grows, or the whole answer if it is a refusal. */
export async function requestLines(
  url: string,
  { headers, body, idleMs }: Request,
): Promise<AsyncIterable<string> | Answer> {
  const { request } = process.getBuiltinModule(url.startsWith('https:') ? 'node:https' : 'node:http');
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const length = { 'content-length': String(Buffer.byteLength(body)) };
    const asked = request(url, { method: 'POST', headers: { ...headers, ...length } }, resolve);
    asked.setTimeout(idleMs, () => asked.destroy(new TimeoutError()));
    asked.on('error', reject);
    asked.end(body);
  });
  return response.statusCode === 200 ? createInterface({ input: response }) : readAnswer(response);
}
