import { Type } from 'typebox';
import type { EntryRecord } from '../../contract/entry.ts';
import { CliError, EXIT } from '../core/exit.ts';
import { readResult, waitUntilDecided } from '../pr/land.ts';
import type { Part } from './answer.ts';
import { prFields, type Tool, tool } from './tool.ts';

const MAX_WAIT_S = 50;
const SILENT = { show: () => {}, note: () => {}, close: () => {} };

type Result = NonNullable<EntryRecord['result']>;

/** The decision stands alone, so that no long text of others cuts it. */
export function partsOf({ prNumber, state, prSha, result }: EntryRecord): readonly Part[] {
  const { failing, log, conflict, ...decision } = result ?? neverSubmitted(prNumber);
  return [
    { title: `Result of pull request ${prNumber}: ${sayDecision(decision)}`, data: { state, prSha, ...decision } },
    ...(failing === undefined ? [] : [{ title: 'Tests that failed:', data: failing }]),
    ...(log === undefined ? [] : [{ title: 'What the failed check printed around the first failure:', data: log }]),
    ...(conflict === undefined ? [] : [{ title: 'The conflict, with both sides:', data: conflict }]),
  ];
}

function neverSubmitted(prNumber: number | undefined): never {
  throw new CliError(EXIT.refused, `#${prNumber} was never submitted to the queue.`);
}

// SPEC W83
function sayDecision({ outcome, mayRetry, command }: Pick<Result, 'outcome' | 'mayRetry' | 'command'>): string {
  const does = command === undefined ? '' : ` The command for the next step: ${command}`;
  return `${outcome}. ${mayRetry === undefined ? DONE[outcome] : RETRY[mayRetry.when]}${does}`;
}

const DONE: { readonly [Outcome in Result['outcome']]: string } = {
  LANDED: 'There is nothing left to do.',
  WAITING: 'The queue goes on with it by itself: wait, and submit nothing again.',
  REMOVED: 'Read why before anything else.',
  CANCELLED: 'Read why before anything else.',
};

const RETRY: { readonly [When in NonNullable<Result['mayRetry']>['when']]: string } = {
  NOW: 'It may be submitted again as it is.',
  CHANGED: 'Submit it again only after a change that mends it.',
  AFTER: 'Submit nothing before what mayRetry.after names has happened.',
};

const getResult = tool({
  name: 'get_result',
  title: 'Read what came of a submission',
  description:
    'Tells what came of a pull request: landed, removed, cancelled or waiting; why, who can act, whether it may be submitted again, the tests that failed, the log around the first failure, both sides of a conflict, and the commands that fetch the exact commit that failed.',
  fields: prFields,
  run: async ({ context, findPlace }, given) => partsOf(await readResult(context, await findPlace(given), given.pr)),
});

const waitForResult = tool({
  name: 'wait_for_result',
  title: 'Wait for the result of a submission',
  description: `Waits until the pull request has left the queue, or somebody must act, at most ${MAX_WAIT_S} seconds, and answers as get_result. While it says WAITING and names nothing to do, call it again.`,
  fields: {
    ...prFields,
    seconds: Type.Optional(
      Type.Integer({
        ...{ minimum: 1, maximum: MAX_WAIT_S, default: MAX_WAIT_S },
        description: `How long at most. Default: ${MAX_WAIT_S}.`,
      }),
    ),
  },
  run: async ({ context, findPlace }, { seconds = MAX_WAIT_S, ...given }) => {
    const place = await findPlace(given);
    const wait = { progress: SILENT, until: Date.now() + seconds * 1000, endsFor: 'ANYBODY' } as const;
    const last = await waitUntilDecided(context, { ...place, pr: { number: given.pr } }, wait);
    return partsOf(last ?? (await readResult(context, place, given.pr)));
  },
});

const checkoutCommand = tool({
  name: 'checkout_command',
  title: 'Get the commit that failed',
  description:
    'Tells the commands that fetch and check out the exact commit that failed, in a clone of the repository, and the commands of the checks that failed in it.',
  fields: prFields,
  run: async ({ context, findPlace }, given) => {
    const { result, prNumber } = await readResult(context, await findPlace(given), given.pr);
    const { repro, next } = result ?? neverSubmitted(prNumber);
    if (repro === undefined) return [{ title: `No commit of pull request ${prNumber} failed. Next:`, data: next }];
    const { sha, fetch, checkout, checks } = repro;
    return [{ title: `Run: ${fetch} && ${checkout}`, data: { sha, checks } }];
  },
});

export const RESULT_TOOLS: readonly Tool[] = [getResult, waitForResult, checkoutCommand];
