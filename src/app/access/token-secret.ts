import { hash, randomBytes } from 'node:crypto';

export function makeTokenSecret(): string {
  return `slc_${randomBytes(32).toString('base64url')}`;
}

/**
 * Only this hash of a secret is stored. Secrets are long and random, so that one fast hash is enough. A lookup by hash
 * takes the same time whichever part of a guess is right.
 */
// SPEC A5
export function hashTokenSecret(secret: string): string {
  return hash('sha256', secret);
}
