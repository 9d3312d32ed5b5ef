import { parsePrNumber } from './core/arguments.ts';
import { commandFor, type Row, row, type Subject } from './core/command.ts';
import { usageError } from './core/exit.ts';
import { chooseQueue, ENTRY, type Place, parseWord, QUEUE } from './core/place.ts';
import { clean } from './core/terminal.ts';
import { TIMEOUT, WAIT_TEXT, waitForEnd } from './pr/wait.ts';

type Reverted = Place & ({ readonly pr: { readonly number: number } } | { readonly commit: string });

/** A queue, and what landed on it. */
const LANDED: Subject<Reverted> = {
  takes: { ...ENTRY.takes, '[number]': 'The pull request that landed, or a whole commit id of the branch.' },
  usage: '[options] [repo] [branch] <number|commit>',
  find: async (context, words, options: never) => {
    const what = words.at(-1);
    if (what === undefined)
      throw usageError('Say what landed: sluice revert 5. To find what broke it: sluice breakage');
    const isCommit = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i.test(what);
    const subject = isCommit ? { commit: what } : { pr: { number: parseWord(parsePrNumber, what) } };
    return { ...(await chooseQueue(context, words.slice(0, -1), options)), ...subject };
  },
};

// SPEC W86
export const REVERT: Row = row({
  on: LANDED,
  text: 'Take back what landed: make a pull request of the revert, and submit it first as a repair.',
  takes: {
    ...TIMEOUT,
    '--no-submit': 'Only make the pull request.',
    '--wait': 'Wait until it has left the queue; the exit code says whether it landed.',
  },
  more: WAIT_TEXT,
  examples: [
    'sluice revert 5',
    'sluice revert local/acme/app main 5 --wait',
    'sluice revert 5 --no-submit',
    'sluice revert 5327044f1c1c5b2ab1a2a9b4d8e3c1f0a7d6e5b4',
  ],
  run: async (context, { wait, timeout, submit, ...landed }) => {
    const reply = await context.act('revertPullRequest', { ...landed, ...(submit === false && { submit }) });
    const { repo, targetBranch } = landed;
    if (wait && submit !== false)
      return waitForEnd(context, { repo, targetBranch, pr: { number: reply.prNumber }, ...(timeout && { timeout }) });
    context.show(reply, () => `${clean(reply.text)}\n${clean(reply.prTitle)}\n${clean(reply.prUrl)}\n`);
  },
});

// SPEC W86
export const BREAKAGE: Row = commandFor('findBreakage', {
  on: QUEUE,
  text: 'Say which commit broke the target branch, while the queue holds for it.',
  takes: { '--again': 'Search anew.' },
  examples: ['sluice breakage', 'sluice breakage local/acme/app main --again'],
  show: ({ text }) => `${clean(text)}\n`,
});
