import type { FastifyRequest } from 'fastify';
import type { App } from '../../app/core/app.ts';
import type { Gauge, Histogram } from '../../lib/exposition.ts';
import { memo } from '../../lib/memo.ts';

const BOUNDS_S = [0.005, 0.025, 0.1, 0.5, 1, 5, 30];

/** Without the pattern of a part. */
export function routeOf({ route }: FastifyRequest): string {
  return route.url?.replace(/\(\^.*\$\)/, '') ?? 'none';
}

interface RouteCounts {
  readonly route: string;
  readonly byStatus: Map<number, number>;
  seconds: number;
}

/** The requests that this server answered, by route and status. A path that is no route counts as `none`. */
// SPEC M19
export class RequestCounts {
  readonly #routes = new Map<string | undefined, RouteCounts>();
  readonly #durations = BOUNDS_S.map(() => 0).concat(0);
  #sum = 0;

  add(request: FastifyRequest, status: number): void {
    const seconds = (performance.now() - request.arrivedAt) / 1_000;
    const found = BOUNDS_S.findIndex((bound) => seconds <= bound);
    const bucket = found === -1 ? BOUNDS_S.length : found;
    this.#durations[bucket] = (this.#durations[bucket] ?? 0) + 1;
    this.#sum += seconds;
    const counts = this.#routes.get(request.route.url) ?? this.#begin(request);
    counts.seconds += seconds;
    counts.byStatus.set(status, (counts.byStatus.get(status) ?? 0) + 1);
  }

  #begin(request: FastifyRequest): RouteCounts {
    const counts = { route: routeOf(request), byStatus: new Map(), seconds: 0 };
    this.#routes.set(request.route.url, counts);
    return counts;
  }

  describe(): readonly (Gauge | Histogram)[] {
    return [
      {
        type: 'counter',
        name: 'sluice_http_requests_total',
        help: 'Requests that were answered, by route and status.',
        samples: [...this.#routes.values()].flatMap(({ route, byStatus }) =>
          [...byStatus].map(([status, value]) => ({ labels: { route, status: String(status) }, value })),
        ),
      },
      {
        type: 'counter',
        name: 'sluice_http_request_seconds_total',
        help: 'Time that requests took, by route.',
        samples: [...this.#routes.values()].map(({ route, seconds }) => ({ labels: { route }, value: seconds })),
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
export const requestCountsOf = memo((_app: App) => new RequestCounts());
