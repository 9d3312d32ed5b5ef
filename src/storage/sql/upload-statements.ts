import type { StatementCompiler } from './statement.ts';

/** A literal, as in the partial indexes that serve this. */
export const IS_WAITING = `uploads.status = 'ACCEPTED'`;
const ACCEPTED = 'uploads where repository_id = :repositoryId and no <= :watermark';

export function uploadStatements(compiler: StatementCompiler) {
  const { sql, sqlOfMany } = compiler;
  return {
    ...changeStatements(compiler),
    createNumbers: sql(`
      insert into upload_sequences (repository_id, last_no) values (:repositoryId, 0)
      on conflict (repository_id) do nothing`),
    lockNumbers: sql('select last_no from upload_sequences where repository_id = :repositoryId for update'),
    findLastNo: sql('select last_no from upload_sequences where repository_id = :repositoryId'),
    setLastNo: sql('update upload_sequences set last_no = :no where repository_id = :repositoryId'),
    find: sql('select * from uploads where id = :id'),
    findSame: sql(`
      select * from uploads
      where repository_id = :repositoryId and digest is not null and digest = :digest and received_at > :sameSince
      order by received_at desc limit 1`),
    findWaiting: sql(`
      select id from uploads where repository_id = :repositoryId and ${IS_WAITING}
      and (candidate_id = :candidateId and (check_name = :check or check_name is null)
        or candidate_id is null and received_at <= :untiedBy)
      limit 1`),
    listToRecount: sql('select * from uploads where is_to_recount order by id'),
    countWaiting: sqlOfMany(`
      select repository_id, count(*) as waiting from uploads where ${IS_WAITING} and repository_id in (:items)
      group by repository_id`),
    measure: sql(`select count(*) as waiting, min(received_at) as oldest_at from uploads where ${IS_WAITING}`),
    list: sql(`select * from ${ACCEPTED} order by no desc limit :limit offset :offset`),
    count: sql(`select count(*) as total from ${ACCEPTED}`),
  };
}

function changeStatements(compiler: StatementCompiler) {
  const { sql } = compiler;
  return {
    insert: compiler.insert('uploads'),
    accept: sql(`
      update uploads set status = 'ACCEPTED', no = :no, body_id = :bodyId, files = :files, size_bytes = :sizeBytes,
        received_at = :at
      where id = :id and status = 'PENDING'`),
    markRecounted: sql('update uploads set is_to_recount = false where id = :id'),
    delay: sql(`
      update uploads set trouble = :trouble, retry_at = :retryAt, attempts = attempts + 1
      where id = :id and status = 'ACCEPTED'`),
    processAgain: sql(`
      update uploads set status = 'ACCEPTED', processed_at = null, attempts = 0, trouble = null, retry_at = null
      where id = :id and status in ('PROCESSED', 'SKIPPED', 'FAILED') and body_id is not null`),
  };
}
