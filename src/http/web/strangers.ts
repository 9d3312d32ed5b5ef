import type { FastifyReply, FastifyRequest } from 'fastify';
import type { PublicRead } from '../../app/access/public-read.ts';
import type { Caller } from '../../app/core/caller.ts';
import type { Operation } from '../../contract/operation.ts';
import { RateLimit } from '../core/admission.ts';
import { createClientAddress } from '../core/base-url.ts';
import { HttpProblem } from '../core/problem.ts';
import type { ServerDeps } from '../core/server-deps.ts';
import { isOpenToStrangers } from './stranger-routes.ts';

/** Requests a second from one address. A page asks for about five things at once. */
const PER_SECOND = 20;
/** All tabs of a browser share one stream; an office shares one address. */
const MOST_STREAMS = 10;
const MOST_STREAMS_OF_ALL = 1_000;
/** The Retry-After for a stream. Pages without one ask every half minute. */
const STREAM_RETRY_S = 60;

// SPEC A41
export class Strangers {
  readonly #publicRead: PublicRead | undefined;
  readonly #limit: RateLimit;
  readonly #addressOf: (request: FastifyRequest) => string;
  readonly #streams = new Map<string, number>();

  constructor({ app, publicRead, trustedProxies }: ServerDeps) {
    this.#publicRead = publicRead;
    this.#limit = new RateLimit(PER_SECOND, app.clock);
    this.#addressOf = createClientAddress(trustedProxies);
  }

  /** Undefined: one has to sign in. */
  find(operation: Operation, slug: string | undefined): Caller | undefined {
    return slug !== undefined && isOpenToStrangers(operation) ? this.#publicRead?.findStranger(slug) : undefined;
  }

  // SPEC A45
  refusalOf(operation: Operation, request: FastifyRequest, reply: FastifyReply): HttpProblem | undefined {
    const address = this.#addressOf(request);
    const wait = this.#limit.spend(address) || (operation.name === 'streamEvents' ? this.#open(address, reply) : 0);
    if (wait === 0) return undefined;
    reply.header('retry-after', wait);
    return new HttpProblem(
      'RATE_LIMITED',
      `Too many requests without a session come from your address. Try again in ${wait} s, or sign in.`,
    );
  }

  /** 0, or the seconds until a retry. */
  #open(address: string, reply: FastifyReply): number {
    const all = this.#streams.values().reduce((sum, count) => sum + count, 0);
    const own = this.#streams.get(address) ?? 0;
    if (own >= MOST_STREAMS || all >= MOST_STREAMS_OF_ALL) return STREAM_RETRY_S;
    this.#streams.set(address, own + 1);
    reply.raw.once('close', () => {
      const left = (this.#streams.get(address) ?? 1) - 1;
      if (left > 0) this.#streams.set(address, left);
      else this.#streams.delete(address);
    });
    return 0;
  }
}
