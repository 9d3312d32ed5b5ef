/**
 * The statistics of a queue: how often its pull requests fail, how often a failure is a flake, how long a run takes.
 * Events change them and nothing else does, so a replay learns the same. Older evidence counts less and less.
 */
export interface Learned {
  /** Entries that a test decided: how many failed. */
  readonly all: Share;
  /** The same, by whether the entry admitted before them landed or failed. A failure often follows a failure. */
  readonly after: readonly [Share, Share];
  readonly outcomes: Outcomes;
  /** Entries that a search had cleared: how many failed after all. */
  readonly cleared: Share;
  /** Runs of trees that passed in the end: how many had failed, in no test with a record. */
  readonly flakes: Share;
  readonly records: Records;
  /** The decayed mean of runs that passed; undefined before the first. */
  readonly durationMs: number | undefined;
  /** How long the latest runs took that passed, oldest first. Runs in which a check ran again are left out. */
  readonly passSeconds: readonly number[];
}

/** `hits` of `seen`, both decayed. */
export interface Share {
  readonly hits: number;
  readonly seen: number;
}

/** The latest outcomes in the order of admission. Entries are not decided in that order. */
export interface Outcomes {
  /** The ordinal of the first one. */
  readonly from: number;
  /** One digit each: 0 landed, 1 failed, . not decided. */
  readonly digits: string;
}

/** Tests that failed in runs of trees that pass. Tests without a record never did. */
export interface Records {
  /** How many runs of trees that pass there were, and the same decayed. */
  readonly runs: number;
  readonly seen: number;
  /** By test: how often it failed in them, decayed until it failed last, and how many runs there were by then. */
  readonly tests: Readonly<Record<string, readonly [hits: number, at: number]>>;
}

const NOTHING_SEEN: Share = { hits: 0, seen: 0 };

export const NOTHING_LEARNED: Learned = {
  all: { hits: 0.5, seen: 5 },
  after: [NOTHING_SEEN, NOTHING_SEEN],
  outcomes: { from: 1, digits: '' },
  cleared: { hits: 0.1, seen: 10 },
  flakes: { hits: 1, seen: 20 },
  records: { runs: 0, seen: 0, tests: {} },
  durationMs: undefined,
  passSeconds: [],
};

const DECAY = 0.99;
const DURATION_DECAY = 0.9;
const LEAST_CHANCE = 0.001;
const LEAST_CHANCE_OF_CLEARED = 0.002;
/** The context counts as if it had been seen this often with the share of all contexts. */
const PRIOR_WEIGHT = 2;
/** A removal is wrong for flakes alone at most this often. */
const LARGEST_DOUBT = 0.001;
/** A test that fails more often says nothing about an entry, if its record has so many runs. */
const TOO_FLAKY = 0.25;
const ENOUGH_RUNS = 20;
/** More failures than an entry has runs of its own. */
const MOST_REPETITIONS = 20;
const MOST_RECORDS = 200;
/** A record that counts less is forgotten. */
const LEAST_HITS = 0.05;
/** As many successes, never seen, count against little evidence. */
const DOUBT_WEIGHT = 50;
const MOST_OUTCOMES = 512;
const MOST_PASSES = 40;

function count({ hits, seen }: Share, hit: number): Share {
  return { hits: DECAY * hits + hit, seen: DECAY * seen + 1 };
}

function rate({ hits, seen }: Share): number {
  return hits / seen;
}

/** A test decided an entry: it landed (0), or it failed alone (1). */
export function withDecision(learned: Learned, { isCleared, admission }: Decided, outcome: 0 | 1): Learned {
  const ordinal = admission?.ordinal ?? 0;
  const ahead = outcomeAt(learned, ordinal - 1);
  const behind = outcomeAt(learned, ordinal + 1);
  let { after } = learned;
  // Each pair of neighbours counts once, when the second of the two is known.
  if (ahead !== undefined) after = countAfter(after, ahead, outcome);
  if (behind !== undefined) after = countAfter(after, outcome, behind);
  return {
    ...learned,
    all: count(learned.all, outcome),
    after,
    outcomes: withOutcome(learned.outcomes, ordinal, outcome),
    cleared: isCleared ? count(learned.cleared, outcome) : learned.cleared,
  };
}

/** The facts of an entry that its chance to fail depends on. */
export interface Decided {
  readonly isCleared: boolean;
  readonly admission: { readonly ordinal: number } | undefined;
}

function countAfter([good, bad]: Learned['after'], context: 0 | 1, outcome: 0 | 1): Learned['after'] {
  return context === 0 ? [count(good, outcome), bad] : [good, count(bad, outcome)];
}

export function outcomeAt({ outcomes }: Learned, ordinal: number): 0 | 1 | undefined {
  const digit = outcomes.digits[ordinal - outcomes.from];
  if (digit === '0') return 0;
  return digit === '1' ? 1 : undefined;
}

function withOutcome({ from, digits }: Outcomes, ordinal: number, outcome: 0 | 1): Outcomes {
  const at = ordinal - from;
  if (at < 0) return { from, digits };
  const known = `${digits.slice(0, at).padEnd(at, '.')}${outcome}${digits.slice(at + 1)}`;
  const excess = Math.max(0, known.length - MOST_OUTCOMES);
  return { from: from + excess, digits: known.slice(excess) };
}

interface PassedRun {
  /** Failed runs of the same tree, each by the tests that failed in it. */
  readonly flakes: readonly (readonly string[])[];
  /** A failure in its place would have been settled. */
  readonly isSettled: boolean;
  readonly tookMs: number | undefined;
  /** A check of it ran again, maybe long after it had failed. */
  readonly isAgain: boolean;
}

/** A run passed, after failed runs of the same tree. */
export function withPass(learned: Learned, { flakes: flaky, isSettled, tookMs, isAgain }: PassedRun): Learned {
  let { flakes, durationMs, passSeconds, records } = learned;
  for (const tests of flaky) {
    const { tests: known } = records;
    if (!tests.some((test) => known[test] !== undefined)) flakes = count(flakes, 1);
    records = withGoodRun(records, tests);
  }
  records = withGoodRun(records, []);
  if (tookMs !== undefined) {
    durationMs = durationMs === undefined ? tookMs : DURATION_DECAY * durationMs + (1 - DURATION_DECAY) * tookMs;
    if (!isAgain) passSeconds = [...passSeconds, Math.ceil(tookMs / 1000)].slice(-MOST_PASSES);
  }
  return { ...learned, flakes: isSettled ? count(flakes, 0) : flakes, durationMs, passSeconds, records };
}

/** A run of a tree that passes, in which these tests failed. */
// SPEC V69
function withGoodRun({ runs: before, seen, tests: known }: Records, failed: readonly string[]): Records {
  const runs = before + 1;
  const counted = { runs, seen: DECAY * seen + 1 };
  if (failed.length === 0) return { ...counted, tests: known };
  const fresh = failed.map((test) => [test, [hitsOf(known[test], runs) + 1, runs]] as const);
  const all = Object.entries({ ...known, ...Object.fromEntries(fresh) });
  const kept = all.filter(([, record]) => hitsOf(record, runs) >= LEAST_HITS);
  kept.sort(([, one], [, other]) => hitsOf(other, runs) - hitsOf(one, runs));
  return { ...counted, tests: Object.fromEntries(kept.slice(0, MOST_RECORDS)) };
}

function hitsOf(record: readonly [number, number] | undefined, runs: number): number {
  return record === undefined ? 0 : record[0] * DECAY ** (runs - record[1]);
}

/** How often the test fails on trees that pass. A test without a record may, too. */
function recordOf({ records: { runs, seen, tests } }: Learned, test: string): Share {
  return { hits: hitsOf(tests[test], runs) + 1, seen: seen + 2 };
}

/** How likely the test fails on a tree that passes. */
export function rateOf(learned: Learned, test: string): number {
  return rate(recordOf(learned, test));
}

/** How likely an untested entry fails; `context` is the outcome of the entry admitted before it, if it is known. */
export function failureChance({ after, all }: Learned, context?: 0 | 1): number {
  const { hits, seen } = context === undefined ? NOTHING_SEEN : after[context];
  return Math.max(LEAST_CHANCE, (hits + PRIOR_WEIGHT * rate(all)) / (seen + PRIOR_WEIGHT));
}

/** How likely a failure follows a failure, as far as much evidence says so. */
export function chanceAfterFailure({ after: [, { hits, seen }] }: Learned): number {
  return hits / (seen + DOUBT_WEIGHT);
}

/** How likely an entry fails that a search cleared. */
export function clearedChance({ cleared }: Learned): number {
  return Math.max(LEAST_CHANCE_OF_CLEARED, rate(cleared));
}

export function flakeChance({ flakes }: Learned): number {
  return rate(flakes);
}

/** How many failures beyond the first one it takes to remove an entry, if no test is known to have failed in them. */
// SPEC V70
export function confirmationsNeeded({ flakes }: Learned): number {
  return repetitions(rate(flakes), flakes);
}

/** The same if this test failed in all of them. Infinite for a test that fails too often to say anything. */
// SPEC V67, V71
export function confirmationsOf(learned: Learned, test: string): number {
  const { records } = learned;
  const record = recordOf(learned, test);
  if (rate(record) > TOO_FLAKY && records.seen >= ENOUGH_RUNS) return Number.POSITIVE_INFINITY;
  const needed = repetitions(Math.max(flakeChance(learned), rate(record)), record);
  return records.tests[test] === undefined ? Math.min(needed, confirmationsNeeded(learned)) : needed;
}

/** After how many more failures no real doubt is left. Each says that failures are likelier than was known. */
function repetitions(chance: number, { hits, seen }: Share): number {
  let doubt = chance;
  let times = 0;
  while (doubt > LARGEST_DOUBT) {
    times += 1;
    doubt *= (hits + times) / (seen + times);
    if (times === MOST_REPETITIONS) return Number.POSITIVE_INFINITY;
  }
  return times;
}

/**
 * How likely each entry fails, in order, if those before it do not. The context of the first one is known only if the
 * entry admitted before it is decided.
 */
export function chancesOf({ learned }: { readonly learned: Learned }, entries: readonly Decided[]): readonly number[] {
  const cleared = clearedChance(learned);
  let isFirst = true;
  return entries.map(({ isCleared, admission }) => {
    if (isCleared) return cleared;
    const context = outcomeAt(learned, (admission?.ordinal ?? 0) - 1) ?? (isFirst ? undefined : 0);
    isFirst = false;
    return failureChance(learned, context);
  });
}
