import { type Clone, hasCommit, listPullRequestHeads, pushHead } from '../../git/push-head.ts';
import type { Context } from '../core/context.ts';
import { CliError, EXIT } from '../core/exit.ts';
import type { Place } from '../core/place.ts';
import { say } from '../core/terminal.ts';

interface Wanted {
  readonly place: Place;
  /** The name of the remote in this clone. */
  readonly remote: string;
  readonly head: string;
  /** Undefined: a new one, or the one that has this head already. */
  readonly number: number | undefined;
}

const MAX_TRIES = 200;

/** Answers the number of the pull request whose head is HEAD now. */
// SPEC W80
export async function pushPullRequest(context: Context, { place, remote, head, number }: Wanted): Promise<number> {
  const clone = { folder: process.cwd(), remote };
  for (let tried = 0; tried < MAX_TRIES; tried += 1) {
    const heads = await listPullRequestHeads(clone);
    const same = number ?? [...heads].find(([, sha]) => sha === head)?.[0];
    if (same !== undefined && heads.get(same) === head) return same;
    if (number !== undefined && !heads.has(number))
      throw new CliError(EXIT.refused, `There is no pull request #${number}. Without --pr, HEAD becomes a new one.`);
    if (number !== undefined) await refuseUnknown(clone, number, heads.get(number) as string);
    const chosen = number ?? (await nextNumber(context, place, heads, tried));
    const answer = await pushHead(clone, chosen, heads.get(chosen) ?? '');
    if (answer.kind === 'done') {
      say(`Pushed HEAD as pull request #${chosen}.`);
      return chosen;
    }
    if (answer.kind === 'refused') throw new CliError(EXIT.refused, answer.detail);
  }
  throw new CliError(EXIT.unavailable, 'Every number of a pull request that was tried was taken meanwhile. Try again.');
}

/** A push would take away commits that others pushed. */
async function refuseUnknown({ folder, remote }: Clone, number: number, head: string): Promise<void> {
  if (await hasCommit(folder, head)) return;
  const look = `Look at it first: git fetch ${remote} refs/pull/${number}/head`;
  throw new CliError(EXIT.refused, `#${number} is at ${head}, which this clone does not have. ${look}`);
}

/** Those who try at the same time spread out. */
async function nextNumber(
  context: Context,
  place: Place,
  heads: ReadonlyMap<number, string>,
  tried: number,
): Promise<number> {
  const { highestNumber = 0 } = await context.call('findPullRequest', place);
  const highest = [...heads.keys()].reduce((most, each) => Math.max(most, each), highestNumber);
  return highest + 1 + Math.floor(Math.random() * Math.min(tried, 20) * 2);
}
