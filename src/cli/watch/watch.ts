import { type Command, InvalidArgumentError } from 'commander';
import { addExamples, formatRepo, parseRepo, REPO_TEXT, type RepoRef } from '../core/arguments.ts';
import { type Context, withContext } from '../core/context.ts';
import { CliError, EXIT, usageError } from '../core/exit.ts';
import { isEmpty } from './snapshot.ts';
import { watchQueue } from './watch-queue.ts';

interface Options {
  readonly untilEmpty?: true;
  readonly interval?: number;
}

/** The shell convention for an interrupted command. */
const INTERRUPTED = 130;

export function defineWatch(command: Command): void {
  command
    .description(
      'Watch a queue live: what is under test, who waits and why, who left. Where the output is no terminal, a line for each change.',
    )
    .argument('<repo>', REPO_TEXT, parseRepo)
    .argument('[branch]', 'The target branch of the queue. Left out: that of the only one.')
    .option('--until-empty', 'End when no pull request is in the queue any more.')
    .option(
      '--interval <seconds>',
      'Look this often. Else: twice a second, less often while nothing moves.',
      parseSeconds,
    )
    .action(withContext(watch));
  addExamples(command, [
    'sluice watch local/acme/app',
    'sluice watch local/acme/app main --until-empty',
    'sluice watch local/acme/app main --json --interval 5',
  ]);
}

// SPEC W9
async function watch(context: Context, repo: RepoRef, branch: string | undefined, options: Options): Promise<void> {
  const { interval, untilEmpty } = options;
  const { ended } = watchQueue(context, {
    repo,
    targetBranch: branch ?? (await findBranch(context, repo)),
    until: untilEmpty ? isEmpty : undefined,
    intervalMs: interval === undefined ? undefined : interval * 1000,
  });
  if ((await ended) === 'stopped') process.exitCode = INTERRUPTED;
}

async function findBranch(context: Context, repo: RepoRef): Promise<string> {
  const { queues } = await context.call('listQueues', { repo });
  const [first, ...others] = queues;
  if (first === undefined) {
    const create = `sluice queue create ${formatRepo(repo)} main`;
    throw new CliError(EXIT.refused, `${formatRepo(repo)} has no queue. Create one: ${create}`);
  }
  if (others.length === 0) return first.branch;
  const branches = queues.map((queue) => queue.branch).join(', ');
  throw usageError(`${formatRepo(repo)} has several queues: name the branch of one, of ${branches}.`);
}

function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (!/^\d{1,4}(?:\.\d{1,3})?$/.test(text) || seconds < 0.1 || seconds > 3600) {
    throw new InvalidArgumentError('It must be a number of seconds from 0.1 to 3600.');
  }
  return seconds;
}
