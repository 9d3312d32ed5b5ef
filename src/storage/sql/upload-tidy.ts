import type { UploadWorkStore } from '../uploads.ts';
import { all, execute, first, type Operation, type SqlEngine } from './operation.ts';
import type { StatementCompiler } from './statement.ts';
import { type BodyStatements, removeBody } from './upload-bodies.ts';

type Statements = ReturnType<typeof tidyStatements>;

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
/** Of each kind in one go. */
const REMOVED_AT_ONCE = 100;

/** A body is taken from its upload first; then it belongs to nobody, and goes in pieces. */
export function createTidy(
  engine: SqlEngine,
  compiler: StatementCompiler,
  bodies: BodyStatements,
): UploadWorkStore['tidy'] {
  const statements = tidyStatements(compiler);
  const removeAll = async (find: () => Operation<readonly string[]>): Promise<number> => {
    let removed = 0;
    for (let count = REMOVED_AT_ONCE; count === REMOVED_AT_ONCE; removed += count) {
      const ids = await engine.write(find);
      for (const id of ids) await removeBody(engine, bodies, id);
      count = ids.length;
    }
    return removed;
  };
  return async ({ now, bodiesBefore, maxBytes, uploadsBefore }) => {
    const old = await removeAll(() => takeOld(statements, bodiesBefore));
    const large = await removeAll(() => takeBeyond(statements, maxBytes));
    const pending = await engine.write(() => execute(statements.removePending, { before: now - DAY_MS }));
    const forgotten = await engine.write(() => execute(statements.removeUploads, { before: uploadsBefore }));
    const unnamed = await removeAll(() => findUnnamed(statements, now - HOUR_MS));
    return old + large + pending + forgotten + unnamed;
  };
}

function* takeOld(statements: Statements, before: number): Operation<readonly string[]> {
  return yield* take(statements, yield* all(statements.listOld, { before, limit: REMOVED_AT_ONCE }));
}

function* takeBeyond(statements: Statements, maxBytes: number): Operation<readonly string[]> {
  let excess = ((yield* first(statements.measureBodies, {}))?.total ?? 0) - maxBytes;
  if (excess <= 0) return [];
  const oldest = yield* all(statements.listOld, { before: Number.MAX_SAFE_INTEGER, limit: REMOVED_AT_ONCE });
  const taken = oldest.filter(({ size_bytes }) => {
    if (excess <= 0) return false;
    excess -= size_bytes;
    return true;
  });
  return yield* take(statements, taken);
}

function* take(
  statements: Statements,
  uploads: readonly { readonly id: string; readonly body_id: string | null }[],
): Operation<readonly string[]> {
  const taken: string[] = [];
  for (const { id, body_id } of uploads) {
    if ((yield* execute(statements.dropBody, { id })) > 0 && body_id !== null) taken.push(body_id);
  }
  return taken;
}

function* findUnnamed(statements: Statements, before: number): Operation<readonly string[]> {
  return (yield* all(statements.listUnnamed, { before, limit: REMOVED_AT_ONCE })).map(({ id }) => id);
}

const ENDED = `uploads.status in ('PROCESSED', 'SKIPPED', 'FAILED')`;

export function tidyStatements({ sql }: StatementCompiler) {
  return {
    listOld: sql(`
      select uploads.id, uploads.body_id, upload_bodies.size_bytes
      from uploads join upload_bodies on upload_bodies.id = uploads.body_id
      where uploads.received_at < :before and uploads.body_id is not null and ${ENDED}
      order by uploads.received_at, uploads.id limit :limit`),
    // An upload that was told to be processed again a moment ago keeps its body.
    dropBody: sql(`update uploads set body_id = null where id = :id and ${ENDED}`),
    measureBodies: sql('select sum(size_bytes) as total from upload_bodies'),
    removePending: sql(`delete from uploads where received_at < :before and status = 'PENDING'`),
    removeUploads: sql(`delete from uploads where received_at < :before and ${ENDED}`),
    listUnnamed: sql(`
      select id from upload_bodies where last_at < :before
      and not exists (select uploads.id from uploads where uploads.body_id = upload_bodies.id)
      order by last_at limit :limit`),
  };
}
