import { createHash } from 'node:crypto';
import type { Answer, Ask } from './exchange.ts';

/** Names what is answered to a question, and answers "not changed" to whoever names the same. */
export function withEtag(ask: Ask, answer: Answer): Answer {
  if (ask.method !== 'GET' || answer.status !== 200) return answer;
  const etag = `W/"${createHash('sha256').update(JSON.stringify(answer.body)).digest('hex')}"`;
  const headers = { ...answer.headers, etag, 'cache-control': 'private, max-age=60, s-maxage=60' };
  const known = (ask.headers['if-none-match'] ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  if (known.includes(etag.slice(2)) || known.includes('*')) return { status: 304, headers };
  return { ...answer, headers };
}
