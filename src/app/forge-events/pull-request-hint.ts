import type { PrNumber, PullRequestFacts } from '../../engine/model/pull-request.ts';
import { type Entry, findEntry, isAdmitted, isLanding } from '../../engine/model/queue.ts';
import { valuesOf } from '../../lib/int-map.ts';
import { type FoundQueue, toForgeRepository } from '../core/find-queue.ts';
import { rememberHead } from '../pr-page/note.ts';
import { observePullRequest } from '../queue/forge-facts.ts';
import { loadQueues } from '../queue/list-queues.ts';
import type { HintOf, HintOutcome, HintRun } from './hint-run.ts';

/** Reads a pull request that is in a queue, once for all its queues. */
export async function readPullRequest(run: HintRun, hint: HintOf<'pull_request'>): Promise<HintOutcome> {
  const { app, repository, receivedAt } = run;
  const queues = await loadQueues(app, [repository]);
  if (queues.length === 0) return 'done';
  if (hint.headSha !== undefined) {
    const key = { repositoryId: repository.id, prNumber: hint.number };
    await rememberHead(app, key, { sha: hint.headSha, at: receivedAt, changedAt: hint.changedAt });
  }
  const live = liveOf(queues, hint.number);
  const [first] = live;
  if (first === undefined) return 'done';
  // During a landing the engine ignores these facts: GitHub announces our own merge before it is recorded.
  if (live.every(({ found, entry }) => isLanding(found.queue, entry))) return 'later';
  const isWaitedFor = live.some(({ entry }) => !isAdmitted(entry));
  // A read for another entry has made this one ready meanwhile, or has stored what it waits for.
  if (hint.headSha === undefined && !isWaitedFor) return 'done';
  if (hint.isUndecided === true && !live.some(({ entry }) => isUndecided(entry))) return 'done';
  const undecided = isWaitedFor ? undecidedIn(queues, hint.number) : [];
  const facts = await readFacts(run, [hint.number, ...undecided], first.found.queue.branch);
  let isSeen = true;
  for (const number of [hint.number, ...undecided]) {
    for (const { found, entry } of liveOf(queues, number)) {
      const isLatest = await observePullRequest(app, found, entry, facts.get(number));
      if (number === hint.number && !isLatest) isSeen = false;
      app.outages.end(entry.id, app.clock.now());
    }
  }
  const isOpen = isWaitedFor && facts.get(hint.number)?.mergeability === 'IN_PROGRESS';
  return isOpen || !isSeen ? 'later' : 'done';
}

interface Live {
  readonly found: FoundQueue;
  readonly entry: Entry;
}

function liveOf(queues: readonly FoundQueue[], number: PrNumber): readonly Live[] {
  return queues.flatMap((found) => {
    const entry = findEntry(found.queue, number);
    return entry === undefined ? [] : [{ found, entry }];
  });
}

// SPEC G133
function undecidedIn(queues: readonly FoundQueue[], number: PrNumber): readonly PrNumber[] {
  const entries = queues.flatMap(({ queue }) => [...valuesOf(queue.entries)]);
  const undecided = entries.filter(isUndecided);
  const numbers = new Set(undecided.map(({ prNumber }) => prNumber));
  numbers.delete(number);
  return [...numbers].slice(0, MORE_AT_ONCE);
}

const MORE_AT_ONCE = 19;

function isUndecided(entry: Entry): boolean {
  return !isAdmitted(entry) && entry.pr.mergeability === 'IN_PROGRESS';
}

async function readFacts(
  { forge, hosting, repository }: HintRun,
  numbers: readonly PrNumber[],
  targetBranch: string,
): Promise<ReadonlyMap<PrNumber, PullRequestFacts | undefined>> {
  const at = toForgeRepository(repository);
  const [number] = numbers;
  if (numbers.length > 1 || number === undefined) return hosting.findPullRequests(at, numbers);
  return new Map([[number, await forge.findPullRequest({ repository: at, number, targetBranch })]]);
}
