import type { IncomingMessage } from 'node:http';
import type { UploadBodies } from '../../app/uploads/upload-body.ts';
import { HttpProblem } from './problem.ts';
import { isAnnouncedTooLarge } from './read-body.ts';

/** On the wire, of uploads of test results. */
export const UPLOAD_LIMIT_BYTES = 100 * 1024 * 1024;

/** A request whose body is test results. Nothing of it is in memory but what arrives just now. */
export interface IncomingUpload {
  readonly request: IncomingMessage;
  readonly query: unknown;
  readonly bodies: UploadBodies;
  /** How long nothing may arrive. */
  readonly timeoutMs: number;
}

/** Addresses at which uploads arrive: what is announced there may be larger. */
export function isUploadPath(url: string): boolean {
  return /^\/+(?:uploads\/|(?:trunk\/+)?v1\/flaky-tests\/upload-results(?:\?|$))/.test(url);
}

/**
 * The body as it arrives. Whoever stops taking it, or throws, leaves the rest to be read and thrown away, so that a client
 * that is still sending comes to read the answer.
 */
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
    // Not waited for: where nothing arrives any more, it does not come back.
    if (!request.readableEnded) void chunks.return?.().then(() => request.resume());
  }
}

interface Patience {
  wait<T>(arrival: Promise<T>): Promise<T>;
  end(): void;
}

/** One timer for all chunks: it is set back when one arrives. */
function createPatience(timeoutMs: number): Patience {
  let giveUp: (problem: HttpProblem) => void = () => undefined;
  const late = new Promise<never>((_, reject) => {
    giveUp = reject;
  });
  late.catch(() => undefined);
  let isWaiting = false;
  const timer = setTimeout(() => {
    // While the store takes its time, nobody is late.
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
