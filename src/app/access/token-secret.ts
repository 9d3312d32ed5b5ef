import { hash, randomBytes } from 'node:crypto';

export function makeTokenSecret(): string {
  return `slc_${randomBytes(32).toString('base64url')}`;
}

/**
 * Secrets are kept and looked up only as this. They are long and random, so one fast hash is enough, and a lookup by
 * hash takes the same time whatever part of a guess is right.
 */
export function hashTokenSecret(secret: string): string {
  return hash('sha256', secret);
}
