import { AssertionError } from '../../lib/assert.ts';
import { Fault } from '../../lib/fault.ts';

/** SQLSTATE codes and Node's codes; the longest prefix decides. */
const REASONS: readonly (readonly [prefix: string, reason: string])[] = [
  ['25P03', 'this server did not answer it in time'],
  ['28', 'it refuses the user or the password'],
  ['3D000', 'it has no such database'],
  ['3F000', 'it has no such schema'],
  ['42501', 'the user lacks a right there'],
  ['25006', 'it only allows reading'],
  ['53100', 'its disk is full'],
  ['53300', 'it has no connection to spare'],
  ['53', 'it lacks resources'],
  ['55P03', 'something else keeps it locked'],
  ['57014', 'it took too long to answer'],
  ['57P', 'it is starting or stopping'],
  ['58', 'its system failed'],
  ['XX', 'it failed inside'],
  ['08', 'the connection broke'],
  ['ENOTFOUND', 'its name is not known'],
  ['EAI_AGAIN', 'its name is not known'],
  ['ECONNREFUSED', 'nothing listens there'],
  ['ENOENT', 'nothing listens there'],
  ['E', 'the connection broke'],
];

/** The driver's own errors have no code. */
const BROKEN_CONNECTION = /connection|timeout|not queryable|socket|SSL|SASL/i;

/** A collision of transactions, or a plan outdated by a migration: a retry succeeds. */
const COLLISIONS: ReadonlySet<string> = new Set(['40001', '40P01', '0A000']);

export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

export function isCollision(error: unknown): boolean {
  return COLLISIONS.has(codeOf(error) ?? '');
}

/** The session is gone, and its transaction with it. */
export function isBroken(error: unknown): boolean {
  const code = codeOf(error);
  if (code === undefined) return error instanceof Error && isDriverError(error);
  return /^(08|57P|25P03|E[A-Z])/.test(code);
}

function isDriverError(error: Error): boolean {
  return !(error instanceof Fault || error instanceof AssertionError) && BROKEN_CONNECTION.test(error.message);
}

export function toStoreError(server: string, error: unknown): unknown {
  if (error instanceof Fault || error instanceof AssertionError) return error;
  const code = codeOf(error);
  const reason = reasonOf(code) ?? (isBroken(error) ? 'the connection broke' : undefined);
  if (reason !== undefined || isCollision(error)) {
    const sentence = `${server} cannot be used: ${reason ?? 'its transactions keep colliding'}.`;
    const told = code === '53100' ? 'The disk of the database is full: nothing was stored.' : undefined;
    return new Fault('STORE_UNAVAILABLE', sentence, { cause: error, told });
  }
  if (code === undefined) return error;
  return new AssertionError(`the store refused a write: ${(error as Error).message}`, { cause: error });
}

function reasonOf(code: string | undefined): string | undefined {
  if (code === undefined) return undefined;
  const matching = REASONS.filter(([prefix]) => code.startsWith(prefix));
  return matching.sort(([a], [b]) => b.length - a.length)[0]?.[1];
}
