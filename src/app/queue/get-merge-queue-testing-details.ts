import type { ReplyOf, RequestOf } from '../../contract/operation.ts';
import type * as testingContract from '../../contract/testing.ts';
import {
  byPlace,
  type Candidate,
  type CandidateNumber,
  compositionOf,
  isUnderTest,
  type Member,
} from '../../engine/model/candidate.ts';
import type { PrNumber } from '../../engine/model/pull-request.ts';
import { type Entry, findCandidate, findLiveMember, type Queue } from '../../engine/model/queue.ts';
import { runsOfSearch } from '../../engine/model/roster.ts';
import type { Search } from '../../engine/model/search.ts';
import type { ImpactedTargets } from '../../engine/model/targets.ts';
import { valuesOf } from '../../lib/int-map.ts';
import type { CandidateRow } from '../../storage/queues.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { candidateIdOf } from '../core/entry-id.ts';
import { type FoundQueue, getForge } from '../core/find-queue.ts';
import { decodeCandidate } from '../core/queue-codec.ts';
import { type Answer, type Refusal, refuse } from '../core/refusal.ts';
import { type CandidateView, viewCandidate } from './candidate-view.ts';
import { testBranchOf } from './entry-run.ts';
import { findAnyEntries } from './find-entry.ts';
import { findTargets } from './forge-facts.ts';
import { answerAt } from './past.ts';

type GetTestingDetails = RequestOf<typeof testingContract.getMergeQueueTestingDetails>;

// SPEC C37
export async function getMergeQueueTestingDetails(
  app: App,
  caller: Caller,
  input: GetTestingDetails,
): Answer<ReplyOf<typeof testingContract.getMergeQueueTestingDetails>> {
  return answerAt(app, caller, input, { describe: (then, found) => describeTesting(then, found, input) });
}

async function describeTesting(
  app: App,
  found: FoundQueue,
  input: GetTestingDetails,
): Answer<ReplyOf<typeof testingContract.getMergeQueueTestingDetails>> {
  if (input.testRunId === undefined) return describeAll(app, found, input.includeDecided === true);
  const row = await app.store.queueRecords.findCandidateById(parseCandidateId(input.testRunId));
  if (row === undefined || row.queueId !== found.id) return candidateNotFound(input.testRunId);
  return describeCandidate(app, found, presentState(found.queue, row));
}

export function presentState(queue: Queue, row: CandidateRow): Candidate {
  return findCandidate(queue, row.number as CandidateNumber) ?? decodeCandidate(row);
}

/** The test branch of a bisection ends with a suffix that is no part of the id. */
export function parseCandidateId(given: string): string {
  return given.toLowerCase().replace(/-bisection$/, '');
}

export function candidateNotFound(named: string): Refusal {
  return refuse(
    'TEST_RUN_NOT_FOUND',
    `There is no test run ${named} here. Its id is the last part of the name of its test branch.`,
  );
}

/** The order of the reply: repairs, the main line from its front, bisections, tests of the target branch itself. */
const PURPOSES = ['repair', 'main', 'bisection', 'head'] as const;

async function describeAll(app: App, found: FoundQueue, isDecidedIncluded: boolean) {
  const live = [...valuesOf(found.queue.candidates)].sort(byPlace);
  const wanted = isDecidedIncluded ? live.filter(({ state }) => state !== 'abandoned') : live.filter(isUnderTest);
  const ordered = PURPOSES.flatMap((kind) => wanted.filter(({ purpose }) => purpose.kind === kind));
  const testRuns = await describeCandidates(app, found, ordered, isDecidedIncluded);
  return isDecidedIncluded
    ? { testRuns, searches: found.queue.bisections.map((each) => viewSearch(found, each)) }
    : { testRuns };
}

/** A scout looks ahead: nothing in it has failed yet. */
function viewSearch({ id, queue }: FoundQueue, search: Search) {
  const { how, survivors, members, accused } = search;
  const runs = runsOfSearch(queue, search);
  const hasFailed = how === 'halves' || accused !== undefined || runs.some(({ state }) => state === 'failed');
  return {
    suspects: members.map(({ prNumber }) => prNumber),
    cleared: survivors.map(({ prNumber }) => prNumber),
    isScout: !hasFailed,
    testRunIds: runs.filter(({ state }) => state === 'testing').map(({ number }) => candidateIdOf(id, number)),
  };
}

export async function describeCandidate(app: App, found: FoundQueue, candidate: Candidate): Promise<CandidateView> {
  const [view] = await describeCandidates(app, found, [candidate]);
  return view as CandidateView;
}

/** Limits the size of one reply: a candidate whose targets do not fit any more shows none. */
const MAX_SHOWN_TARGETS = 1_000_000;

async function describeCandidates(
  app: App,
  found: FoundQueue,
  candidates: readonly Candidate[],
  isDetailed = false,
): Promise<CandidateView[]> {
  const forge = getForge(app, found.repository.host);
  const tested = new Set(candidates.flatMap(({ members }) => members.map(({ prNumber }) => prNumber)));
  const entries: ReadonlyMap<PrNumber, Entry> = await findAnyEntries(app, found, [...tested]);
  const targets = new TargetLists(app, found);
  const views: CandidateView[] = [];
  for (const candidate of candidates) {
    const { sameTreeAs } = candidate;
    const isReused = sameTreeAs !== undefined && sameTreeAs !== candidate.number;
    const context = {
      testRunId: candidateIdOf(found.id, candidate.number),
      isDetailed,
      reuses: isReused ? candidateIdOf(found.id, sameTreeAs) : undefined,
      testBranch: testBranchOf(forge, found, candidate),
      queue: found.queue,
      entries,
      impactedTargets: await targets.unite(compositionOf(candidate)),
      impactedTargetsForTestedPrs: await targets.unite(candidate.members),
    };
    views.push(viewCandidate(candidate, context));
  }
  return views;
}

/** Impacted targets as uploaded by now: those of live entries from the queue, others from the store. */
class TargetLists {
  readonly #app: App;
  readonly #found: FoundQueue;
  readonly #known = new Map<string, ImpactedTargets | undefined>();
  #room = MAX_SHOWN_TARGETS;

  constructor(app: App, found: FoundQueue) {
    this.#app = app;
    this.#found = found;
  }

  /** Undefined where a pull request has none uploaded, or where the reply has no room left. */
  async unite(members: readonly Member[]): Promise<readonly string[] | undefined> {
    if (members.length === 0) return undefined;
    const union = new Set<string>();
    let isAll = false;
    for (const member of members) {
      const targets = await this.#targetsOf(member);
      if (targets === undefined) return undefined;
      if (targets.kind === 'all') isAll = true;
      else for (const target of targets.targets) union.add(target);
      if (!isAll && union.size > this.#room) return undefined;
    }
    // Uploads use the same word. An empty list would say the opposite.
    if (isAll) return ['ALL'];
    this.#room -= union.size;
    return [...union].sort();
  }

  async #targetsOf(member: Member): Promise<ImpactedTargets | undefined> {
    const live = findLiveMember(this.#found.queue, member);
    if (live !== undefined && live.pr.headSha === member.headSha) return live.targets;
    const { prNumber, headSha: sha } = member;
    const key = `${prNumber} ${sha}`;
    if (!this.#known.has(key)) this.#known.set(key, await findTargets(this.#app, this.#found.id, { prNumber, sha }));
    return this.#known.get(key);
  }
}
