import type { EntryView } from '../../src/app/queue/entry-view.ts';
import type { Board } from './board.ts';
import { nameOf, type Reply, type StormClient } from './client.ts';
import { pause } from './pause.ts';
import type { PlannedChange } from './plan.ts';
import type { StormRepository } from './repository.ts';

const AGAIN_MS = 40;
const ENDED = ['MERGED', 'FAILED', 'CANCELLED'];
const PUSHED = ['PR_PUSHED_TO', 'PR_UPDATED_AT_MERGE_TIME'];

export interface AuthorParts {
  readonly client: StormClient;
  readonly board: Board;
  readonly repository: StormRepository;
  /** Resolves after this many kills. */
  untilKills(count: number): Promise<void>;
}

/** The author of a pull request: opens and submits it, changes it as planned, and waits for its end. */
export async function beAuthor(parts: AuthorParts, change: PlannedChange): Promise<void> {
  const { repository, board } = parts;
  await parts.untilKills(change.afterKills);
  await repository.open(change);
  await submit(parts, change);
  await pause(change.twist === 'none' ? 0 : change.twistAfterMs);
  await twist(parts, change);
  for (;;) {
    const seen = await board.until(change.number, (entry) => hasEnded(entry) || isStuck(entry));
    if (seen === undefined) return;
    if (await isOver(parts, change)) return;
    await pause(AGAIN_MS);
  }
}

async function twist(parts: AuthorParts, change: PlannedChange): Promise<void> {
  const { repository } = parts;
  switch (change.twist) {
    case 'none':
      return;
    case 'cancels':
      await cancel(parts, change);
      return submit(parts, change);
    case 'cancels_for_good':
      return cancel(parts, change);
    case 'pushes':
      return repository.push(change, { [`pushed/${change.number}.txt`]: `${change.number}\n` });
    case 'closes':
      return repository.close(change);
  }
}

/** Reads the entry itself, because the board may be older than the author's last act. */
async function isOver(parts: AuthorParts, change: PlannedChange): Promise<boolean> {
  const entry = await parts.client.get(change, { includeTimeline: true });
  if (entry === undefined) throw new Error(`#${change.number} is not known any more`);
  if (hasEnded(entry)) {
    if (change.twist === 'closes' || !PUSHED.includes(entry.timeline?.[0]?.reason ?? '')) return true;
    await submit(parts, change);
  } else if (isStuck(entry)) {
    if (change.number % 2 === 0) await cancel(parts, change);
    else await solve(parts, change);
    // The server has to detect the push.
    await parts.board.until(change.number, (now) => !isStuck(now) || now.prSha !== entry.prSha);
  }
  return false;
}

async function solve({ repository, client }: AuthorParts, change: PlannedChange): Promise<void> {
  await repository.rebase(change);
  await uploadTargets(client, change);
}

function hasEnded({ state }: EntryView): boolean {
  return ENDED.includes(state ?? '');
}

/** It conflicts with its target branch and waits for its author. */
function isStuck({ state, readiness }: EntryView): boolean {
  return state === 'NOT_READY' && readiness?.gitHubMergeability === 'NOT_MERGEABLE';
}

/** Retries until an answer arrives. A lost answer must not lead to a second submission. */
async function submit({ client }: AuthorParts, change: PlannedChange): Promise<void> {
  const { priority } = change;
  for (;;) {
    await uploadTargets(client, change);
    const reply = await client.attempt('submitPullRequest', { ...nameOf(change), priority });
    if (reply?.status === 200) return;
    if (reply !== undefined) return assertMerged(client, change, reply);
    await pause(AGAIN_MS);
  }
}

/** Only a change that landed meanwhile may be refused. */
async function assertMerged(client: StormClient, change: PlannedChange, reply: Reply): Promise<void> {
  const entry = await client.get(change);
  if (entry?.state !== 'MERGED') throw new Error(`#${change.number}: ${JSON.stringify(reply.body)}`);
}

/** Uploads the targets for the present head. */
async function uploadTargets(client: StormClient, change: PlannedChange): Promise<void> {
  const { line, targets: impactedTargets } = change;
  if (line.settings.mode !== 'PARALLEL') return;
  await client.call('setImpactedTargets', { ...nameOf(change), impactedTargets });
}

/** Cancelling an ended entry is refused and changes nothing. */
async function cancel({ client }: AuthorParts, change: PlannedChange): Promise<void> {
  while ((await client.attempt('cancelPullRequest', nameOf(change))) === undefined) await pause(AGAIN_MS);
}
