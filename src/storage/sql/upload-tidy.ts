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

const ENDED = ['PROCESSED', 'SKIPPED', 'FAILED'] as const;

export function tidyStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  type Old = { before: number; limit: number };
  return {
    listOld: compiler.statement<Old>()((param) =>
      builder
        .selectFrom('uploads')
        .innerJoin('upload_bodies', 'upload_bodies.id', 'uploads.body_id')
        .select(['uploads.id', 'uploads.body_id', 'upload_bodies.size_bytes'])
        .where('uploads.received_at', '<', param('before'))
        .where('uploads.body_id', 'is not', null)
        .where('uploads.status', 'in', ENDED)
        .orderBy('uploads.received_at')
        .orderBy('uploads.id')
        .limit(param('limit')),
    ),
    dropBody: compiler.statement<{ id: string }>()((param) =>
      builder
        .updateTable('uploads')
        .set({ body_id: null })
        .where('id', '=', param('id'))
        // One that is to be processed again since a moment keeps it.
        .where('status', 'in', ENDED),
    ),
    measureBodies: compiler.statement<object>()(() =>
      builder.selectFrom('upload_bodies').select((eb) => eb.fn.sum<number>('size_bytes').as('total')),
    ),
    removePending: compiler.statement<{ before: number }>()((param) =>
      builder.deleteFrom('uploads').where('received_at', '<', param('before')).where('status', '=', 'PENDING'),
    ),
    removeUploads: compiler.statement<{ before: number }>()((param) =>
      builder.deleteFrom('uploads').where('received_at', '<', param('before')).where('status', 'in', ENDED),
    ),
    listUnnamed: compiler.statement<Old>()((param) =>
      builder
        .selectFrom('upload_bodies')
        .select('id')
        .where('last_at', '<', param('before'))
        .where(({ not, exists, selectFrom }) =>
          not(exists(selectFrom('uploads').select('uploads.id').whereRef('uploads.body_id', '=', 'upload_bodies.id'))),
        )
        .orderBy('last_at')
        .limit(param('limit')),
    ),
  };
}
