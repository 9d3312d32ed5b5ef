import { type Candidate, isRunAgain } from '../model/candidate.ts';
import type { Queue } from '../model/queue.ts';
import { runsOfSearch } from '../model/roster.ts';
import type { Search } from '../model/search.ts';

export function findSearch({ bisections }: Queue, number: number): Search | undefined {
  return bisections.find((search) => search.number === number);
}

/** A length that was or is under test. */
export interface Mark {
  readonly length: number;
  readonly runs: readonly Candidate[];
}

/** Searches and candidates are immutable, so their marks can be cached by identity. */
const marked = new WeakMap<Search, { readonly of: readonly Candidate[]; readonly marks: readonly Mark[] }>();

/** The lengths with a run, shortest first. */
export function marksOf(queue: Queue, search: Search): readonly Mark[] {
  const all = runsOfSearch(queue, search);
  const known = marked.get(search);
  if (known !== undefined && areSame(known.of, all)) return known.marks;
  const places = new Map(search.members.map(({ submission }, index) => [submission, index + 1]));
  const byLength = new Map<number, Candidate[]>();
  for (const run of all) {
    // A control of probes.
    if (run.members.length === 0) continue;
    const length = places.get(run.members.at(-1)?.submission ?? 0) ?? 0;
    byLength.set(length, [...(byLength.get(length) ?? []), run]);
  }
  const marks = [...byLength].sort(([a], [b]) => a - b).map(([length, runs]) => ({ length, runs }));
  marked.set(search, { of: all, marks });
  return marks;
}

export function areSame(runs: readonly Candidate[], others: readonly Candidate[]): boolean {
  return runs.length === others.length && runs.every((run, index) => run === others[index]);
}

/** The shortest prefix that is known to fail. A failure whose checks run again is open. */
// SPEC K8
export function shortestFailure(marks: readonly Mark[]): Mark | undefined {
  return marks.find(({ runs }) => runs.some(isSettledFailure));
}

export function isSettledFailure(run: Candidate): boolean {
  return run.state === 'failed' && !isRunAgain(run);
}

/** The first part without a run; -1 if there is none, or if it has to wait. */
export function startableIn(queue: Queue, search: Search): number {
  const { cuts, isRestHeld } = search;
  const tested = new Set(marksOf(queue, search).map(({ length }) => length));
  const index = cuts.findIndex((cut) => !tested.has(cut));
  return isRestHeld && index > 0 && index === cuts.length - 1 ? -1 : index;
}
