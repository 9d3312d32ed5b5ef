/** Messages between the ingest process and the server. */

import { type PlaceQuestion, UNKNOWN_PLACE, type UploadPlace } from '../flaky/upload-place.ts';
import type { Instant, Timing } from '../lib/clock.ts';
import { LOG_LEVELS, type Log, type LogLevel } from '../lib/log.ts';
import type { KeepLimits } from './upkeep.ts';
import type { TestLimits } from './upload-parts.ts';

/** The first retention after a start of the server. */
export const FIRST_RETENTION_MS = 60_000;

/** Everything the process needs to begin. */
export interface ProcessData extends KeepLimits, TestLimits {
  readonly serverPid: number;
  readonly dataFolder: string;
  readonly databaseUrl: string | undefined;
  readonly holder: string;
  readonly testBranchPrefix: string;
  readonly logLevel: LogLevel;
  readonly crashes: Crashes;
  readonly retentionAt: Instant;
}

/** How often each upload has ended the process, and how. */
export type Crashes = ReadonlyMap<string, { readonly count: number; readonly reason: string }>;

export type ToProcess =
  | { readonly kind: 'begin'; readonly data: ProcessData }
  | { readonly kind: 'wake' }
  /** The process writes nothing until `resume`. */
  | { readonly kind: 'still' }
  | { readonly kind: 'resume' }
  /** The answer to a `where` question; undefined: no answer. */
  | { readonly kind: 'place'; readonly no: number; readonly place: UploadPlace | undefined }
  | { readonly kind: 'stop' };

export type FromProcess =
  /** The process listens and works. */
  | { readonly kind: 'ready' }
  /** Sent every second: `steps` rises while it works, and while it looks for work. */
  | { readonly kind: 'alive'; readonly steps: number; readonly residentBytes: number }
  /** There is no work, and nothing in memory that is not stored. */
  | { readonly kind: 'idle' }
  | { readonly kind: 'retained'; readonly nextAt: Instant }
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

/** The process's side of its questions to the server, which alone has access to forges. */
export function createPlaceAsking(say: (message: FromProcess) => void, clock: Timing) {
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

/** A log that sends its lines to the server. Lines below the level are not sent. */
export function createProcessLog(level: LogLevel, post: (message: FromProcess) => void): Log {
  const least = LOG_LEVELS.indexOf(level);
  const at = (own: LogLevel) => (facts: object, text: string) => {
    if (LOG_LEVELS.indexOf(own) < least) return;
    const sent = 'err' in facts ? { ...facts, err: plainError(facts.err) } : facts;
    post({ kind: 'log', level: own, facts: sent, text });
  };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

export function writeProcessLine(log: Log, { level, facts, text }: FromProcess & { readonly kind: 'log' }): void {
  log[level]('err' in facts ? { ...facts, err: errorOf(facts.err as PlainError) } : facts, text);
}

/** Serialization keeps only name, message and stack of an error, and loses the name of our own classes. */
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
