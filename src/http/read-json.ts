import { isUtf8 } from 'node:buffer';
import type { FastifyRequest } from 'fastify';
import { type BodyBudget, STRANGER } from './core/body-budget.ts';
import { HttpProblem } from './core/problem.ts';
import { type BodyReading, encodingOf, readBody, takeArrived } from './core/read-body.ts';
import { type Cut, JsonScan, MAX_TEXT_LENGTH, malformed, textTooLong } from './json-scan.ts';

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
export function readJson(request: FastifyRequest, deps: BodyDeps, done: Done): void {
  if (request.caller === undefined && encodingOf(request) !== '') {
    return done(
      new HttpProblem('UNSUPPORTED_MEDIA_TYPE', 'Without a token, send the body without a content encoding.'),
    );
  }
  process.nextTick(() => readArriving(request, deps, done));
}

/** Runs in the tick after the headers: a body that came together with them is complete by then. */
function readArriving(request: FastifyRequest, { requestTimeoutMs, budget, turns }: BodyDeps, done: Done): void {
  const { caller, raw } = request;
  const scan = new JsonScan(request.route.operation?.longList);
  const arrived = takeArrived(raw);
  if (arrived !== undefined) {
    return parseInto(done, () => {
      scan.feed(arrived);
      return parseJson(arrived, scan);
    });
  }
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
    turns.run(body.length, () => parseInto(done, () => parseJson(body.take(), scan)));
  });
}

function parseInto(done: Done, parse: () => unknown): void {
  let value: unknown;
  try {
    value = parse();
  } catch (problem) {
    return done(problem as Error);
  }
  done(null, value);
}

/** A body up to this size parses within a millisecond, so that it need not wait. */
const SMALL_BYTES = 64 * 1024;

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

/** JSON.parse accepts repeated keys, which hide the sender's intent, and NUL, which PostgreSQL cannot store. */
// SPEC H21
export function parseJson(bytes: Buffer, { keys, hasEscapes, cuts }: JsonScan): unknown {
  if (bytes.length === 0) throw malformed('The body is empty. Send a JSON object.');
  const text = (cuts.length === 0 ? bytes : without(bytes, cuts)).toString('utf8');
  // Invalid bytes are decoded as this character, which nearly no body has.
  const isInDoubt = cuts.length > 0 || text.includes('\ufffd');
  if (isInDoubt && !isUtf8(bytes)) throw malformed('The body is not valid UTF-8.');
  const value = parse(text);
  // A repeated key leaves fewer keys than colons.
  if (countKeys(value) !== keys) throw malformed('The body has an object in which a key occurs twice.');
  // In valid UTF-8 and valid JSON, both are possible only by an escape.
  if (hasEscapes) checkTexts(value);
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw malformed(`The body is not valid JSON: ${(error as Error).message}.`);
  }
}

function without(bytes: Buffer, cuts: readonly Cut[]): Buffer {
  const kept: Buffer[] = [];
  let from = 0;
  for (const { start, end } of cuts) {
    kept.push(bytes.subarray(from, start));
    from = end;
  }
  kept.push(bytes.subarray(from));
  return Buffer.concat(kept);
}

function countKeys(value: unknown): number {
  if (typeof value === 'string') checkLength(value);
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) count += countKeys(item);
    return count;
  }
  for (const key in value) {
    if (key === '__proto__') throw malformed('The body has a key "__proto__".');
    checkLength(key);
    count += 1 + countKeys((value as Record<string, unknown>)[key]);
  }
  return count;
}

function checkTexts(value: unknown): void {
  if (typeof value === 'string') checkText(value);
  else if (Array.isArray(value)) value.forEach(checkTexts);
  else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      checkText(key);
      checkTexts(item);
    }
  }
}

function checkText(text: string): void {
  if (!text.isWellFormed()) throw malformed('The body has a text with half of a surrogate pair.');
  if (text.includes('\0')) throw malformed('The body has a text with a NUL character.');
}

function checkLength(text: string): void {
  if (text.length > MAX_TEXT_LENGTH) throw textTooLong();
}
