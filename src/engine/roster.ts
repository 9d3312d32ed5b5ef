import { listOf } from '../lib/int-map.ts';
import { byPlace, type Candidate, isOfLine, type Member, type Purpose } from './candidate.ts';
import { type Entry, type EntryState, findLiveMember, type Queue } from './queue.ts';

interface Roster {
  readonly all: readonly Candidate[];
  readonly line: readonly Candidate[];
}

/** The map of candidates is immutable, so its sorted lists can be cached by identity. */
const rosters = new WeakMap<Queue['candidates'], Roster>();

function rosterOf({ candidates }: Queue): Roster {
  const known = rosters.get(candidates);
  if (known !== undefined) return known;
  const all = listOf(candidates).sort(byPlace);
  const roster = { all, line: all.filter(isOfLine) };
  rosters.set(candidates, roster);
  return roster;
}

/** All live candidates, in the order of the line. */
export function candidatesOf(queue: Queue): readonly Candidate[] {
  return rosterOf(queue).all;
}

/** The live candidates of the line, front first. A candidate comes after everything it is built on. */
export function lineOf(queue: Queue): readonly Candidate[] {
  return rosterOf(queue).line;
}

/** The live candidates with another purpose, oldest first. */
export function candidatesFor(queue: Queue, kind: Exclude<Purpose['kind'], 'main'>): readonly Candidate[] {
  const { all, line } = rosterOf(queue);
  return all.length === line.length ? NONE : all.filter(({ purpose }) => purpose.kind === kind);
}

const NONE: readonly Candidate[] = [];

/** The members that have not landed. A member that left in another way has ended the candidate. */
export function unlanded(queue: Queue, members: readonly Member[]): Entry[] {
  return members.flatMap((member) => findLiveMember(queue, member) ?? []);
}

/** The state of an entry that follows from the state of its candidate. */
export function stateUnder(candidate: Candidate): EntryState {
  switch (candidate.state) {
    case 'building':
    case 'testing':
      return 'TESTING';
    case 'passed':
      return 'TESTS_PASSED';
    case 'failed':
      return 'PENDING_FAILURE';
    default:
      return 'PENDING';
  }
}
