import { assert } from '../../lib/assert.ts';
import type { RepositoryId } from '../repositories.ts';
import type { Upload, UploadOutcome, UploadStore, UploadWorkStore } from '../uploads.ts';
import {
  all,
  allOf,
  changes,
  execute,
  executeAll,
  findRow,
  first,
  listRows,
  type Operation,
  run,
  type SqlEngine,
} from './operation.ts';
import { callOf, type StatementCompiler } from './statement.ts';
import { bodyStatements } from './upload-bodies.ts';
import { createClaims } from './upload-claims.ts';
import { type OutcomeStatements, outcomeCall, outcomeStatements } from './upload-outcome.ts';
import { fromUpload, toUpload } from './upload-rows.ts';
import { uploadStatements } from './upload-statements.ts';
import { createTidy } from './upload-tidy.ts';

type Statements = ReturnType<typeof uploadStatements>;

export function createUploadStore(engine: SqlEngine, compiler: StatementCompiler): UploadStore {
  const statements = uploadStatements(compiler);
  return {
    ...listOperations(engine, statements),
    create: (upload, sameSince) => engine.write(() => create(statements, upload, sameSince)),
    accept: (id, body) => engine.write(() => accept(statements, id, body)),
    find: (id) => engine.read(() => findRow(statements.find, { id }, toUpload)),
    processAgain: (id) => engine.write(() => changes(statements.processAgain, { id })),
  };
}

export function createUploadWorkStore(engine: SqlEngine, compiler: StatementCompiler): UploadWorkStore {
  const statements = uploadStatements(compiler);
  const outcomes = outcomeStatements(compiler);
  return {
    ...createClaims(engine, compiler),
    delay: (id, { trouble, retryAt }) => engine.write(() => run(statements.delay, { id, trouble, retryAt })),
    finish: (outcome) => engine.write(() => finish(outcomes, outcome)),
    listToRecount: () => engine.read(() => listRows(statements.listToRecount, {}, toUpload)),
    markRecounted: (id) => engine.write(() => run(statements.markRecounted, { id })),
    measure: () =>
      engine.read(function* () {
        const row = yield* first(statements.measure, {});
        return { waiting: row?.waiting ?? 0, oldestAt: row?.oldest_at ?? null };
      }),
    tidy: createTidy(engine, compiler, bodyStatements(compiler)),
  };
}

/** Another server may have ended it meanwhile: what that stored is what it says. */
function* finish(statements: OutcomeStatements, outcome: UploadOutcome): Operation<void> {
  const row = yield* first(statements.lockProgress, { id: outcome.uploadId });
  if (row?.status === 'ACCEPTED') yield* executeAll([outcomeCall(statements, outcome)]);
}

function* create(statements: Statements, upload: Upload, sameSince: number): Operation<Upload> {
  const { repositoryId, digest } = upload;
  const lastNo = yield* lockNumbers(statements, repositoryId);
  if (digest !== null) {
    const same = yield* first(statements.findSame, { repositoryId, digest, sameSince });
    if (same !== undefined) return toUpload(same);
  }
  const no = upload.status === 'PENDING' ? null : lastNo + 1;
  yield* executeAll([
    ...statements.insert([fromUpload(upload, no)]),
    ...(no === null ? [] : [callOf(statements.setLastNo, { repositoryId, no })]),
  ]);
  return upload;
}

/** Held until the transaction ends: of two at once with the same digest the second finds the first. */
// SPEC D13
function* lockNumbers(statements: Statements, repositoryId: string): Operation<number> {
  yield* execute(statements.createNumbers, { repositoryId });
  const row = yield* first(statements.lockNumbers, { repositoryId });
  assert(row !== undefined, 'the row was just ensured');
  return row.last_no;
}

function* accept(statements: Statements, id: string, body: Parameters<UploadStore['accept']>[1]): Operation<boolean> {
  const upload = yield* first(statements.find, { id });
  if (upload === undefined) return false;
  const no = (yield* lockNumbers(statements, upload.repository_id)) + 1;
  const { bodyId, sizeBytes, at } = body;
  const row = { id, no, bodyId, files: JSON.stringify(body.files), sizeBytes, at };
  if ((yield* execute(statements.accept, row)) === 0) return false;
  yield* execute(statements.setLastNo, { repositoryId: upload.repository_id, no });
  return true;
}

function listOperations(
  engine: SqlEngine,
  statements: Statements,
): Pick<UploadStore, 'getWatermark' | 'list' | 'hasWaiting' | 'countWaiting'> {
  return {
    getWatermark: (repositoryId) =>
      engine.read(function* () {
        return (yield* first(statements.findLastNo, { repositoryId }))?.last_no ?? 0;
      }),
    list: (query) =>
      engine.snapshot(function* () {
        const uploads = (yield* all(statements.list, query)).map(toUpload);
        return { totalRows: (yield* first(statements.count, query))?.total ?? 0, uploads };
      }),
    hasWaiting: (repositoryId, candidateId, check, untiedBy = -1) =>
      engine.read(function* () {
        return (yield* first(statements.findWaiting, { repositoryId, candidateId, check, untiedBy })) !== undefined;
      }),
    countWaiting: (repositoryIds) =>
      engine.read(function* () {
        const rows = yield* allOf(statements.countWaiting({}, [...new Set(repositoryIds)]));
        return rows.map(({ repository_id, waiting }) => ({ repositoryId: repository_id as RepositoryId, waiting }));
      }),
  };
}
