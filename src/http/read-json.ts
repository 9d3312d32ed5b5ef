import type { FastifyRequest } from 'fastify';
import { type BodyBudget, STRANGER } from './core/body-budget.ts';
import { HttpProblem } from './core/problem.ts';
import { type BodyReading, readBody } from './core/read-body.ts';
import { JsonScan } from './json-scan.ts';
import { parseJson } from './parse-json.ts';

export interface BodyDeps {
  readonly requestTimeoutMs: number;
  readonly budget: BodyBudget;
  readonly turns: ParseTurns;
}

/** A fork without a token is proven by its body. Until then it gets no more memory than its targets need. */
const STRANGER_LIMIT_BYTES = 256 * 1024;

type Done = (error: Error | null, value?: unknown) => void;

/** Reads the body of an operation. It is scanned while it arrives, and parsed when it is complete. */
// SPEC G88, H5
export function readJson(request: FastifyRequest, { requestTimeoutMs, budget, turns }: BodyDeps, done: Done): void {
  const { caller, raw } = request;
  if (caller === undefined && isEncoded(request)) {
    return done(
      new HttpProblem('UNSUPPORTED_MEDIA_TYPE', 'Without a token, send the body without a content encoding.'),
    );
  }
  const scan = new JsonScan(request.routeOptions.config.operation?.longList);
  const reading: BodyReading = {
    timeoutMs: requestTimeoutMs,
    ...(caller === undefined ? { limitBytes: STRANGER_LIMIT_BYTES } : {}),
    budget,
    owner: caller?.tokenId ?? STRANGER,
    inspect: (piece) => scan.feed(piece),
  };
  readBody(raw, reading, (error, body) => {
    if (body === undefined) return done(error);
    body.held.releaseAfter(request.answer);
    turns.run(body.length, () => {
      try {
        done(null, parseJson(body.take(), scan));
      } catch (problem) {
        done(problem as Error);
      }
    });
  });
}

function isEncoded({ headers }: FastifyRequest): boolean {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  return encoding !== '' && encoding !== 'identity';
}

/** A body up to this size parses within a millisecond, so that it need not wait. */
const SMALL_BYTES = 64 * 1024;

/** Parses large bodies one after the other. After each, other requests get as much time as it took. */
// SPEC H15
export class ParseTurns {
  readonly #waiting: (() => void)[] = [];

  run(bytes: number, work: () => void): void {
    if (bytes <= SMALL_BYTES) return work();
    this.#waiting.push(work);
    if (this.#waiting.length === 1) setImmediate(this.#next);
  }

  readonly #next = (): void => {
    const begun = performance.now();
    this.#waiting[0]?.();
    this.#waiting.shift();
    if (this.#waiting.length === 0) return;
    const took = performance.now() - begun;
    // A timer alone could fire before the event loop has run once.
    setImmediate(() => setTimeout(this.#next, took));
  };
}
