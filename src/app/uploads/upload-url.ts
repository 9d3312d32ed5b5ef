import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Instant } from '../../lib/clock.ts';

const LIFETIME_MS = 3_600_000;

/** Authorizes an upload without a token. It is part of the query, which is never logged. */
export interface UploadPass {
  readonly expiresAt: Instant;
  readonly signature: string;
}

export class UploadPasses {
  readonly #key: Uint8Array;

  constructor(key: Uint8Array) {
    this.#key = key;
  }

  make(uploadId: string, now: Instant): UploadPass {
    const expiresAt = now + LIFETIME_MS;
    return { expiresAt, signature: this.#sign(uploadId, expiresAt).toString('base64url') };
  }

  check(uploadId: string, pass: UploadPass, now: Instant): 'good' | 'expired' | 'forged' {
    const given = Buffer.from(pass.signature, 'base64url');
    const expected = this.#sign(uploadId, pass.expiresAt);
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return 'forged';
    return now > pass.expiresAt ? 'expired' : 'good';
  }

  #sign(uploadId: string, expiresAt: Instant): Buffer {
    // The same key signs page tokens: the prefix keeps the two apart.
    return createHmac('sha256', this.#key).update(`upload\n${uploadId}\n${expiresAt}`).digest();
  }
}
