import type { ServerResponse } from 'node:http';
import { finished } from 'node:stream';

/** For all bodies from their first byte to their answer. With the extras below it is 64 MiB. */
const SHARED_BYTES = 24 * 1024 * 1024;
/** A body up to this size never waits. Nearly every request is that small. */
export const SMALL_BODY_BYTES = 16 * 1024;
/** For all unauthenticated bodies together. It leaves room for webhooks, which are nearly always small. */
const STRANGERS_BYTES = 22 * 1024 * 1024;
const STRANGERS_LARGE_BYTES = 21 * 1024 * 1024;
const STRANGERS_SMALL_BYTES = 256 * 1024;
/** Each waiting body keeps a connection and one chunk of 64 KiB. */
const MAX_WAITING = 256;

/** The owner of all unauthenticated bodies. */
export const STRANGER = 'stranger';

/**
 * Bodies wait half-read until others are answered. One of them may exceed the budget up to the largest body (20 MiB
 * more); otherwise all could hold a half and wait for each other. Unauthenticated bodies have a share of it and are
 * refused instead of waiting, since waiting ones would block others.
 */
// SPEC H14
export class BodyBudget {
  readonly #held = new Map<string, number>();
  readonly #waiting = new Set<HeldBody>();
  #bytes = 0;
  #ahead: HeldBody | undefined;

  /** Registers a body. `resume` is called when it waited and may continue. */
  hold(owner: string, resume: () => void): HeldBody {
    return new HeldBody(owner, resume, this);
  }

  add(body: HeldBody, bytes: number): 'go_on' | 'wait' | 'give_up' {
    body.bytes += bytes;
    this.#count(body.owner, bytes);
    if (body.bytes <= SMALL_BODY_BYTES) return 'go_on';
    const hasRoom = this.#bytes <= SHARED_BYTES;
    if (body.owner === STRANGER) return hasRoom && this.#isWithinStrangers(body) ? 'go_on' : 'give_up';
    if (hasRoom || this.#ahead === body) return 'go_on';
    if (this.#ahead === undefined) {
      this.#ahead = body;
      return 'go_on';
    }
    if (this.#waiting.size >= MAX_WAITING) return 'give_up';
    this.#waiting.add(body);
    return 'wait';
  }

  remove(body: HeldBody): void {
    this.#waiting.delete(body);
    this.#count(body.owner, -body.bytes);
    body.bytes = 0;
    if (this.#ahead === body) this.#ahead = undefined;
    this.#wake();
  }

  // SPEC H32
  #isWithinStrangers({ bytes }: HeldBody): boolean {
    const limit = bytes > STRANGERS_SMALL_BYTES ? STRANGERS_LARGE_BYTES : STRANGERS_BYTES;
    return (this.#held.get(STRANGER) ?? 0) <= limit;
  }

  #count(owner: string, bytes: number): void {
    this.#bytes += bytes;
    const held = (this.#held.get(owner) ?? 0) + bytes;
    if (held === 0) this.#held.delete(owner);
    else this.#held.set(owner, held);
  }

  /** Wakes all when there is room, otherwise one that may exceed the budget. */
  #wake(): void {
    if (this.#waiting.size === 0) return;
    if (this.#bytes <= SHARED_BYTES) {
      const all = [...this.#waiting];
      this.#waiting.clear();
      for (const body of all) body.resume();
    } else if (this.#ahead === undefined) {
      const next = this.#leastServed();
      this.#waiting.delete(next);
      this.#ahead = next;
      next.resume();
    }
  }

  #leastServed(): HeldBody {
    const held = (body: HeldBody) => this.#held.get(body.owner) ?? 0;
    return [...this.#waiting].reduce((least, body) => (held(body) < held(least) ? body : least));
  }
}

/** One body's part of the budget. */
export class HeldBody {
  readonly owner: string;
  readonly resume: () => void;
  readonly #budget: BodyBudget;
  bytes = 0;

  constructor(owner: string, resume: () => void, budget: BodyBudget) {
    this.owner = owner;
    this.resume = resume;
    this.#budget = budget;
  }

  add(bytes: number): 'go_on' | 'wait' | 'give_up' {
    return this.#budget.add(this, bytes);
  }

  /** Idempotent. */
  release(): void {
    this.#budget.remove(this);
  }

  /** The parsed value of a large body stays in memory until the request is answered. */
  releaseAfter(answer: ServerResponse): void {
    if (this.bytes <= SMALL_BODY_BYTES) this.release();
    else finished(answer, () => this.release());
  }
}
