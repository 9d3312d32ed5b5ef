import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** A delivery as it goes over the wire. */
export interface Posted {
  readonly event: string;
  readonly signature: string;
  readonly body: string;
}

export interface StormOrder {
  readonly url: string;
  /** A list of them as JSON. */
  readonly file: string;
  readonly durationMs: number;
}

export interface StormResult {
  /** The answer times of all that were answered 202, in the order of sending. */
  readonly timesMs: readonly number[];
  readonly refused: number;
  readonly durationMs: number;
}

/**
 * Posts all deliveries evenly over the time, without waiting for answers. It has its own process, so that it is on
 * time.
 */
const { url, file, durationMs } = JSON.parse(process.argv[2] as string) as StormOrder;
const deliveries = JSON.parse(readFileSync(file, 'utf8')) as readonly Posted[];
const agent = new Agent({ keepAlive: true, maxSockets: 100 });
const begun = performance.now();
const times = await Promise.all(
  deliveries.map(async (delivery, index) => {
    await sleep((index * durationMs) / deliveries.length);
    return post(delivery);
  }),
);
const timesMs = times.filter((time) => time !== undefined);
const result: StormResult = {
  timesMs,
  refused: times.length - timesMs.length,
  durationMs: performance.now() - begun,
};
process.send?.(result);
agent.destroy();

function post({ event, signature, body }: Posted): Promise<number | undefined> {
  return new Promise((resolve) => {
    const sentAt = performance.now();
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'x-github-event': event,
      'x-github-delivery': crypto.randomUUID(),
      'x-hub-signature-256': signature,
    };
    const posted = request(url, { method: 'POST', agent, headers }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode === 202 ? performance.now() - sentAt : undefined));
    });
    posted.on('error', () => resolve(undefined));
    posted.end(body);
  });
}
