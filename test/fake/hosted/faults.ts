import { Prng } from '../../../src/lib/prng.ts';
import type { Answer, NoAnswer } from './answer.ts';

/** With `after`, the request is carried out but its answer is lost. */
export type ApiFault =
  | { readonly kind: 'error'; readonly status: number; readonly when: 'before' | 'after' }
  | { readonly kind: NoAnswer; readonly when: 'before' | 'after' }
  | { readonly kind: 'slow'; readonly byMs: number }
  /** As with an expired key or token. */
  | { readonly kind: 'unauthorized' }
  /** As with revoked permissions: a forge hides what a caller may not see. */
  | { readonly kind: 'hidden' }
  | { readonly kind: 'forbidden' }
  | { readonly kind: 'secondary_limit'; readonly retryAfterSeconds?: number }
  | { readonly kind: 'answer'; readonly answer: Answer; readonly when: 'before' | 'after' };

export interface WeatherOptions {
  readonly seed: number;
  /** Share of the matching requests. */
  readonly share: number;
  /** One of these is picked each time. */
  readonly faults: readonly ApiFault[];
  /** Default: every route. */
  readonly route?: string;
}

/** A request, by which its faults are found. */
interface Named {
  readonly method: string;
  readonly path: string;
  readonly route: string;
  readonly area: string;
  readonly body: Buffer;
}

interface Rule {
  readonly isMatch: (ask: Named) => boolean;
  readonly choose: () => ApiFault | undefined;
  left: number;
}

/**
 * Faults by route. A route is written in the forge's form (`PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge`), as
 * requested (`PUT /repos/acme/app/pulls/7/merge`), or with stars (`PUT *merge`). GraphQL is `POST /graphql`, optionally
 * followed by an operation name.
 */
export class ApiFaults {
  /** All faults so far. */
  readonly fired: { readonly route: string; readonly fault: ApiFault }[] = [];
  #rules: Rule[] = [];

  /** For the next request only. */
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

  /** The fault of this request, if any. */
  take(ask: Named): ApiFault | undefined {
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

function matcher(pattern: string): (ask: Named) => boolean {
  const escaped = pattern.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*');
  const expression = new RegExp(`^${escaped}$`, 's');
  return (ask) => namesOf(ask).some((name) => expression.test(name));
}

function namesOf(ask: Named): readonly string[] {
  const names = [ask.route, `${ask.method} ${ask.path}`];
  if (ask.area !== 'graphql') return names;
  const operation = /\b(?:query|mutation)\s+(\w+)/.exec(ask.body.toString())?.[1];
  return operation === undefined ? names : [...names, `POST /graphql ${operation}`];
}
