import { pause, type Timing } from '../../../src/lib/clock.ts';
import type { Answer, NoAnswer } from '../hosted/answer.ts';
import { type ApiFault, ApiFaults } from '../hosted/faults.ts';
import type { Ask } from './exchange.ts';
import { type RateLimitOptions, RateLimits, secondaryLimit } from './rate-limit.ts';

/** Applies rate limits and injected faults to each request. */
export class Misbehaviour {
  readonly faults = new ApiFaults();
  readonly limits: RateLimits;

  readonly #clock: Timing;

  constructor(clock: Timing, limits: RateLimitOptions = {}) {
    this.#clock = clock;
    this.limits = new RateLimits(clock, limits);
  }

  async serve(ask: Ask, act: () => Promise<Answer>): Promise<Answer | NoAnswer> {
    const fault = this.faults.take(ask);
    if (fault?.kind === 'slow') await pause(this.#clock, fault.byMs);
    const wrong = fault === undefined || fault.kind === 'slow' ? undefined : troubleOf(fault);
    if (wrong !== undefined && !isLate(fault)) return this.#signed(ask, wrong);
    const answer = ask.area === 'git' ? await act() : await this.#serveWithin(ask, act);
    return this.#signed(ask, wrong ?? answer);
  }

  async #serveWithin(ask: Ask, act: () => Promise<Answer>): Promise<Answer> {
    return this.limits.begin(ask) ?? act();
  }

  #signed(ask: Ask, answer: Answer | NoAnswer): Answer | NoAnswer {
    if (typeof answer === 'string' || ask.area === 'git') return answer;
    return { ...answer, headers: { ...this.limits.headersFor(ask), ...answer.headers } };
  }
}

function isLate(fault: ApiFault | undefined): boolean {
  return fault !== undefined && 'when' in fault && fault.when === 'after';
}

function troubleOf(fault: Exclude<ApiFault, { kind: 'slow' }>): Answer | NoAnswer {
  switch (fault.kind) {
    case 'error':
      return { status: fault.status, body: { message: 'Server Error' } };
    case 'silence':
    case 'reset':
      return fault.kind;
    case 'unauthorized':
      return { status: 401, body: { message: 'Bad credentials', documentation_url: 'https://docs.github.com/rest' } };
    case 'hidden':
      return { status: 404, body: { message: 'Not Found', documentation_url: 'https://docs.github.com/rest' } };
    case 'forbidden':
      return { status: 403, body: { message: 'Resource not accessible by integration' } };
    case 'secondary_limit':
      return secondaryLimit(fault.retryAfterSeconds);
    case 'answer':
      return fault.answer;
  }
}
