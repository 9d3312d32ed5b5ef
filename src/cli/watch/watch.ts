import { type Command, InvalidArgumentError } from 'commander';
import { addExamples, parseInstant } from '../core/arguments.ts';
import type { Context } from '../core/context.ts';
import { usageError } from '../core/exit.ts';
import { addQueueArguments, type Place, withQueue } from '../core/place.ts';
import { type Replay, replayQueue } from './replay.ts';
import { isEmpty } from './snapshot.ts';
import { watchQueue } from './watch-queue.ts';

interface Options {
  readonly untilEmpty?: true;
  readonly interval?: number;
  readonly replay?: Pick<Replay, 'from' | 'until'>;
  readonly speed?: number;
}

const DEFAULT_SPEED = 60;

/** The shell convention for an interrupted command. */
const INTERRUPTED = 130;

export function defineWatch(command: Command): void {
  addQueueArguments(command)
    .description(
      'Watch a queue live: what is under test, what waits and why, what left. In a pipe or a file: a line for each change.',
    )
    .option('--until-empty', 'End when no pull request is in the queue any more.')
    .option(
      '--interval <seconds>',
      'Ask the server this often. Default: twice a second, less often while nothing moves.',
      parseSeconds,
    )
    .option(
      '--replay <from..until>',
      'Show what happened in the past, such as 10:00..11:00, 2h.. or 2026-09-17T10:00Z..2026-09-17T11:00Z.',
      parseReplay,
    )
    .option('--speed <factor>', 'With --replay: how many seconds of then pass in one. Default: 60.', parseSpeed)
    .action(withQueue(watch));
  addExamples(command, [
    'sluice watch',
    'sluice watch local/acme/app',
    'sluice watch local/acme/app main --until-empty',
    'sluice watch local/acme/app main --json --interval 5',
    'sluice watch local/acme/app main --replay 10:00..11:00 --speed 60',
  ]);
}

// SPEC W9
async function watch(context: Context, place: Place, options: Options): Promise<void> {
  const { interval, untilEmpty, replay, speed } = options;
  if (replay !== undefined) {
    if (interval !== undefined || untilEmpty)
      throw usageError('--replay does not go with --interval and --until-empty.');
    const ended = await replayQueue(context, { ...place, ...replay, speed: speed ?? DEFAULT_SPEED });
    if (ended === 'stopped') process.exitCode = INTERRUPTED;
    return;
  }
  if (speed !== undefined) throw usageError('--speed goes with --replay.');
  const { ended } = watchQueue(context, {
    ...place,
    until: untilEmpty ? isEmpty : undefined,
    intervalMs: interval === undefined ? undefined : interval * 1000,
  });
  if ((await ended) === 'stopped') process.exitCode = INTERRUPTED;
}

/** `10:00..11:00`; without an end, until now. */
function parseReplay(text: string): Pick<Replay, 'from' | 'until'> {
  const [begin = '', end, ...more] = text.split('..');
  if (begin === '' || end === undefined || more.length > 0) {
    throw new InvalidArgumentError('Write two instants with .. between them, such as 10:00..11:00, or 2h.. until now.');
  }
  const parse = parseInstant('past');
  const from = parse(begin);
  const until = end === '' ? undefined : parse(end);
  if (until !== undefined && until <= from) {
    throw new InvalidArgumentError(
      `It ends at ${until}, before it begins at ${from}. Leave the end away for until now.`,
    );
  }
  return { from, until };
}

function parseSpeed(text: string): number {
  const speed = Number(text);
  if (!/^\d{1,6}(?:\.\d{1,3})?$/.test(text) || speed < 0.1 || speed > 100_000) {
    throw new InvalidArgumentError('It must be a number from 0.1 to 100000.');
  }
  return speed;
}

function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (!/^\d{1,4}(?:\.\d{1,3})?$/.test(text) || seconds < 0.1 || seconds > 3600) {
    throw new InvalidArgumentError('It must be a number of seconds from 0.1 to 3600.');
  }
  return seconds;
}
