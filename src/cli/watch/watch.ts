import { type Command, InvalidArgumentError } from 'commander';
import { present } from '../../lib/present.ts';
import { addExamples } from '../core/arguments.ts';
import type { Context } from '../core/context.ts';
import { addQueueArguments, type Place, withQueue } from '../core/place.ts';
import { watchQueue } from './watch-queue.ts';

interface Options {
  readonly untilEmpty?: true;
  readonly interval?: number;
}

/** The shell convention for an interrupted command. */
const INTERRUPTED = 130;

export function defineWatch(command: Command): void {
  addQueueArguments(command)
    .description(
      'Watch a queue live: what is under test, what waits and why, what left. In a pipe or a file: a line for each event.',
    )
    .option('--until-empty', 'End when no pull request is in the queue any more.')
    .option(
      '--interval <seconds>',
      'Ask the server this often. Default: twice a second, less often while nothing moves.',
      parseSeconds,
    )
    .action(withQueue(watch));
  addExamples(command, [
    'sluice watch',
    'sluice watch local/acme/app',
    'sluice watch local/acme/app main --until-empty',
    'sluice watch local/acme/app main --json --interval 5',
  ]);
}

// SPEC W9
async function watch(context: Context, place: Place, { interval, untilEmpty }: Options): Promise<void> {
  const intervalMs = interval === undefined ? undefined : interval * 1000;
  const { ended } = watchQueue(context, place, { ...present({ untilEmpty }), intervalMs });
  if ((await ended) === 'stopped') process.exitCode = INTERRUPTED;
}

function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (!/^\d{1,4}(?:\.\d{1,3})?$/.test(text) || seconds < 0.1 || seconds > 3600) {
    throw new InvalidArgumentError('It must be a number of seconds from 0.1 to 3600.');
  }
  return seconds;
}
