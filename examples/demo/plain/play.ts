import { setTimeout } from 'node:timers/promises';
import type { Context } from '../../../src/cli/core/context.ts';
import type { EntryRecord } from '../../../src/contract/entry.ts';
import { shellWord } from '../../../src/lib/text.ts';
import type { DemoFolder } from '../demo-folder.ts';
import { CHECKS, type DemoPullRequest, STORY, targetsOf } from '../story.ts';
import { findRecord } from './verdict.ts';

type Settings = Readonly<Record<string, unknown>>;

export const REPO = { host: 'local', owner: 'demo', name: 'shop' };
export const BRANCH = 'main';
export const QUEUE = { repo: REPO, targetBranch: BRANCH };

/** Enough concurrency that the urgent pull request has a run to interrupt. */
const SETTINGS: Settings = { mode: 'PARALLEL', concurrency: 6 };
const PAUSED: Settings = { state: 'PAUSED' };
const RUNNING: Settings = { state: 'RUNNING' };
const INTERVAL_MS = 200;
/** Only for a queue that stands still; a slow machine never triggers it. */
const PATIENCE_MS = 5 * 60_000;

/** A repository with two checks, and a paused queue. */
export async function setUp(context: Context, folder: DemoFolder): Promise<void> {
  await context.call('registerRepository', {
    repo: REPO,
    git: folder.repository,
    checks: [
      { name: CHECKS.unit, command: 'node --test' },
      { name: CHECKS.smoke, command: `RATES_CACHE=${shellWord(folder.ratesCache)} node --test '*/*.smoke.js'` },
    ],
  });
  await context.call('createQueue', { ...QUEUE, ...SETTINGS, ...PAUSED });
}

type Tell = (text: string) => void;

/**
 * Submits while the queue is paused, so that all enter together: the speed of the machine does not decide their order.
 */
export async function submitFirst(context: Context, tell: Tell, signal: AbortSignal): Promise<void> {
  for (const pullRequest of STORY.filter(({ comesLater }) => !comesLater)) {
    signal.throwIfAborted();
    await submit(context, pullRequest, tell);
  }
  await context.call('updateQueue', { ...QUEUE, ...RUNNING });
}

/** Plays the people until every pull request has landed or left, and returns the records. */
export async function play(context: Context, tell: Tell, signal: AbortSignal): Promise<readonly EntryRecord[]> {
  let before = '';
  let changedAt = performance.now();
  for (;;) {
    const records = await readRecords(context);
    const now = JSON.stringify(records.map(({ timeline = [] }) => timeline.length));
    if (now !== before) changedAt = performance.now();
    before = now;
    if (isOver(records) || performance.now() - changedAt > PATIENCE_MS) return records;
    for (const pullRequest of cuesOf(records)) await submit(context, pullRequest, tell);
    await setTimeout(INTERVAL_MS, undefined, { signal });
  }
}

async function readRecords(context: Context): Promise<readonly EntryRecord[]> {
  const prs = STORY.map(({ number }) => ({ number }));
  return (await context.call('getSubmittedPullRequests', { ...QUEUE, prs, includeTimeline: true })).pullRequests;
}

async function submit(context: Context, pullRequest: DemoPullRequest, tell: Tell): Promise<void> {
  const pr = { number: pullRequest.number };
  const targets = targetsOf(pullRequest);
  await context.call('setImpactedTargets', { ...QUEUE, pr, impactedTargets: targets });
  await context.call('submitPullRequest', { ...QUEUE, pr, ...(pullRequest.isUrgent ? { priority: 'urgent' } : {}) });
  tell(
    `${pullRequest.author} submits #${pullRequest.number} ${pullRequest.title}  [${targets.join(', ')}]: ${pullRequest.note}`,
  );
}

const BEFORE_TESTS: ReadonlySet<string | undefined> = new Set([undefined, 'NOT_READY', 'PENDING']);
const ENDED: ReadonlySet<string | undefined> = new Set(['MERGED', 'FAILED', 'CANCELLED']);

/** The pull requests that are submitted next. Follows from the states of the others; nothing depends on the clock. */
export function cuesOf(records: readonly EntryRecord[]): readonly DemoPullRequest[] {
  const hasBegun = records.some(({ state }) => !BEFORE_TESTS.has(state));
  if (!hasBegun) return [];
  return STORY.filter((pullRequest) => pullRequest.comesLater && findRecord(records, pullRequest) === undefined);
}

/** Every pull request has landed or left, and no act is outstanding. */
export function isOver(records: readonly EntryRecord[]): boolean {
  const areAllEnded = STORY.every((pullRequest) => ENDED.has(findRecord(records, pullRequest)?.state));
  return areAllEnded && cuesOf(records).length === 0;
}
