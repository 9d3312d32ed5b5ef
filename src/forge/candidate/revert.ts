import type { PrNumber } from '../../engine/model/pull-request.ts';
import type { CommitStore, GitRepository } from '../../git/git.ts';
import { Fault } from '../../lib/fault.ts';
import type { Sha } from '../../lib/sha.ts';
import type { RevertAnswer, RevertRequest } from '../forge.ts';
import { getCommit, personAt, SLUICE } from './apply-entry.ts';
import { messageOf, withoutSkips } from './message.ts';
import { printable, pullRequestRef } from './pull-request-ref.ts';

export type MadeRevert =
  | { readonly kind: 'made'; readonly sha: Sha; readonly title: string }
  | Extract<RevertAnswer, { readonly kind: 'conflict' | 'nothing' }>;

/**
 * A commit on the head without the changes between `before` and `commit`, however many commits they are: git finds
 * `commit` as the base of the head and of a stand-in on it that has the tree of `before`. The same request gives the same
 * commit: its time is that of the head.
 */
// SPEC L62
export async function makeRevert(git: CommitStore, request: RevertRequest): Promise<MadeRevert> {
  const { head } = request;
  const [commit, target] = await Promise.all([getCommit(git, request.commit), getCommit(git, head)]);
  const before = request.before ?? commit.parents[0];
  if (before === undefined) return { kind: 'nothing' };
  const { tree } = await getCommit(git, before);
  const [, seconds = '0'] = / (\d+) [+-]\d{4}$/.exec(target.author.toString('latin1')) ?? [];
  const person = personAt(SLUICE, Number(seconds) * 1_000);
  const people = { author: person, committer: person, encoding: undefined };
  const standIn = await git.writeCommit({ ...people, tree, parents: [commit.sha], message: Buffer.from('Before\n') });
  const merge = await git.merge({ target: head, head: standIn });
  if (merge.kind === 'conflict') return { kind: 'conflict', files: merge.files };
  if (merge.kind !== 'clean' || merge.tree === target.tree) return { kind: 'nothing' };
  const [first = ''] = commit.message.toString().trimStart().split('\n', 1);
  const title = titleOf({ ...request, subject: request.subject ?? first });
  const message = withoutSkips(messageOf([title, describeRevert(request)], []));
  return { kind: 'made', sha: await git.writeCommit({ ...people, tree: merge.tree, parents: [head], message }), title };
}

function titleOf({ subject = '', prNumber }: RevertRequest): string {
  const of = prNumber === undefined ? '' : ` (#${prNumber})`;
  return `Revert "${printable(subject)}"${of}`;
}

export function describeRevert({ commit, prNumber, actor }: RevertRequest): string {
  const landing = prNumber === undefined ? '' : `, as which #${prNumber} landed`;
  return `This reverts commit ${commit}${landing}.\n\nAsked for by ${printable(actor)}.`;
}

const MAX_TRIES = 20;

/** Makes it the next free pull request of a plain git repository, or finds the one that it is. */
// SPEC L65
export async function pushRevert(
  git: GitRepository,
  sha: Sha,
  listHeads: () => Promise<ReadonlyMap<PrNumber, Sha>>,
  above: number,
): Promise<Extract<RevertAnswer, { readonly kind: 'proposed' | 'refused' }>> {
  const nothing = '0'.repeat(sha.length) as Sha;
  for (let tried = 0; tried < MAX_TRIES; tried += 1) {
    const heads = await listHeads();
    const known = [...heads].find(([, head]) => head === sha)?.[0];
    if (known !== undefined) return { kind: 'proposed', number: known };
    const number = (Math.max(above, ...heads.keys()) + 1) as PrNumber;
    const answer = await git.changeRefs([{ kind: 'set', ref: pullRequestRef(number), sha, expected: nothing }]);
    if (answer.kind === 'done') return { kind: 'proposed', number };
    if (answer.kind === 'refused') return { kind: 'refused', detail: answer.detail };
    await git.refresh();
  }
  throw new Fault('FORGE_UNAVAILABLE', 'Every number of a pull request that was tried was taken meanwhile.');
}
