import type { FastifyRequest } from 'fastify';
import type { App } from '../../app/core/app.ts';
import type { Gauge, Histogram } from '../../lib/exposition.ts';

const BOUNDS_S = [0.005, 0.025, 0.1, 0.5, 1, 5, 30];

/** Without the pattern of a part. */
export function routeOf({ routeOptions }: FastifyRequest): string {
  return routeOptions.url?.replace(/\(\^.*\$\)/, '') ?? 'none';
}

/** The requests that this server answered, by route and status. A path that is no route counts as `none`. */
// SPEC M19
export class RequestCounts {
  readonly #counts = new Map<string, number>();
  readonly #seconds = new Map<string, number>();
  readonly #durations = BOUNDS_S.map(() => 0).concat(0);
  #sum = 0;

  add(request: FastifyRequest, status: number): void {
    const route = routeOf(request);
    const seconds = (performance.now() - request.arrivedAt) / 1_000;
    const found = BOUNDS_S.findIndex((bound) => seconds <= bound);
    const bucket = found === -1 ? BOUNDS_S.length : found;
    this.#durations[bucket] = (this.#durations[bucket] ?? 0) + 1;
    this.#sum += seconds;
    this.#seconds.set(route, (this.#seconds.get(route) ?? 0) + seconds);
    const key = `${status} ${route}`;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  describe(): readonly (Gauge | Histogram)[] {
    return [
      {
        type: 'counter',
        name: 'sluice_http_requests_total',
        help: 'Requests that were answered, by route and status.',
        samples: [...this.#counts].map(([key, value]) => ({
          ...{ labels: { route: key.slice(4), status: key.slice(0, 3) }, value },
        })),
      },
      {
        type: 'counter',
        name: 'sluice_http_request_seconds_total',
        help: 'Time that requests took, by route.',
        samples: [...this.#seconds].map(([route, value]) => ({ labels: { route }, value })),
      },
      {
        type: 'histogram',
        name: 'sluice_http_request_duration_seconds',
        help: 'How long requests took, of all routes.',
        bounds: BOUNDS_S,
        samples: [{ labels: {}, counts: this.#durations, sum: this.#sum }],
      },
    ];
  }
}

/** An app may have several servers in tests; in production it has one. */
const known = new WeakMap<App, RequestCounts>();

export function requestCountsOf(app: App): RequestCounts {
  const counts = known.get(app) ?? new RequestCounts();
  known.set(app, counts);
  return counts;
}
