/** What the thread that processes uploads and the one that started it say to each other. */
import type { PlaceQuestion, UploadPlace } from '../flaky/upload-place.ts';
import type { LogLevel } from '../lib/json-log.ts';
import type { KeepLimits } from './retention.ts';
import type { TestLimits } from './test-limits.ts';

/** Everything the thread needs to begin. */
export interface ThreadData extends KeepLimits, TestLimits {
  readonly dataFolder: string;
  readonly databaseUrl: string | undefined;
  /** Of an embedded store: shared with the main thread's connection. */
  readonly writeTurn: SharedArrayBuffer | undefined;
  readonly holder: string;
  readonly testBranchPrefix: string;
  readonly logLevel: LogLevel;
  /** How often work on an upload has ended the thread, by id. */
  readonly crashes: readonly (readonly [uploadId: string, count: number])[];
}

export type ToThread =
  | { readonly kind: 'wake' }
  /** Nothing may be processed until `resume`. */
  | { readonly kind: 'still' }
  | { readonly kind: 'resume' }
  /** The answer to a question; undefined: there is none. */
  | { readonly kind: 'place'; readonly no: number; readonly place: UploadPlace | undefined }
  | { readonly kind: 'stop' };

export type FromThread =
  /** It listens to messages, and works. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'paused' }
  | { readonly kind: 'where'; readonly no: number; readonly question: PlaceQuestion }
  | { readonly kind: 'working_on'; readonly uploadId: string | undefined }
  | {
      readonly kind: 'stored';
      readonly result: { readonly repositoryId: string; readonly candidateId: string; readonly check: string };
    }
  | { readonly kind: 'log'; readonly level: LogLevel; readonly facts: object; readonly text: string };
