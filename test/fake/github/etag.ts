import { createHash } from 'node:crypto';
import type { Answer, Ask } from './exchange.ts';

/** Adds an ETag, and answers 304 when the client sent the same one. */
export function withEtag({ method, headers: asked }: Ask, answer: Answer): Answer {
  if ((method !== 'GET' && method !== 'HEAD') || answer.status !== 200) return answer;
  const etag = `W/"${createHash('sha256').update(JSON.stringify(answer.body)).digest('hex')}"`;
  const headers = {
    ...answer.headers,
    etag,
    'cache-control': 'private, max-age=60, s-maxage=60',
    vary: 'Accept, Authorization, Cookie, X-GitHub-OTP',
  };
  return asked['if-none-match'] === etag ? { status: 304, headers } : { ...answer, headers };
}
