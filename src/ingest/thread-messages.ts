/** Messages between the ingest thread and the main thread. */

import { type PlaceQuestion, UNKNOWN_PLACE, type UploadPlace } from '../flaky/upload-place.ts';
import type { Timing } from '../lib/clock.ts';
import { LOG_LEVELS, type Log, type LogLevel } from '../lib/log.ts';
import type { KeepLimits } from './retention.ts';
import type { TestLimits } from './test-limits.ts';

/** Everything the thread needs to start. */
export interface ThreadData extends KeepLimits, TestLimits {
  readonly dataFolder: string;
  readonly databaseUrl: string | undefined;
  /** Embedded store only: shared with the main thread's connection. */
  readonly writeTurn: SharedArrayBuffer | undefined;
  readonly holder: string;
  readonly testBranchPrefix: string;
  readonly logLevel: LogLevel;
  /** How often each upload has crashed the thread, by id. */
  readonly crashes: readonly (readonly [uploadId: string, count: number])[];
}

export type ToThread =
  | { readonly kind: 'wake' }
  /** The thread processes nothing until `resume`. */
  | { readonly kind: 'still' }
  | { readonly kind: 'resume' }
  /** The answer to a `where` question; undefined: no answer. */
  | { readonly kind: 'place'; readonly no: number; readonly place: UploadPlace | undefined }
  | { readonly kind: 'stop' };

export type FromThread =
  /** The thread listens and works. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'paused' }
  | { readonly kind: 'where'; readonly no: number; readonly question: PlaceQuestion }
  | { readonly kind: 'working_on'; readonly uploadId: string | undefined }
  | {
      readonly kind: 'stored';
      readonly result: { readonly repositoryId: string; readonly candidateId: string; readonly check: string };
    }
  | { readonly kind: 'log'; readonly level: LogLevel; readonly facts: object; readonly text: string };

/** A forge that takes longer counts as unavailable, so that uploads do not wait for it. */
const ANSWER_MS = 10_000;

/** The thread's side of its questions to the main thread, which alone has access to forges. */
export function createPlaceAsking(say: (message: FromThread) => void, clock: Timing) {
  const open = new Map<number, (place: UploadPlace) => void>();
  let lastNo = 0;
  return {
    find(question: PlaceQuestion): Promise<UploadPlace> {
      lastNo += 1;
      const no = lastNo;
      const { promise, resolve } = Promise.withResolvers<UploadPlace>();
      open.set(no, resolve);
      const cancel = clock.after(ANSWER_MS, () => resolve(UNKNOWN_PLACE));
      say({ kind: 'where', no, question });
      return promise.finally(() => {
        cancel();
        open.delete(no);
      });
    },
    answer(no: number, place: UploadPlace | undefined): void {
      open.get(no)?.(place ?? UNKNOWN_PLACE);
    },
  };
}

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
