import type { RepositoryId } from '../repositories.ts';
import type { CheckResults, TestIngest, TestUpkeepStore } from '../test-ingest.ts';
import { all, findRow, first, listRows, run, type SqlEngine } from './operation.ts';
import type { StatementCompiler } from './statement.ts';
import {
  batchStatements,
  findEarlier,
  findPasses,
  listTestNos,
  listUncounted,
  measureUncounted,
  readRuns,
} from './test-batches.ts';
import { commitChange, prepareChange, storeMemories } from './test-commit.ts';
import { sequenceStatements, testCommitStatements } from './test-commit-statements.ts';
import { figureStatements, rollFigures } from './test-figures.ts';
import { createForget, createPurge } from './test-forget.ts';
import { dueStatements, load, loadRange, loadStatements } from './test-load.ts';
import { outcomeStatements } from './upload-outcome.ts';

export function createTestIngest(engine: SqlEngine, compiler: StatementCompiler): TestIngest {
  const commits = { ...testCommitStatements(compiler), ...outcomeStatements(compiler) };
  const runs = batchStatements(compiler);
  return {
    ...loadOperations(engine, compiler),
    async commit(change, at) {
      const prepared = prepareChange(change, at);
      return engine.write(() => commitChange(commits, prepared));
    },
    storeMemories: (slice) => engine.write(() => storeMemories(commits, slice)),
    markCounted: (repositoryId, upToSeq) => engine.write(() => run(runs.markCounted, { repositoryId, upToSeq })),
    findEarlier: (repositoryId, of) => engine.snapshot(() => findEarlier(runs, { repositoryId, ...of })),
    findPasses: (repositoryId, seq, testNos) => engine.snapshot(() => findPasses(runs, { repositoryId, seq, testNos })),
    listUncounted: (repositoryId) => engine.snapshot(() => listUncounted(runs, repositoryId)),
    measureUncounted: (repositoryId) => engine.read(() => measureUncounted(runs, repositoryId)),
    readRuns: (repositoryId, testNos, since) => engine.snapshot(() => readRuns(runs, { repositoryId, testNos, since })),
    listTestNos: (repositoryId, uploadId) => engine.snapshot(() => listTestNos(runs, { repositoryId, uploadId })),
    findCheckResults: (repositoryId, candidateId, check) =>
      engine.read(() =>
        findRow(
          commits.findCheckResults,
          { repositoryId, candidateId, check },
          (row) => JSON.parse(row.body) as CheckResults,
        ),
      ),
  };
}

function loadOperations(
  engine: SqlEngine,
  compiler: StatementCompiler,
): Pick<TestIngest, 'countTests' | 'load' | 'loadRange'> {
  const statements = loadStatements(compiler);
  return {
    countTests: (repositoryId) =>
      engine.read(function* () {
        return Number((yield* first(statements.countTests, { repositoryId }))?.count ?? 0);
      }),
    load: (repositoryId, testIds) => engine.snapshot(() => load(statements, repositoryId, testIds)),
    loadRange: (repositoryId, fromNo, toNo) =>
      engine.snapshot(() => loadRange(statements, { repositoryId, fromNo, toNo })),
  };
}

export function createTestUpkeepStore(engine: SqlEngine, compiler: StatementCompiler): TestUpkeepStore {
  const statements = dueStatements(compiler);
  const figures = { ...figureStatements(compiler), ...sequenceStatements(compiler) };
  return {
    listDue: (now, limit) =>
      engine.snapshot(function* () {
        const oldest = yield* first(statements.findFirstDue, { now });
        if (oldest === undefined) return [];
        const repositoryId = oldest.repository_id as RepositoryId;
        const due = yield* all(statements.listDue, { repositoryId, now, limit });
        return due.map(({ id }) => ({ repositoryId, testId: id }));
      }),
    listBehind: (repositoryId, settingsVersion, limit) =>
      engine.read(() =>
        listRows(statements.listBehind, { repositoryId, version: settingsVersion, limit }, ({ id }) => id),
      ),
    forget: createForget(engine, compiler),
    rollFigures: (now, limit) => engine.write(() => rollFigures(figures, { now, limit })),
    purge: createPurge(engine, compiler),
  };
}
