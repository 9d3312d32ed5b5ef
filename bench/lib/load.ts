import autocannon from 'autocannon';
import { TOKEN } from './world.ts';

export interface Request {
  readonly method: 'POST' | 'GET';
  readonly path: string;
  readonly body?: string;
}

export interface LoadResult {
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Sends the requests in turn until `amount` were answered. Any answer but 200 ends the run. */
export async function load(
  url: string,
  of: {
    readonly requests: readonly Request[];
    readonly connections: number;
    readonly amount: number;
    /** Each connection sends a part of the requests again and again. */
    readonly isDivided?: boolean;
  },
): Promise<LoadResult> {
  const headers = { 'x-api-token': TOKEN, 'content-type': 'application/json' };
  const requests = of.requests.map(({ method, path, body }) => ({
    method,
    path,
    headers,
    ...(body === undefined ? {} : { body }),
  }));
  let clients = 0;
  const result = await autocannon({
    url,
    connections: of.connections,
    amount: of.amount,
    // It ends at a sample. The usual second would be a third of a measurement.
    sampleInt: 10,
    // Every client prepares all of these.
    requests: of.isDivided ? requests.slice(0, 1) : requests,
    setupClient: (client) => {
      const size = Math.ceil(requests.length / of.connections);
      const first = clients++ * size;
      if (of.isDivided) client.setRequests(requests.slice(first, first + size));
    },
  });
  const failures = result.errors + result.timeouts + result.non2xx;
  if (failures > 0) throw new Error(`${failures} of ${of.amount} requests to ${of.requests[0]?.path} failed`);
  return {
    requests: result.requests.total,
    requestsPerSecond: (result.requests.total * 1000) / (result.finish.getTime() - result.start.getTime()),
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
  };
}
