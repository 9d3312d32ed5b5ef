import type { Candidate } from '../model/candidate.ts';
import { policyOf } from '../model/policy.ts';
import { unlanded } from '../model/roster.ts';
import { type FailedTest, failedTestsOf } from '../model/signature.ts';
import { amend, keep, type Work } from '../model/work.ts';

/** A test that never failed in so many runs, and now fails and passes on a tree with one new entry, is told to it. */
const ENOUGH_RUNS = 100;
const KEPT_FOR_MS = 14 * 24 * 60 * 60_000;
const MAX_KEPT = 50;
const MAX_TOLD = 5;

/** The run of one entry passed, after failed runs of the same tree. Call it before they are learned. */
// SPEC V80
export function noteNewFlakes(work: Work, { members, beneath }: Candidate, flakes: readonly Candidate[]): void {
  const { learned, newFlakes } = work.queue;
  const [entry] = unlanded(work.queue, members);
  const isAlone = members.length === 1 && unlanded(work.queue, beneath).length === 0;
  if (entry === undefined || !isAlone || !policyOf(work.queue).confirms) return;
  const { runs, tests: known } = learned.records;
  const isNew = ({ id, isNew: cameWith }: FailedTest) =>
    cameWith === true || (runs >= ENOUGH_RUNS && known[id] === undefined);
  const own = flakes.filter((run) => run.members.length === 1);
  const found = new Map(own.flatMap((run) => failedTestsOf(run).filter(isNew)).map((test) => [test.id, test.name]));
  if (found.size === 0) return;
  const { prNumber } = entry;
  const fresh = [...found.keys()].map((id) => ({ id, prNumber, at: work.at }));
  const kept = newFlakes.filter(({ id, at }) => !found.has(id) && at > work.at - KEPT_FOR_MS);
  amend(work, { newFlakes: [...kept, ...fresh].slice(-MAX_KEPT) });
  keep(work, { ...entry, newFlakes: [...new Set([...entry.newFlakes, ...found.values()])].slice(0, MAX_TOLD) });
}

/** For this time no report excuses the test automatically. */
// SPEC V80
export function isNewFlake({ newFlakes }: Pick<Work['queue'], 'newFlakes'>, test: string, now: number): boolean {
  return newFlakes.some(({ id, at }) => id === test && at > now - KEPT_FOR_MS);
}
