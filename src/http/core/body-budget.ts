import type { ServerResponse } from 'node:http';
import { finished } from 'node:stream';

/** Of all bodies together, from their first byte until they are answered; 64 MiB with what may come on top of it. */
const SHARED_BYTES = 24 * 1024 * 1024;
/** Nobody waits for a body that is no larger: it is what nearly every request has. */
const SMALL_BODY_BYTES = 16 * 1024;
/** Of those who have not shown yet who they are, all together. Room is left for deliveries, which are small nearly always. */
const STRANGERS_BYTES = 22 * 1024 * 1024;
const STRANGERS_LARGE_BYTES = 21 * 1024 * 1024;
const STRANGERS_SMALL_BYTES = 256 * 1024;
/** Each of those that wait keeps a connection, and the piece with which it came too late: 64 KiB. */
const MAX_WAITING = 256;

/** The owner of all bodies of which nobody knows whose they are. */
export const STRANGER = 'stranger';

/**
 * Bounds the memory that bodies fill. Where it is full, they wait in the middle of arriving until others are answered. One of
 * them goes on all the same, up to the largest a body may be (20 MiB more): else all could hold half of theirs and wait for
 * each other. The next to go on is of whoever holds least, so that many bodies of one caller keep no other out. Strangers
 * have a part of it, and do not wait: waiting is what they could keep others from.
 */
export class BodyBudget {
  readonly #held = new Map<string, number>();
  readonly #waiting = new Set<HeldBody>();
  #bytes = 0;
  #ahead: HeldBody | undefined;

  /** For a body of this owner. `resume` is called when it waited and may go on. */
  hold(owner: string, resume: () => void): HeldBody {
    return new HeldBody(owner, resume, this);
  }

  /** What may happen with the next piece of this body. */
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

  /** Everybody where there is room; else one, to go ahead. */
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

  /** Releasing it again changes nothing. */
  release(): void {
    this.#budget.remove(this);
  }

  /** What was parsed of a large one is in memory for as long as somebody works with it. */
  releaseAfter(answer: ServerResponse): void {
    if (this.bytes <= SMALL_BODY_BYTES) this.release();
    else finished(answer, () => this.release());
  }
}
