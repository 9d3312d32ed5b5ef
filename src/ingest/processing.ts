import type { PlaceQuestion, UploadPlace } from '../flaky/upload-place.ts';
import type { Timing } from '../lib/clock.ts';
import type { Store } from '../storage/store.ts';
import type { CheckResults } from '../storage/test-ingest.ts';
import type { Upload, UploadOutcome } from '../storage/uploads.ts';
import type { Kept } from './kept-repositories.ts';
import type { TestLimits } from './test-limits.ts';
import type { PartLimits, Reading } from './upload-parts.ts';

export interface ProcessingDeps extends TestLimits {
  readonly store: Store;
  readonly clock: Timing;
  readonly limits: PartLimits;
  readonly newTestsAtOnce: number;
  /** Reports the number of new tests stored. */
  onNewTests(count: number): void;
  findPlace(question: PlaceQuestion): Promise<UploadPlace>;
  /** Reads the body from its beginning. */
  read(upload: Upload): Reading;
  /** Called when the last part is about to be stored. */
  onLastPart(): void;
  /** Runs `act` on the repository's tests in memory, again if another writer committed first. */
  use<T>(act: (kept: Kept) => Promise<T>): Promise<T>;
  /** Throws if the work must be abandoned; renews the lease. */
  step(): Promise<void>;
  /** Called between parts: a single upload may bring more tests than fit into memory. */
  tidyMemory(): Promise<void>;
}

export interface Processed {
  readonly status: UploadOutcome['status'];
  readonly testRuns: number;
  readonly checkResults: CheckResults | undefined;
}
