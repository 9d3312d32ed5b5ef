import { sql } from 'kysely';
import type { UploadListQuery } from '../uploads.ts';
import type { Placeholders, StatementCompiler } from './statement.ts';

type Repository = { repositoryId: string };

/** A literal, as in the partial indexes that serve this. */
export const IS_WAITING = sql<boolean>`uploads.status = 'ACCEPTED'`;

const IS_TO_RECOUNT = sql<boolean>`uploads.is_to_recount`;

export function uploadStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  return {
    ...numberStatements(compiler),
    ...changeStatements(compiler),
    ...listStatements(compiler),
    insert: compiler.insert('uploads'),
    find: compiler.statement<{ id: string }>()((param) =>
      builder.selectFrom('uploads').selectAll().where('id', '=', param('id')),
    ),
    findSame: compiler.statement<Repository & { digest: string; sameSince: number }>()((param) =>
      builder
        .selectFrom('uploads')
        .selectAll()
        .where('repository_id', '=', param('repositoryId'))
        .where('digest', 'is not', null)
        .where('digest', '=', param('digest'))
        .where('received_at', '>', param('sameSince'))
        .orderBy('received_at', 'desc')
        .limit(1),
    ),
    findWaiting: compiler.statement<Repository & { candidateId: string; check: string; untiedBy: number }>()((param) =>
      builder
        .selectFrom('uploads')
        .select('id')
        .where('repository_id', '=', param('repositoryId'))
        .where(IS_WAITING)
        .where((eb) =>
          eb.or([
            eb.and([
              eb('candidate_id', '=', param('candidateId')),
              eb.or([eb('check_name', '=', param('check')), eb('check_name', 'is', null)]),
            ]),
            eb.and([eb('candidate_id', 'is', null), eb('received_at', '<=', param('untiedBy'))]),
          ]),
        )
        .limit(1),
    ),
    listToRecount: compiler.statement<object>()(() =>
      builder.selectFrom('uploads').selectAll().where(IS_TO_RECOUNT).orderBy('id'),
    ),
    countWaiting: compiler.list<object, string>()((_, repositoryIds) =>
      builder
        .selectFrom('uploads')
        .where(IS_WAITING)
        .where('repository_id', 'in', repositoryIds)
        .select((eb) => ['repository_id', eb.fn.countAll<number>().as('waiting')])
        .groupBy('repository_id'),
    ),
    measure: compiler.statement<object>()(() =>
      builder
        .selectFrom('uploads')
        .where(IS_WAITING)
        .select((eb) => [eb.fn.countAll<number>().as('waiting'), eb.fn.min('received_at').as('oldest_at')]),
    ),
  };
}

function numberStatements(compiler: StatementCompiler) {
  const { builder, hasRowLocks } = compiler.dialect;
  const numbers = (param: Placeholders<Repository>) =>
    builder.selectFrom('upload_sequences').select('last_no').where('repository_id', '=', param('repositoryId'));
  return {
    createNumbers: compiler.statement<Repository>()((param) =>
      builder
        .insertInto('upload_sequences')
        .values({ repository_id: param('repositoryId'), last_no: 0 })
        .onConflict((conflict) => conflict.column('repository_id').doNothing()),
    ),
    lockNumbers: compiler.statement<Repository>()((param) =>
      numbers(param).$if(hasRowLocks, (query) => query.forUpdate()),
    ),
    findLastNo: compiler.statement<Repository>()((param) => numbers(param)),
    setLastNo: compiler.statement<Repository & { no: number }>()((param) =>
      builder
        .updateTable('upload_sequences')
        .set({ last_no: param('no') })
        .where('repository_id', '=', param('repositoryId')),
    ),
  };
}

function changeStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  type Accepted = { id: string; no: number; bodyId: string; files: string; sizeBytes: number; at: number };
  return {
    accept: compiler.statement<Accepted>()((param) =>
      builder
        .updateTable('uploads')
        .set({
          status: 'ACCEPTED',
          no: param('no'),
          body_id: param('bodyId'),
          files: param('files'),
          size_bytes: param('sizeBytes'),
          received_at: param('at'),
        })
        .where('id', '=', param('id'))
        .where('status', '=', 'PENDING'),
    ),
    markRecounted: compiler.statement<{ id: string }>()((param) =>
      builder.updateTable('uploads').set({ is_to_recount: false }).where('id', '=', param('id')),
    ),
    delay: compiler.statement<{ id: string; trouble: string; retryAt: number }>()((param) =>
      builder
        .updateTable('uploads')
        .set((eb) => ({
          trouble: param('trouble'),
          retry_at: param('retryAt'),
          attempts: eb('attempts', '+', 1),
        }))
        .where('id', '=', param('id'))
        .where('status', '=', 'ACCEPTED'),
    ),
    processAgain: compiler.statement<{ id: string }>()((param) =>
      builder
        .updateTable('uploads')
        .set({ status: 'ACCEPTED', processed_at: null, attempts: 0, trouble: null, retry_at: null })
        .where('id', '=', param('id'))
        .where('status', 'in', ['PROCESSED', 'SKIPPED', 'FAILED'])
        .where('body_id', 'is not', null),
    ),
  };
}

function listStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  const accepted = (param: Placeholders<UploadListQuery>) =>
    builder
      .selectFrom('uploads')
      .where('repository_id', '=', param('repositoryId'))
      .where('no', '<=', param('watermark'));
  return {
    list: compiler.statement<UploadListQuery>()((param) =>
      accepted(param).selectAll().orderBy('no', 'desc').limit(param('limit')).offset(param('offset')),
    ),
    count: compiler.statement<UploadListQuery>()((param) =>
      accepted(param).select((eb) => eb.fn.countAll<number>().as('total')),
    ),
  };
}
