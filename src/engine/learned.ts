import type { Candidate } from './candidate.ts';
import type { Entry, Queue } from './queue.ts';
import { candidatesOf } from './roster.ts';
import type { Work } from './work.ts';

/**
 * The statistics of a queue: how often its pull requests fail, how often a failure is a flake, how long a run takes.
 * Events change them and nothing else does, so a replay learns the same. Older evidence counts less and less.
 */
export interface Learned {
  /** The last decision by a test: 1 if it removed the entry. A failure often follows a failure. */
  readonly last: 0 | 1;
  /** Decisions by the decision before them. */
  readonly after: readonly [Share, Share];
  readonly all: Share;
  /** Entries that a search had cleared: how many failed after all. */
  readonly cleared: Share;
  /** Runs of trees that passed in the end: how many had failed. */
  readonly flakes: Share;
  /** The decayed mean of runs that passed; undefined before the first. */
  readonly durationMs: number | undefined;
}

/** `hits` of `seen`, both decayed. */
export interface Share {
  readonly hits: number;
  readonly seen: number;
}

const NOTHING_SEEN: Share = { hits: 0, seen: 0 };

export const NOTHING_LEARNED: Learned = {
  last: 0,
  after: [NOTHING_SEEN, NOTHING_SEEN],
  all: { hits: 0.5, seen: 5 },
  cleared: { hits: 0.1, seen: 10 },
  flakes: { hits: 0.5, seen: 20 },
  durationMs: undefined,
};

const DECAY = 0.99;
const DURATION_DECAY = 0.9;
const LEAST_CHANCE = 0.001;
const LEAST_CHANCE_OF_CLEARED = 0.002;
/** The context counts as if it had been seen this often with the share of all contexts. */
const PRIOR_WEIGHT = 2;
/** An accusation is wrong for flakes alone at most this often. */
const LARGEST_DOUBT = 0.001;
const MOST_CONFIRMATIONS = 3;

function count({ hits, seen }: Share, hit: number): Share {
  return { hits: DECAY * hits + hit, seen: DECAY * seen + 1 };
}

function rate({ hits, seen }: Share): number {
  return hits / seen;
}

/** A test decided an entry: it landed, or it was removed for a failure. */
// SPEC K2
export function learnDecision(work: Work, entry: Entry, didFail: boolean): void {
  const { queue } = work;
  if (queue.hold !== undefined || queue.parked !== undefined) return;
  const { learned } = queue;
  const hit = didFail ? 1 : 0;
  const [good, bad] = learned.after;
  const after = learned.last === 0 ? ([count(good, hit), bad] as const) : ([good, count(bad, hit)] as const);
  const cleared = entry.isCleared ? count(learned.cleared, hit) : learned.cleared;
  work.queue = { ...queue, learned: { ...learned, last: hit, after, all: count(learned.all, hit), cleared } };
}

/** A run passed. Failed runs of the same tree were flakes. */
// SPEC K3
export function learnPass(work: Work, candidate: Candidate): void {
  const { queue } = work;
  const { learned } = queue;
  let { flakes, durationMs } = learned;
  const tree = candidate.commit?.tree;
  const isFlaky = (other: Candidate) =>
    other.number !== candidate.number && other.commit?.tree === tree && isTestFailure(other);
  for (const other of candidatesOf(queue)) if (isFlaky(other)) flakes = count(flakes, 1);
  flakes = count(flakes, 0);
  if (candidate.testingSince !== undefined) {
    const tookMs = Math.max(0, work.at - candidate.testingSince);
    durationMs = durationMs === undefined ? tookMs : DURATION_DECAY * durationMs + (1 - DURATION_DECAY) * tookMs;
  }
  work.queue = { ...queue, learned: { ...learned, flakes, durationMs } };
}

/** Timeouts and checks without a result say nothing about the tree. */
export function isTestFailure({ state, failure }: Candidate): boolean {
  return state === 'failed' && failure?.reason === 'TEST_RUN_REQUIRED_STATUS_FAILED';
}

/** How likely an untested entry fails, after a decision like `last`. */
export function failureChance({ after, all }: Learned, last: 0 | 1): number {
  const { hits, seen } = after[last];
  return Math.max(LEAST_CHANCE, (hits + PRIOR_WEIGHT * rate(all)) / (seen + PRIOR_WEIGHT));
}

/** How likely an entry fails that a search cleared. */
export function clearedChance({ cleared }: Learned): number {
  return Math.max(LEAST_CHANCE_OF_CLEARED, rate(cleared));
}

export function flakeChance({ flakes }: Learned): number {
  return rate(flakes);
}

/** How many failures beyond the first one it takes to accuse an entry. */
// SPEC K4
export function confirmationsNeeded(learned: Learned): number {
  const flake = flakeChance(learned);
  let confirmations = 0;
  while (confirmations < MOST_CONFIRMATIONS && flake ** (confirmations + 1) > LARGEST_DOUBT) confirmations += 1;
  return confirmations;
}

/** How likely each entry fails, in order. Only the first untested entry follows the last decision directly. */
export function chancesOf({ learned }: Pick<Queue, 'learned'>, entries: readonly Entry[]): readonly number[] {
  const cleared = clearedChance(learned);
  const first = failureChance(learned, learned.last);
  const next = failureChance(learned, 0);
  let isFirst = true;
  return entries.map(({ isCleared }) => {
    if (isCleared) return cleared;
    const chance = isFirst ? first : next;
    isFirst = false;
    return chance;
  });
}
