import { assert } from '../../lib/assert.ts';
import { mergeResults } from '../merge-results.ts';
import { feedOfChange } from '../test-feed.ts';
import type { CheckResults, MemorySlice, TestChange, TestMemory } from '../test-ingest.ts';
import type { TestRow } from '../tests.ts';
import { allOf, execute, executeAll, first, type Operation } from './operation.ts';
import { takePart } from './run-parts.ts';
import type { Schema } from './schema.ts';
import { type Call, callOf } from './statement.ts';
import { fromRuns } from './stored-runs.ts';
import type { CommitStatements } from './test-commit-statements.ts';
import {
  type CountedMemories,
  changeFigures,
  countMemories,
  figureCalls,
  ownerCalls,
  type StoredMemories,
} from './test-figures.ts';
import { fromBatch, fromFailure, fromFailureText, fromTest, fromTestEvent, kindsOf } from './test-rows.ts';
import { type OutcomeStatements, outcomeCall } from './upload-outcome.ts';

type Statements = CommitStatements & OutcomeStatements;
type Sequence = Schema['test_sequences'];
type KnownTest = Pick<Schema['tests'], 'id' | 'no' | 'status' | 'quarantined_at' | 'codeowners'>;

/** A change with its lookups, made before the transaction begins so that a retry does not repeat them. */
export interface PreparedChange {
  readonly change: TestChange;
  readonly at: number;
  /** By id and by number: of several the last counts. */
  readonly tests: ReadonlyMap<string, TestRow>;
  readonly memories: ReadonlyMap<number, TestMemory>;
}

export function prepareChange(change: TestChange, at: number): PreparedChange {
  for (const { id, repositoryId } of change.tests) {
    assert(repositoryId === change.repositoryId, `test ${id} belongs to another repository`);
  }
  return {
    change,
    at,
    tests: new Map(change.tests.map((test) => [test.id, test])),
    memories: new Map(change.memories.map((memory) => [memory.testNo, memory])),
  };
}

/** It stays locked until the transaction ends: whoever sees a watermark sees everything up to it. */
// SPEC D7
export function* commitChange(statements: Statements, prepared: PreparedChange): Operation<number | undefined> {
  const { change, tests } = prepared;
  const memories = [...prepared.memories.values()];
  const { repositoryId } = change;
  const sequence = yield* lockSequence(statements, repositoryId, change.expectedSeq);
  if (sequence === undefined) return undefined;
  const remembered = yield* findMemories(statements, repositoryId, memories, sequence.last_test_no);
  if (areOutdated(remembered, memories) || (yield* hasEnded(statements, change))) return undefined;
  const old = [...tests.values()].filter((test) => test.no <= sequence.last_test_no);
  const known = yield* allOf(
    statements.findTests(
      { repositoryId },
      old.map(({ id }) => id),
    ),
  );
  const lastTestNo = checkNumbers(prepared, sequence.last_test_no, new Set(known.map(({ id }) => id)));
  const seq = sequence.last_seq + 1;
  const states = changeStates(statements, { tests, known, repositoryId, seq });
  const batch = yield* batchCalls(statements, prepared, seq);
  const checks = yield* checkResultCalls(statements, change);
  const rows = [...tests.values()].map(fromTest);
  const counted = countMemories(repositoryId, memories, remembered);
  const figures = yield* figureCalls(statements, change, { at: prepared.at, tests: rows, known, moves: counted.moves });
  yield* executeAll([
    callOf(statements.advance, {
      ...sequence,
      last_seq: seq,
      last_test_no: lastTestNo,
      quarantine_version: sequence.quarantine_version + (states.changesQuarantine ? 1 : 0),
      test_count: sequence.test_count + lastTestNo - sequence.last_test_no,
    }),
    ...statements.upsertTests(rows),
    ...ownerCalls(statements, rows, known),
    ...figures,
    ...states.calls,
    ...memoryCalls(statements, counted),
    ...batch,
    ...rowCalls(statements, change, seq),
    ...statements.insertFeed(feedOfChange(change, seq, prepared.at)),
    ...(change.upload === undefined ? [] : [outcomeCall(statements, change.upload)]),
    ...ignoreCalls(statements, change),
    ...checks,
  ]);
  return seq;
}

/** Takes no number. False where another writer was faster. */
export function* storeMemories(
  statements: CommitStatements,
  { repositoryId, expectedSeq, memories }: MemorySlice,
): Operation<boolean> {
  if ((yield* lockSequence(statements, repositoryId, expectedSeq)) === undefined) return false;
  const remembered = yield* findMemories(statements, repositoryId, memories);
  if (areOutdated(remembered, memories)) return false;
  const counted = countMemories(repositoryId, memories, remembered);
  const figures = yield* changeFigures(statements, repositoryId, counted.moves);
  yield* executeAll([...memoryCalls(statements, counted), ...figures]);
  return true;
}

function memoryCalls(statements: CommitStatements, { rows, countedRows }: CountedMemories): readonly Call[] {
  return [...statements.upsertMemories(rows), ...statements.upsertCounted(countedRows)];
}

/** Undefined where the repository has another number by now. */
function* lockSequence(
  statements: CommitStatements,
  repositoryId: string,
  expectedSeq: number,
): Operation<Sequence | undefined> {
  if (expectedSeq === 0) yield* execute(statements.createSequence, { repositoryId });
  const sequence = yield* first(statements.lockSequence, { repositoryId });
  return sequence?.last_seq === expectedSeq ? sequence : undefined;
}

/** An upload may have been ended by another server that took it over: that outdates what comes after. */
function* hasEnded(statements: Statements, { upload }: TestChange): Operation<boolean> {
  if (upload === undefined) return false;
  const row = yield* first(statements.lockProgress, { id: upload.uploadId });
  if (row?.status !== 'ACCEPTED') return true;
  return upload.status === 'ACCEPTED' && row.parts_done >= upload.partsDone;
}

function* findMemories(
  statements: CommitStatements,
  repositoryId: string,
  memories: readonly TestMemory[],
  lastTestNo = Number.POSITIVE_INFINITY,
): Operation<StoredMemories> {
  const numbers = memories.map(({ testNo }) => testNo).filter((no) => no <= lastTestNo);
  const rows = yield* allOf(statements.findMemories({ repositoryId }, numbers));
  return new Map(rows.map((row) => [row.test_no, row]));
}

/** It counts more runs, or others. Storing memories takes no number, so that the repository's does not tell. */
function areOutdated(stored: StoredMemories, memories: readonly TestMemory[]): boolean {
  return memories.some(({ testNo, seq, counted }) => {
    const before = stored.get(testNo);
    if (before === undefined) return false;
    return before.seq > seq || (counted !== undefined && counted.afterSeq !== before.seq);
  });
}

/** New tests have the next numbers, without a gap, and bring what is remembered of them. */
function checkNumbers({ tests, memories }: PreparedChange, lastTestNo: number, known: ReadonlySet<string>): number {
  const added = [...tests.values()].filter(({ id }) => !known.has(id)).sort((a, b) => a.no - b.no);
  added.forEach(({ id, no }, index) => {
    assert(no === lastTestNo + 1 + index, `test ${id} is new, and ${no} is not the next number`);
    assert(memories.has(no), `test ${id} is new, and nothing is remembered of it`);
  });
  return lastTestNo + added.length;
}

interface StateChanges {
  readonly tests: ReadonlyMap<string, TestRow>;
  readonly known: readonly KnownTest[];
  readonly repositoryId: string;
  readonly seq: number;
}

/** Ends the intervals of the kinds a test is no longer of, and opens those of the kinds it has become. */
function changeStates(statements: CommitStatements, { tests, known, repositoryId, seq }: StateChanges) {
  const before = new Map(known.map((row) => [row.id, kindsOf(row.status, row.quarantined_at)]));
  const opened: Schema['test_states'][] = [];
  const ended: Call[] = [];
  let changesQuarantine = false;
  for (const [id, test] of tests) {
    const kindsBefore = before.get(id) ?? [];
    const kinds = kindsOf(test.status, test.quarantinedAt);
    if (kinds.includes('QUARANTINED') !== kindsBefore.includes('QUARANTINED')) changesQuarantine = true;
    for (const kind of kindsBefore) {
      if (!kinds.includes(kind)) ended.push(callOf(statements.endState, { repositoryId, testId: id, kind, seq }));
    }
    for (const kind of kinds) {
      if (kindsBefore.includes(kind)) continue;
      opened.push({ repository_id: repositoryId, test_id: id, kind, from_seq: seq, to_seq: null });
    }
  }
  return { calls: [...ended, ...statements.insertStates(opened)], changesQuarantine };
}

function* batchCalls(
  statements: CommitStatements,
  { change, at }: PreparedChange,
  seq: number,
): Operation<readonly Call[]> {
  const { repositoryId, batch } = change;
  if (batch === undefined) return [];
  const { facts, runs } = batch;
  const place = { repository_id: repositoryId, seq, received_at: at, run_count: runs.length };
  if (runs.length === 0) return statements.insertBatches([fromBatch({ ...place, part: null }, facts)]);
  const part = yield* takePart(statements, { repositoryId, at, seq, runs });
  return [
    ...statements.insertBatches([fromBatch({ ...place, part: part.part }, facts)]),
    ...statements.upsertParts([part]),
    ...statements.insertRuns(fromRuns({ part: part.part, seq }, runs)),
  ];
}

function rowCalls(statements: CommitStatements, change: TestChange, seq: number): Call[] {
  const pr_number = change.batch?.facts.prNumber ?? null;
  const placeOf = (ordinal: number) => ({ repository_id: change.repositoryId, seq, ordinal });
  return [
    ...statements.insertFailures(
      change.failures.map((failure, ordinal) => fromFailure({ ...placeOf(ordinal), pr_number }, failure)),
    ),
    ...statements.insertFailureTexts(
      change.failures.map((failure, ordinal) => fromFailureText(placeOf(ordinal), failure)),
    ),
    ...statements.insertEvents(change.events.map((event, ordinal) => fromTestEvent(placeOf(ordinal), event))),
  ];
}

function ignoreCalls(statements: CommitStatements, { repositoryId, ignore }: TestChange): readonly Call[] {
  if (ignore === undefined) return [];
  const { uploadId, ...ignored } = ignore;
  return [
    callOf(statements.ignoreUpload, { repositoryId, uploadId, ignored: JSON.stringify(ignored) }),
    callOf(statements.ignoreBatches, { repositoryId, uploadId }),
  ];
}

function* checkResultCalls(
  statements: CommitStatements,
  { repositoryId, checkResults }: TestChange,
): Operation<readonly Call[]> {
  if (checkResults === undefined) return [];
  const { candidateId, check } = checkResults;
  const stored = yield* first(statements.findCheckResults, { repositoryId, candidateId, check });
  const merged = mergeResults(stored && (JSON.parse(stored.body) as CheckResults), checkResults);
  const key = { repository_id: repositoryId, candidate_id: candidateId, check_name: check };
  return statements.upsertCheckResults([{ ...key, body: JSON.stringify(merged), at: merged.at }]);
}
