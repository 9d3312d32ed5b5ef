import type { Upload } from '../storage/uploads.ts';
import type { ReadItem, ReadSummary } from './read/read-run.ts';
import type { Reading } from './upload-parts.ts';

/** Holds a usual upload, and of a large one less than a part. */
const MAX_RUNS = 10_000;

type Result = IteratorResult<ReadItem, ReadSummary>;

interface Ahead {
  readonly upload: Upload;
  readonly reading: Reading;
  readonly results: Result[];
  readonly filled: Promise<void>;
}

/**
 * Reads the beginning of the next upload while the store writes the present one. It stores and decides nothing: an upload
 * whose reading is dropped is read again in its turn.
 */
export class ReadAhead {
  #ahead: Promise<Ahead | undefined> | undefined;

  /** Ends the reading that began before. */
  begin(next: Promise<Upload | undefined>, read: (upload: Upload) => Reading): void {
    void this.drop();
    const isWanted = () => this.#ahead === ahead;
    // An error comes again in the upload's turn.
    const ahead = open(next, read, isWanted).catch(() => undefined);
    this.#ahead = ahead;
  }

  /** The reading of the upload, if it has begun. */
  async take({ id, partsDone }: Upload): Promise<Reading | undefined> {
    const ahead = await this.#ahead;
    if (ahead?.upload.id !== id || ahead.upload.partsDone !== partsDone) return undefined;
    this.#ahead = undefined;
    return goOn(ahead);
  }

  async drop(): Promise<void> {
    const dropped = this.#ahead;
    this.#ahead = undefined;
    await (await dropped)?.reading.return(undefined as never).catch(() => undefined);
  }
}

async function open(
  next: Promise<Upload | undefined>,
  read: (upload: Upload) => Reading,
  isWanted: () => boolean,
): Promise<Ahead | undefined> {
  const upload = await next;
  if (upload === undefined || !isWanted()) return undefined;
  const reading = read(upload);
  const results: Result[] = [];
  const filled = fill(results, reading, isWanted);
  filled.catch(() => undefined);
  return { upload, reading, results, filled };
}

async function fill(results: Result[], reading: Reading, isWanted: () => boolean): Promise<void> {
  for (let runs = 0; runs < MAX_RUNS && isWanted(); ) {
    const result = await reading.next();
    results.push(result);
    if (result.done === true) return;
    if (result.value.kind === 'runs') runs += result.value.runs.length;
  }
}

async function* goOn({ reading, results, filled }: Ahead): Reading {
  try {
    await filled;
    for (let result = results.shift(); result !== undefined; result = results.shift()) {
      if (result.done === true) return result.value;
      yield result.value;
    }
    return yield* reading;
  } finally {
    // Closes the files if the consumer stops early.
    await reading.return(undefined as never);
  }
}
