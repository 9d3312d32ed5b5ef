import { LOG_LEVELS, type LogLevel } from '../lib/json-log.ts';
import type { Log } from '../lib/log.ts';
import type { FromThread } from './thread-messages.ts';

interface PlainError {
  readonly name: string;
  readonly code: string | undefined;
  readonly message: string;
  readonly stack: string | undefined;
  readonly cause: PlainError | undefined;
}

/** A log that posts its lines to the main thread. Lines below the level are not sent. */
export function createThreadLog(level: LogLevel, post: (message: FromThread) => void): Log {
  const least = LOG_LEVELS.indexOf(level);
  const at = (own: LogLevel) => (facts: object, text: string) => {
    if (LOG_LEVELS.indexOf(own) < least) return;
    const sent = 'err' in facts ? { ...facts, err: plainError(facts.err) } : facts;
    post({ kind: 'log', level: own, facts: sent, text });
  };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

export function writeThreadLine(log: Log, { level, facts, text }: FromThread & { readonly kind: 'log' }): void {
  log[level]('err' in facts ? { ...facts, err: errorOf(facts.err as PlainError) } : facts, text);
}

/** Structured cloning keeps only name, message and stack of an error, and loses the name of our own classes. */
function plainError(error: unknown): PlainError {
  if (!(error instanceof Error)) {
    return { name: 'Error', code: undefined, message: String(error), stack: undefined, cause: undefined };
  }
  const { name, message, stack, cause } = error;
  const code = 'code' in error ? String(error.code) : undefined;
  return { name, code, message, stack, cause: cause === undefined ? undefined : plainError(cause) };
}

function errorOf({ name, code, message, stack, cause }: PlainError): Error {
  const error = new Error(message, cause === undefined ? undefined : { cause: errorOf(cause) });
  return Object.assign(error, { name, stack }, code === undefined ? {} : { code });
}
