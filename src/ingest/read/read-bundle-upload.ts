import { Unreadable } from '../../bundle/unreadable.ts';
import type { Upload } from '../../storage/uploads.ts';
import { BundleReading, type BundleSources } from './bundle-reading.ts';
import { unreadableIssue } from './read-junit.ts';
import type { ReadItem } from './read-run.ts';

export interface BundleEnd {
  /** Why the results are incomplete, as a sentence. */
  readonly problem: string | null;
  readonly isRefused: boolean;
  /** Number of reports. */
  readonly files: number;
}

/** Reads a bundle as far as possible. A reason to refuse all of it becomes the first issue. */
export async function* readBundleUpload(upload: Upload, sources: BundleSources): AsyncGenerator<ReadItem, BundleEnd> {
  const reading = new BundleReading(upload, sources);
  try {
    yield* reading.read();
    return { problem: reading.problem, isRefused: false, files: reading.files };
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    sources.issues.addFirst(unreadableIssue(error, null));
    const problem = `The bundle could not be read to its end: ${error.detail}`;
    return { problem, isRefused: !error.isPartlyUsable || !reading.hasBegun, files: reading.files };
  }
}
