import { createHash } from 'node:crypto';
import type { Answer, Ask } from './exchange.ts';

/** Adds an ETag, and answers 304 when the client sent the same ETag or modification time. */
export function withEtag(ask: Ask, answer: Answer): Answer {
  if ((ask.method !== 'GET' && ask.method !== 'HEAD') || answer.status !== 200) return answer;
  const etag = `W/"${createHash('sha256').update(JSON.stringify(answer.body)).digest('hex')}"`;
  const changedAt = changedAtOf(answer.body);
  const headers = {
    ...answer.headers,
    etag,
    'cache-control': 'private, max-age=60, s-maxage=60',
    vary: 'Accept, Authorization, Cookie, X-GitHub-OTP',
    ...(changedAt === undefined ? {} : { 'last-modified': new Date(changedAt).toUTCString() }),
  };
  return isKnown(ask, etag, changedAt) ? { status: 304, headers } : { ...answer, headers };
}

/** Only single objects have a modification time; lists have none. */
function changedAtOf(body: unknown): number | undefined {
  const { updated_at: text } = (body ?? {}) as { readonly updated_at?: unknown };
  return typeof text === 'string' ? Date.parse(text) : undefined;
}

/** With both headers, only the ETag counts. */
function isKnown({ headers }: Ask, etag: string, changedAt: number | undefined): boolean {
  const named = headers['if-none-match'];
  if (named !== undefined) {
    const known = named.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
    return known.includes(etag.slice(2)) || known.includes('*');
  }
  const since = Date.parse(headers['if-modified-since'] ?? '');
  return changedAt !== undefined && changedAt <= since;
}
