import { InvalidArgumentError } from 'commander';
import { present } from '../../lib/present.ts';
import { row } from '../core/command.ts';
import { QUEUE } from '../core/place.ts';
import { watchQueue } from './watch-queue.ts';

/** The shell convention for an interrupted command. */
const INTERRUPTED = 130;

// SPEC W9
export const WATCH = row({
  on: QUEUE,
  text: 'Watch a queue live: what is under test, what waits and why, what left. In a pipe or a file: a line for each event.',
  takes: {
    '--until-empty': 'End when no pull request is in the queue any more.',
    '--interval <seconds>': [
      'Ask the server this often. Default: twice a second, less often while nothing moves.',
      parseSeconds,
    ],
  },
  examples: [
    'sluice watch',
    'sluice watch local/acme/app',
    'sluice watch local/acme/app main --until-empty',
    'sluice watch local/acme/app main --json --interval 5',
  ],
  run: async (context, { interval, untilEmpty, ...place }) => {
    const intervalMs = interval === undefined ? undefined : interval * 1000;
    const { ended } = watchQueue(context, place, { ...present({ untilEmpty }), intervalMs });
    if ((await ended) === 'stopped') process.exitCode = INTERRUPTED;
  },
});

function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (!/^\d{1,4}(?:\.\d{1,3})?$/.test(text) || seconds < 0.1 || seconds > 3600) {
    throw new InvalidArgumentError('It must be a number of seconds from 0.1 to 3600.');
  }
  return seconds;
}
