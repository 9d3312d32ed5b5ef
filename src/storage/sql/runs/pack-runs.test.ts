import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { Fault } from '../../../lib/fault.ts';
import { FORMAT_BATCH, FORMAT_PLACED, packRuns } from './pack-runs.ts';
import { packedChunk, readAll, readRange, readTest } from './read-runs.ts';
import { copyRun, emptyColumns, NO_DURATION, type RunColumns } from './run-columns.ts';

const anyRun = fc.record({
  testNo: fc.oneof(fc.integer({ min: 1, max: 120 }), fc.integer({ min: 0, max: 2 ** 32 - 1 })),
  seq: fc.oneof(fc.integer({ min: 1, max: 99 }), fc.integer({ min: 0, max: 2 ** 50 })),
  branchNo: fc.nat(),
  startedAt: fc.oneof(fc.integer({ min: 0, max: 1000 }), fc.integer({ min: -(2 ** 51) + 1, max: 2 ** 51 - 1 })),
  flags: fc.integer({ min: 0, max: 7 }),
  duration: fc.oneof(fc.constant(NO_DURATION), fc.nat(), fc.constant(Number.MAX_SAFE_INTEGER)),
});
type Run = Record<keyof RunColumns, number>;

function columnsOf(runs: readonly Run[]): RunColumns {
  const columns = emptyColumns();
  for (const run of runs) {
    for (const [name, value] of Object.entries(run)) columns[name as keyof RunColumns].push(value);
  }
  return columns;
}

function filtered(columns: RunColumns, isWanted: (testNo: number) => boolean): RunColumns {
  const indexes = columns.testNo.map((_, index) => index).filter((index) => isWanted(columns.testNo[index] as number));
  indexes.sort((a, b) => (columns.testNo[a] as number) - (columns.testNo[b] as number) || a - b);
  const kept = emptyColumns();
  for (const index of indexes) copyRun(columns, index, kept);
  return kept;
}

function read(action: (into: RunColumns) => void): RunColumns {
  const columns = emptyColumns();
  action(columns);
  return columns;
}

const anyRuns = fc.array(anyRun, { maxLength: 300, size: 'max' });

describe('packed runs', () => {
  test('all come back, sorted by test, in their order', () => {
    fc.assert(
      fc.property(anyRuns, (runs) => {
        const columns = columnsOf(runs);
        const packed = packedChunk(packRuns(columns, FORMAT_PLACED));
        assert.deepEqual(
          read((into) => readAll(packed, into)),
          filtered(columns, () => true),
        );
      }),
    );
  });

  test('one test, or a range of them, is read without the others', () => {
    fc.assert(
      fc.property(anyRuns, fc.nat(130), fc.nat(40), (runs, from, count) => {
        const columns = columnsOf(runs);
        const packed = packedChunk(packRuns(columns, FORMAT_PLACED));
        const testNo = columns.testNo[from] ?? from;
        assert.deepEqual(
          read((into) => readTest(packed, testNo, into)),
          filtered(columns, (no) => no === testNo),
        );
        assert.deepEqual(
          read((into) => readRange(packed, from, from + count, into)),
          filtered(columns, (no) => no >= from && no < from + count),
        );
      }),
    );
  });

  test('of one batch need not say which', () => {
    fc.assert(
      fc.property(anyRuns, (runs) => {
        const columns = columnsOf(runs.map((run) => ({ ...run, seq: 7, branchNo: 3 })));
        const packed = { bytes: packRuns(columns, FORMAT_BATCH), seq: 7, branchNo: 3 };
        assert.deepEqual(
          read((into) => readAll(packed, into)),
          filtered(columns, () => true),
        );
      }),
    );
  });

  test('take some nine bytes each where an upload is like others', () => {
    const runs = Array.from({ length: 5000 }, (_, index) => ({
      testNo: ((index * 7919) % 20_000) + 1,
      seq: 5,
      branchNo: 1,
      startedAt: 1_700_000_000_000 + index * 97,
      flags: 0,
      duration: (index * 7919) % 900_000,
    }));
    const { length } = packRuns(columnsOf(runs), FORMAT_BATCH);
    assert.ok(length / runs.length < 10, `${length / runs.length} bytes a run`);
  });

  test('that are damaged are told apart, or read as something, and never without end', () => {
    const bytes = packRuns(columnsOf(fc.sample(anyRun, 200)), FORMAT_PLACED);
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.nat(255), fc.boolean(), (at, value, isCut) => {
        const damaged = isCut ? bytes.slice(0, at) : bytes.with(at, value);
        try {
          read((into) => readTest(packedChunk(damaged), 50, into));
        } catch (error) {
          assert.ok(error instanceof Fault);
        }
      }),
    );
  });
});
