import { once } from 'node:events';
import { startChild } from './lib/child.ts';
import { p95, printFigure, progress } from './lib/figure.ts';
import { call, createWorld, QUEUE, type World } from './lib/world.ts';

const STREAMS = 1_000;
const EVENTS = 200;
const WARM_UP = 100;
const BUSY_ROUNDS = 40;
const AT_ONCE = 200;
const GOALS = { memoryMb: 150, ms: 250 } as const;

interface Played {
  /** Resident memory of the server at its peak. */
  readonly peak: number;
  readonly cpuMs: number;
  readonly times: readonly number[];
}

/**
 * Streams in a process of their own, and one act after another, on two servers: one with streams and one without. The
 * time of an event is from sending the request that causes it until the last of the streams has it, so it includes the
 * request and its commit.
 */
export async function measureStreams(): Promise<void> {
  const world = await createWorld({ pullRequests: 4, live: 2, ended: 0 });
  try {
    const without = await play(world, 0);
    const { peak, cpuMs, times } = await play(world, STREAMS);
    const name = 'events.streams';
    printFigure({ name: `${name}.memory`, value: (peak - without.peak) / 1e6, unit: 'MB', goal: GOALS.memoryMb });
    printFigure({ name: `${name}.p95`, value: p95(times), unit: 'ms', goal: GOALS.ms });
    printFigure({ name: `${name}.cpu`, value: cpuMs - without.cpuMs, unit: 'ms/event' });
  } finally {
    world.remove();
  }
}

/** V8's space for new objects grows with any quick work, up to 128 MB, and never shrinks. It is no cost of streams. */
async function makeBusy(url: string): Promise<void> {
  for (let round = 0; round < BUSY_ROUNDS; round += 1) {
    await Promise.all(Array.from({ length: AT_ONCE }, () => call(url, '/getQueue', QUEUE)));
  }
}

async function play(world: World, streams: number): Promise<Played> {
  progress(`events streams: ${streams} open, ${WARM_UP + EVENTS} events`);
  const server = await world.start();
  await makeBusy(server.url);
  const readers =
    streams === 0
      ? undefined
      : await startChild(new URL('./lib/stream-readers-child.ts', import.meta.url), {
          url: server.url,
          streams,
        });
  const cpuBefore = await server.cpuMicroseconds();
  const times: number[] = [];
  for (let count = 0; count < WARM_UP + EVENTS; count += 1) {
    const begunMs = Number(process.hrtime.bigint()) / 1e6;
    const told = readers && once(readers.process, 'message');
    await call(server.url, '/updateQueue', { ...QUEUE, bisectionConcurrency: 1 + (count % 2) });
    if (told === undefined) continue;
    const [{ atMs, broken }] = (await told) as [{ readonly atMs: number; readonly broken: number }];
    if (broken > 0) throw new Error(`${broken} streams ended`);
    if (count >= WARM_UP) times.push(atMs - begunMs);
  }
  const cpuMs = ((await server.cpuMicroseconds()) - cpuBefore) / 1_000 / (WARM_UP + EVENTS);
  const { peak } = server.memory();
  await readers?.stop();
  await server.stop();
  return { peak, cpuMs, times };
}
