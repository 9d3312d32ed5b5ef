import { assert } from '../lib/assert.ts';
import { walk } from '../lib/sorted-list.ts';
import type { Bisection, Chain, SearchPart } from './bisection.ts';
import { type Candidate, type CandidateNumber, compositionOf, type Member } from './candidate.ts';
import type { PrNumber } from './pull-request.ts';
import { type Because, type Entry, findCandidate, type Queue } from './queue.ts';
import { unlanded } from './roster.ts';
import { endCandidate, entryOf, keep, move, type Work } from './work.ts';

/** Identifies one chain of one bisection. */
export interface SearchPosition {
  readonly number: number;
  readonly index: number;
}

export function findBisection({ queue }: Work, number: number): Bisection | undefined {
  return queue.bisections.find((bisection) => bisection.number === number);
}

export function getBisection(work: Work, number: number): Bisection {
  const found = findBisection(work, number);
  assert(found !== undefined, `bisection ${number} is under way`);
  return found;
}

export function keepBisection(work: Work, bisection: Bisection): void {
  const bisections = work.queue.bisections.map((other) => (other.number === bisection.number ? bisection : other));
  work.queue = { ...work.queue, bisections };
}

export function keepChain(work: Work, { number, index }: SearchPosition, change: (chain: Chain) => Chain): void {
  const bisection = getBisection(work, number);
  const chain = bisection.chains[index];
  assert(chain !== undefined, `bisection ${number} has a chain ${index}`);
  keepBisection(work, { ...bisection, chains: bisection.chains.with(index, change(chain)) });
}

/** Removes parts without members, chains without parts and bisections without chains. */
export function tidy(work: Work, number: number): void {
  const known = findBisection(work, number);
  const isEmpty = ({ members }: SearchPart) => members.length === 0;
  if (known === undefined || !known.chains.some(({ parts }) => parts.length === 0 || parts.some(isEmpty))) return;
  const chains = known.chains
    .map((chain) => ({ ...chain, parts: chain.parts.filter((part) => !isEmpty(part)) }))
    .filter(({ parts }) => parts.length > 0);
  if (chains.length > 0) keepBisection(work, { ...known, chains });
  else work.queue = { ...work.queue, bisections: work.queue.bisections.filter((other) => other !== known) };
}

export function runsOf(queue: Queue, { candidates }: SearchPart): readonly Candidate[] {
  return candidates.flatMap((number) => findCandidate(queue, number) ?? []);
}

/** Ends the candidates of a part. Its members are pending again. */
export function dropRun(work: Work, part: SearchPart, because: Because, leaving?: PrNumber): void {
  const runs = runsOf(work.queue, part);
  if (runs.length === 0) return;
  for (const run of runs) endCandidate(work, run, { reason: because.reason, prNumber: because.prNumber });
  for (const entry of unlanded(work.queue, part.members)) {
    if (entry.state !== 'PENDING' && entry.prNumber !== leaving) move(work, entry, { to: 'PENDING', ...because });
  }
}

/** An entry leaves the queue, so the results of all bisection candidates that contain it are void. */
// SPEC B9
export function removeFromBisections(work: Work, leaving: Entry, because: Because): void {
  const isIt = (member: Member) => member.submission === leaving.submission;
  for (const bisection of work.queue.bisections) {
    for (const [index, chain] of bisection.chains.entries()) {
      if (![...chain.survivors, ...chain.parts.flatMap(({ members }) => members)].some(isIt)) continue;
      const parts = chain.parts.map((part) => withoutEntry(work, part, leaving, because));
      keepChain(work, { number: bisection.number, index }, ({ survivors, ...rest }) => ({
        ...rest,
        survivors: survivors.filter((member) => !isIt(member)),
        parts,
      }));
    }
  }
}

function withoutEntry(work: Work, part: SearchPart, leaving: Entry, because: Because): SearchPart {
  const isIt = (member: Member) => member.submission === leaving.submission;
  const isAffected = runsOf(work.queue, part).some((run) => compositionOf(run).some(isIt));
  if (isAffected) dropRun(work, part, because, leaving.prNumber);
  return {
    ...part,
    members: part.members.filter((member) => !isIt(member)),
    candidates: isAffected ? [] : part.candidates,
  };
}

/** Returns an entry to the line without a verdict, for example because it conflicts without a removed entry. */
export function releaseFromBisection(work: Work, entry: Entry, because: Because): void {
  removeFromBisections(work, entry, because);
  const released = { ...entryOf(work, entry.prNumber), bisection: undefined, wasTested: true };
  move(work, released, { to: 'PENDING', ...because });
}

/** Another candidate tests the part now. */
export function repointPart(work: Work, from: CandidateNumber, to: CandidateNumber): void {
  for (const bisection of work.queue.bisections) {
    for (const [index, { parts }] of bisection.chains.entries()) {
      if (!parts.some(({ candidates }) => candidates.includes(from))) continue;
      keepChain(work, { number: bisection.number, index }, (chain) => ({
        ...chain,
        parts: chain.parts.map((part) => ({
          ...part,
          candidates: part.candidates.map((candidate) => (candidate === from ? to : candidate)),
        })),
      }));
    }
  }
}

/** The target branch moved. Entries cleared by a bisection are known to pass only on top of its base. */
// SPEC B12
export function noteTargetMoved(work: Work, landed: readonly Entry[]): void {
  if (work.queue.bisectionsEver === 0) return;
  const isBy = (number: number) =>
    landed.length > 0 && landed.every(({ clearedBySearch }) => clearedBySearch === number);
  for (const bisection of work.queue.bisections) {
    if (bisection.isOnHead && !isBy(bisection.number)) keepBisection(work, { ...bisection, isOnHead: false });
  }
  for (const prNumber of walk(work.queue.index.pending)) {
    const entry = entryOf(work, prNumber);
    if (entry.clearedBySearch !== undefined && !isBy(entry.clearedBySearch))
      keep(work, { ...entry, clearedBySearch: undefined });
  }
}
