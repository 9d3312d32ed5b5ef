import { notePaths } from '../flaky/core/paths.ts';
import type { EarlierOutcome } from '../flaky/core/run.ts';
import { newTestState } from '../flaky/core/state.ts';
import { cleanFailure, type FailureText, groupFailure, shorten } from '../flaky/failure-group.ts';
import { observe, scopeOf, type UploadScope } from '../flaky/observe.ts';
import { isBlockingRun } from '../flaky/quarantine.ts';
import type { Instant } from '../lib/clock.ts';
import { eventRowOf, quarantineSettingsOf, uploadFactsOf } from '../storage/test-codec.ts';
import type { BatchFacts, StoredFailure, StoredRun, TestChange } from '../storage/test-ingest.ts';
import type { StoredTestSettings } from '../storage/test-settings.ts';
import type { TestEventRow, TestRow } from '../storage/tests.ts';
import {
  countUncounted,
  isSameList,
  type KeptTest,
  type KeptTests,
  latestStart,
  showState,
  takeMemory,
} from './kept-tests.ts';
import type { ReadRun } from './read/read-run.ts';
import type { RunsByTest } from './upload-parts.ts';

/** Runs by test id, with the facts that a new test needs. */
export interface NewTests {
  readonly facts: BatchFacts;
  readonly groups: RunsByTest;
  readonly variant: string;
  readonly settings: StoredTestSettings;
  readonly at: Instant;
}

/** Outcomes in other uploads of the same commit and job, by test number. */
export type Earlier = ReadonlyMap<number, readonly EarlierOutcome[]>;

export interface PartToObserve extends NewTests {
  readonly earlier: Earlier;
}

type Observations = Pick<TestChange, 'tests' | 'memories' | 'failures' | 'events'> & {
  readonly runs: readonly StoredRun[];
};

const NO_OUTCOMES: readonly EarlierOutcome[] = [];
/** Tests between two calls of `step`. */
const STEP_EVERY = 500;

/**
 * Folds the runs of a part into the tests in memory, and returns the change to store: the runs, the failures, and only
 * those tests that changed in more than counts of passing runs.
 */
export async function observePart(
  kept: KeptTests,
  part: PartToObserve,
  step: () => Promise<void>,
): Promise<Observations> {
  const { settings, at, facts } = part;
  const scope = scopeOf(uploadFactsOf(facts, kept), settings.monitors, at);
  const acting = { settings: quarantineSettingsOf(settings.settings), at, actor: null };
  const out = {
    tests: [] as TestRow[],
    memories: [] as TestChange['memories'][number][],
    runs: [] as StoredRun[],
    failures: [] as StoredFailure[],
    events: [] as TestEventRow[],
  };
  const all = inOrderOfNumbers(kept, part);
  await step();
  let seen = 0;
  for (const { test, runs, isNew } of all) {
    storeRuns(test, runs, out);
    countUncounted(test, runs, at);
    const isRenamed = !isNew && facts.flaw === null && rename(test, runs.at(-1) as ReadRun);
    const isUrgent = foldRuns(test, runs, { scope, earlier: part.earlier.get(test.row.no), isNew, events: out.events });
    const isShown = isUrgent && showState(test, out.events, acting);
    if (isNew || isRenamed || isShown) out.tests.push(test.row);
    if (isUrgent) out.memories.push(takeMemory(test, kept.seq + 1));
    test.isDirty = !isUrgent;
    seen += 1;
    if (seen % STEP_EVERY === 0) await step();
  }
  return out;
}

/**
 * Adds tests in their state before the first run; folding their runs later gives the same result. Their paths are set
 * here: otherwise the first run of each test would force a write of its memory.
 */
export function introduceTests(kept: KeptTests, part: NewTests): Pick<TestChange, 'tests' | 'memories' | 'events'> {
  const { settings, at, facts } = part;
  const scope = scopeOf(uploadFactsOf(facts, kept), settings.monitors, at);
  const acting = { settings: quarantineSettingsOf(settings.settings), at, actor: null };
  const events: TestEventRow[] = [];
  const added = inOrderOfNumbers(kept, part);
  for (const { test, runs } of added) {
    foldRuns(test, [], { scope, earlier: undefined, isNew: true, events });
    const paths = facts.flaw !== null ? undefined : notePaths(undefined, runs, at);
    if (paths !== undefined) test.state = { ...test.state, paths };
    showState(test, events, acting);
  }
  return {
    tests: added.map(({ test }) => test.row),
    memories: added.map(({ test }) => takeMemory(test, kept.seq + 1)),
    events,
  };
}

interface Group {
  readonly no: number;
  readonly test: KeptTest;
  readonly runs: readonly ReadRun[];
  readonly isNew: boolean;
}

/** The store keeps runs in this order. Adds the new tests. */
function inOrderOfNumbers(kept: KeptTests, part: NewTests): readonly Group[] {
  const all: Group[] = [];
  for (const [id, runs] of part.groups) {
    const known = kept.byId.get(id);
    const test = known ?? addTest(kept, id, runs[0] as ReadRun, part);
    all.push({ no: test.row.no, test, runs, isNew: known === undefined });
  }
  return all.sort((one, other) => one.no - other.no);
}

function addTest(kept: KeptTests, id: string, run: ReadRun, { variant, settings, at }: NewTests): KeptTest {
  const identity = { id, repositoryId: kept.repository.id, no: kept.nextTestNo, variant };
  const test: KeptTest = {
    row: newRow(identity, run, at),
    state: newTestState(at),
    settingsVersion: settings.version,
    lastRunAt: null,
    isDirty: false,
    storedSeq: 0,
    uncounted: null,
  };
  kept.nextTestNo += 1;
  kept.add(test);
  return test;
}

function newRow(
  identity: Pick<TestRow, 'id' | 'repositoryId' | 'no' | 'variant'>,
  { names, codeOwners }: ReadRun,
  at: Instant,
): TestRow {
  return {
    ...identity,
    name: names.name,
    parent: names.parent || null,
    classname: names.classname || null,
    file: names.file || null,
    codeowners: codeOwners,
    firstSeenAt: at,
    status: 'HEALTHY',
    statusReason: '',
    statusAt: at,
    quarantineOverride: 'UNSPECIFIED',
    override: null,
    quarantinedAt: null,
    isFlagged: false,
    labels: [],
    ticketUrl: null,
  };
}

/** The latest names and owners count. A report without them removes nothing. */
function rename(test: KeptTest, { names, codeOwners }: ReadRun): boolean {
  const { row } = test;
  const codeowners = codeOwners.length === 0 || isSameList(codeOwners, row.codeowners) ? row.codeowners : codeOwners;
  const file = names.file || row.file;
  const name = names.name || row.name;
  const parent = names.parent || row.parent;
  const classname = names.classname || row.classname;
  const isSame =
    codeowners === row.codeowners &&
    file === row.file &&
    name === row.name &&
    parent === row.parent &&
    classname === row.classname;
  if (!isSame) test.row = { ...row, codeowners, file, name, parent, classname };
  return !isSame;
}

/** Stores the runs with the test's state before the upload. */
function storeRuns(
  { row, state }: KeptTest,
  runs: readonly ReadRun[],
  out: { readonly runs: StoredRun[]; readonly failures: StoredFailure[] },
): void {
  const isQuarantined = row.quarantinedAt !== null;
  const { id: testId, no: testNo } = row;
  for (const { conclusion, startedAt, durationMs, failure, path } of runs) {
    out.runs.push({ testNo, startedAt, conclusion, durationMs, isQuarantined });
    if (conclusion !== 'FAILURE') continue;
    const isBlocking = isBlockingRun(conclusion, { status: state.status, isQuarantined });
    out.failures.push({ testId, testNo, startedAt, isBlocking, isQuarantined, path, ...describeFailure(failure) });
  }
}

/** Returns true if the test must be stored with the runs. */
function foldRuns(
  test: KeptTest,
  runs: readonly ReadRun[],
  of: {
    readonly scope: UploadScope;
    readonly earlier: readonly EarlierOutcome[] | undefined;
    readonly isNew: boolean;
    readonly events: TestEventRow[];
  },
): boolean {
  const observed = observe(of.isNew ? undefined : test.state, runs, of.scope, of.earlier ?? NO_OUTCOMES);
  test.state = observed.state;
  test.lastRunAt = latestStart(runs, test.lastRunAt);
  for (const event of observed.events) of.events.push(eventRowOf(test.row.id, event));
  // Outcomes in other uploads cannot be restored from runs.
  return observed.isUrgent || of.earlier !== undefined;
}

const MAX_TEXT_LENGTH = 4_000;
const NOTHING: FailureText = { type: '', message: '', text: '' };

/** The stored description of a failure: without secrets, and cut to a readable length. */
function describeFailure(failure: FailureText | null): Pick<StoredFailure, 'group' | 'summary' | 'text'> {
  const clean = cleanFailure(failure ?? NOTHING);
  const { key, summary } = groupFailure(clean);
  return { group: key, summary, text: shorten(textOf(clean), MAX_TEXT_LENGTH) };
}

/** Most frameworks repeat the message at the beginning of the text. */
function textOf({ type, message, text }: FailureText): string {
  if (text === '') return message === '' ? type : message;
  return message === '' || text.includes(message) ? text : `${message}\n${text}`;
}
