import type { FastifyRequest } from 'fastify';
import type { Operation } from '../contract/operation.ts';
import { invalidField } from './core/problem.ts';

const MAX_LENGTH = 255;

/** Undefined without a key, or for an operation that has none. A blank header counts as absent. */
// SPEC H39
export function findIdempotencyKey({ isIdempotent }: Operation, { headers }: FastifyRequest): string | undefined {
  const given = headers['idempotency-key'];
  const key = typeof given === 'string' ? given.trim() : '';
  if (isIdempotent !== true || key === '') return undefined;
  if (key.length <= MAX_LENGTH && /^[\x20-\x7e]+$/.test(key)) return key;
  throw invalidField('/Idempotency-Key', `must be a header of 1 to ${MAX_LENGTH} visible characters`);
}

/** The answer as it is stored: without its secrets, and saying so. */
// SPEC H40
export function withoutSecrets({ secrets }: Operation, text: string): string {
  if (secrets === undefined) return text;
  const kept = Object.entries(JSON.parse(text) as object).filter(([name]) => !secrets.includes(name));
  const note = `This answer repeats an earlier one, which had the ${secrets.join(' and ')}: it is shown only once.`;
  return JSON.stringify({ ...Object.fromEntries(kept), note });
}
