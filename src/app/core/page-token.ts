import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Instant } from '../../lib/clock.ts';

const LIFETIME_MS = 24 * 3_600_000;
const SIGNATURE_BYTES = 16;

export interface PagePosition {
  readonly watermark: number;
  readonly pageIndex: number;
  readonly issuedAt: Instant;
}

/**
 * Page tokens are opaque to clients, who cannot make or alter them. Each is signed over the position and the whole
 * query
 * with a key that all servers share.
 */
export class PageTokens {
  readonly #key: Uint8Array;

  constructor(key: Uint8Array) {
    this.#key = key;
  }

  make(query: unknown, position: PagePosition): string {
    const body = Buffer.from(JSON.stringify([position.watermark, position.pageIndex, position.issuedAt]));
    return Buffer.concat([this.#sign(query, body), body]).toString('base64url');
  }

  /** Undefined for a token that is forged, cut, of another query or page size, or older than a day. */
  // SPEC P3
  parse(query: unknown, token: string, now: Instant): PagePosition | undefined {
    const bytes = Buffer.from(token, 'base64url');
    // The base64 decoder skips unknown characters: only the exact text that was issued is valid.
    if (bytes.length <= SIGNATURE_BYTES || bytes.toString('base64url') !== token) return undefined;
    const body = bytes.subarray(SIGNATURE_BYTES);
    if (!timingSafeEqual(bytes.subarray(0, SIGNATURE_BYTES), this.#sign(query, body))) return undefined;
    const [watermark, pageIndex, issuedAt] = JSON.parse(body.toString()) as [number, number, number];
    return now - issuedAt > LIFETIME_MS ? undefined : { watermark, pageIndex, issuedAt };
  }

  #sign(query: unknown, body: Uint8Array): Buffer {
    const asked = createHash('sha256').update(JSON.stringify(query)).digest();
    return createHmac('sha256', this.#key).update(asked).update(body).digest().subarray(0, SIGNATURE_BYTES);
  }
}
