import { type Clone, isAncestor, listHeads, pushHead, readPushUrl, wasHead } from '../../git/push-head.ts';
import type { Context } from '../core/context.ts';
import { CliError, EXIT, usageError } from '../core/exit.ts';
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
  if (await readPushUrl(clone))
    throw usageError(`The remote ${remote} pushes elsewhere than it reads (pushurl). Pull requests go where it reads.`);
  for (let tried = 0; tried < MAX_TRIES; tried += 1) {
    const { pullRequests: heads, target } = await listHeads(clone, place.targetBranch);
    const same = number ?? [...heads].find(([, sha]) => sha === head)?.[0];
    if (same !== undefined && heads.get(same) === head) return same;
    if (target !== undefined && (await isAncestor(clone.folder, head, target)))
      throw new CliError(EXIT.refused, `HEAD is on ${place.targetBranch} already: there is nothing to land.`);
    if (number !== undefined) await refuseForeign(clone, number, heads.get(number), target);
    const chosen = number ?? (await nextNumber(context, place, heads, tried));
    const answer = await pushHead(clone, head, chosen, heads.get(chosen) ?? '');
    if (answer.kind === 'done') {
      say(`Pushed HEAD as pull request #${chosen}.`);
      return chosen;
    }
    if (answer.kind === 'refused') throw new CliError(EXIT.refused, answer.detail);
  }
  throw new CliError(EXIT.unavailable, 'Every number of a pull request that was tried was taken meanwhile. Try again.');
}

/** A push would take away commits of others, or a pull request that landed. */
// SPEC W85
async function refuseForeign(
  { folder, remote }: Clone,
  number: number,
  head: string | undefined,
  target: string | undefined,
): Promise<void> {
  if (head === undefined)
    throw new CliError(EXIT.refused, `There is no pull request #${number}. Without --pr, HEAD becomes a new one.`);
  if (await wasHead(folder, head)) return;
  const hasLanded = target !== undefined && (await isAncestor(folder, head, target));
  if (!hasLanded && (await isAncestor(folder, head, 'HEAD'))) return;
  const look = `To build on it: git fetch ${remote} refs/pull/${number}/head && git checkout FETCH_HEAD`;
  throw new CliError(EXIT.refused, `#${number} is at ${head}, which was never HEAD of this clone. ${look}`);
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
  return highest + 1 + Math.floor(Math.random() * 2 ** Math.min(tried, 7));
}
