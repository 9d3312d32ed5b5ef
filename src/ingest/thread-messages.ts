/** Messages between the ingest thread and the main thread. */
import type { PlaceQuestion, UploadPlace } from '../flaky/upload-place.ts';
import type { LogLevel } from '../lib/json-log.ts';
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
