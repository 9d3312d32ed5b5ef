import { createHash } from 'node:crypto';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { type Refusal, refuse } from '../core/refusal.ts';

const HOUR_MS = 3_600_000;
/** After this a key is free again. */
const KEPT_MS = 24 * HOUR_MS;
/** Without an answer after this, the server that began is gone: no request takes as long. */
const ABANDONED_MS = 10 * 60_000;

interface KeyedRequest {
  readonly key: string;
  /** The operation, its mount and its body: a key is for one of them. */
  readonly subject: readonly string[];
}

interface OnceAnswer {
  readonly text: string;
  readonly isRepeated: boolean;
}

/** `act` returns the answer, and the text that is stored of it. If it throws, the request may come again. */
// SPEC H38
export async function answerOnce(
  { store, clock }: Pick<App, 'store' | 'clock'>,
  caller: Caller,
  { key, subject }: KeyedRequest,
  act: () => Promise<{ readonly text: string; readonly stored: string }>,
): Promise<OnceAnswer | Refusal> {
  const now = clock.now();
  const digest = createHash('sha256')
    .update(JSON.stringify([caller.organization.id, ...subject]))
    .digest('base64url');
  const request = { tokenId: caller.tokenId, key, digest, startedAt: now };
  const limits = { expiredBefore: now - KEPT_MS, abandonedBefore: now - ABANDONED_MS };
  const known = await store.idempotentRequests.begin(request, limits);
  if (known === undefined) {
    const { text, stored } = await act().catch(async (error) => {
      await store.idempotentRequests.release(request);
      throw error;
    });
    await store.idempotentRequests.finish(request, stored);
    return { text, isRepeated: false };
  }
  if (known.digest !== digest) {
    const sentence = `The idempotency key "${key}" came with another request in the last 24 hours.`;
    return refuse('IDEMPOTENCY_KEY_REUSED', `${sentence} Send a new key with a new request.`);
  }
  if (known.answer !== null) return { text: known.answer, isRepeated: true };
  const sentence = `A request with the idempotency key "${key}" is being answered.`;
  return refuse('IDEMPOTENCY_KEY_IN_USE', `${sentence} Send it again in a moment to get that answer.`);
}
