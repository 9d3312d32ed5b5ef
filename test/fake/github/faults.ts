import { Prng } from '../../../src/lib/prng.ts';
import type { Answer, Ask, NoAnswer } from './exchange.ts';

/** What goes wrong. `after`: what was asked for is done, and whoever asked does not learn it. */
export type ApiFault =
  | { readonly kind: 'error'; readonly status: number; readonly when: 'before' | 'after' }
  | { readonly kind: NoAnswer; readonly when: 'before' | 'after' }
  | { readonly kind: 'slow'; readonly byMs: number }
  /** As with a key or token that is no longer good. */
  | { readonly kind: 'unauthorized' }
  /** As with permissions that were taken away: GitHub hides what one may not see. */
  | { readonly kind: 'hidden' }
  | { readonly kind: 'forbidden' }
  | { readonly kind: 'secondary_limit'; readonly retryAfterSeconds?: number }
  | { readonly kind: 'answer'; readonly answer: Answer; readonly when: 'before' | 'after' };

export interface WeatherOptions {
  readonly seed: number;
  /** Of all requests that the route matches. */
  readonly share: number;
  /** One of them each time. */
  readonly faults: readonly ApiFault[];
  /** Default: every route. */
  readonly route?: string;
}

interface Rule {
  readonly isMatch: (ask: Ask) => boolean;
  readonly choose: () => ApiFault | undefined;
  left: number;
}

/**
 * What goes wrong, by route. A route is written as GitHub's (`PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge`), as it
 * was asked for (`PUT /repos/acme/app/pulls/7/merge`), or with stars (`PUT *merge`). GraphQL is `POST /graphql`, followed by
 * the operation's name where only one of them is meant.
 */
export class ApiFaults {
  /** Everything that went wrong so far. */
  readonly fired: { readonly route: string; readonly fault: ApiFault }[] = [];
  #rules: Rule[] = [];

  /** The next request only. */
  once(route: string, fault: ApiFault): void {
    this.times(1, route, fault);
  }

  times(count: number, route: string, fault: ApiFault): void {
    this.#rules.push({ isMatch: matcher(route), choose: () => fault, left: count });
  }

  /** Until the returned function is called. */
  always(route: string, fault: ApiFault): () => void {
    return this.#add({ isMatch: matcher(route), choose: () => fault, left: Infinity });
  }

  /** Until the returned function is called. */
  weather(options: WeatherOptions): () => void {
    const prng = new Prng(options.seed);
    return this.#add({
      isMatch: matcher(options.route ?? '*'),
      choose: () => (prng.chance(options.share) ? prng.pick(options.faults) : undefined),
      left: Infinity,
    });
  }

  clear(): void {
    this.#rules = [];
  }

  /** What goes wrong with this request. */
  take(ask: Ask): ApiFault | undefined {
    for (const rule of this.#rules) {
      if (rule.left <= 0 || !rule.isMatch(ask)) continue;
      const fault = rule.choose();
      if (fault === undefined) continue;
      rule.left -= 1;
      this.#rules = this.#rules.filter(({ left }) => left > 0);
      this.fired.push({ route: ask.route, fault });
      return fault;
    }
    return undefined;
  }

  #add(rule: Rule): () => void {
    this.#rules.push(rule);
    return () => {
      this.#rules = this.#rules.filter((other) => other !== rule);
    };
  }
}

function matcher(pattern: string): (ask: Ask) => boolean {
  const escaped = pattern.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*');
  const expression = new RegExp(`^${escaped}$`, 's');
  return (ask) => namesOf(ask).some((name) => expression.test(name));
}

function namesOf(ask: Ask): readonly string[] {
  const names = [ask.route, `${ask.method} ${ask.path}`];
  if (ask.area !== 'graphql') return names;
  const operation = /\b(?:query|mutation)\s+(\w+)/.exec(ask.body.toString())?.[1];
  return operation === undefined ? names : [...names, `POST /graphql ${operation}`];
}
