import type { IncomingMessage } from 'node:http';
import type { UploadBodies } from '../../app/uploads/upload-body.ts';
import { HttpProblem } from './problem.ts';
import { isAnnouncedTooLarge } from './read-body.ts';

/** The size on the wire. */
export const UPLOAD_LIMIT_BYTES = 100 * 1024 * 1024;

/** A request with test results. Only the chunk that just arrived is in memory. */
export interface IncomingUpload {
  readonly request: IncomingMessage;
  readonly query: unknown;
  readonly bodies: UploadBodies;
  /** The longest pause between two chunks. */
  readonly timeoutMs: number;
}

/** Paths with the larger body limit. */
export function isUploadPath(url: string): boolean {
  return /^\/+(?:uploads\/|(?:trunk\/+)?v1\/flaky-tests\/upload-results(?:\?|$))/.test(url);
}

/** After an early end or an error the rest is discarded, so that a client that still sends gets to read the answer. */
export async function* arriving({ request, timeoutMs }: IncomingUpload): AsyncGenerator<Uint8Array> {
  if (isAnnouncedTooLarge(request, UPLOAD_LIMIT_BYTES)) throw uploadTooLarge();
  const patience = createPatience(timeoutMs);
  const chunks = request.iterator({ destroyOnReturn: false });
  let length = 0;
  try {
    for (;;) {
      const next = await patience.wait(chunks.next());
      if (next.done === true) return;
      const chunk = next.value as Buffer;
      length += chunk.length;
      if (length > UPLOAD_LIMIT_BYTES) throw uploadTooLarge();
      yield chunk;
    }
  } finally {
    patience.end();
    // Not awaited: the promise may never settle when nothing arrives any more.
    if (!request.readableEnded) void chunks.return?.().then(() => request.resume());
  }
}

interface Patience {
  wait<T>(arrival: Promise<T>): Promise<T>;
  end(): void;
}

/** One timer for all chunks, restarted by each. */
function createPatience(timeoutMs: number): Patience {
  const { promise: late, reject: giveUp } = Promise.withResolvers<never>();
  late.catch(() => undefined);
  let isWaiting = false;
  const timer = setTimeout(() => {
    // The client is not late while the store is writing.
    if (!isWaiting) timer.refresh();
    else giveUp(new HttpProblem('REQUEST_TIMEOUT', 'The upload stopped arriving. Send it again.'));
  }, timeoutMs);
  return {
    wait: async (arrival) => {
      isWaiting = true;
      timer.refresh();
      try {
        return await Promise.race([arrival, late]);
      } finally {
        isWaiting = false;
      }
    },
    end: () => clearTimeout(timer),
  };
}

function uploadTooLarge(): HttpProblem {
  return new HttpProblem(
    'BODY_TOO_LARGE',
    'The upload is larger than 100 MiB. Send the reports in several uploads, or packed with gzip or zstd.',
  );
}
