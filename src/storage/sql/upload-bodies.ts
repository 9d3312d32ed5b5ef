import type { UploadBodyStore } from '../uploads.ts';
import { all, execute, executeAll, first, type Operation, type SqlEngine } from './operation.ts';
import { callOf, inOrder, type StatementCompiler } from './statement.ts';

/** Removed in one transaction: it is over soon, and other writes come in between. */
const PIECES_REMOVED_AT_ONCE = 32;

export type BodyStatements = ReturnType<typeof bodyStatements>;

export function createUploadBodyStore(engine: SqlEngine, compiler: StatementCompiler): UploadBodyStore {
  const statements = bodyStatements(compiler);
  const ordered = inOrder();
  return {
    async append(bodyId, fileNo, bytes, at) {
      if (bytes.length === 0) return;
      // The caller may use its buffer again at once.
      const added = { id: bodyId, fileNo, data: new Uint8Array(bytes), size: bytes.length, at };
      await ordered(bodyId, () => engine.write(() => append(statements, added)));
    },
    async *read(bodyId, fileNo) {
      for (let after = -1; ; ) {
        const from = after;
        const piece = await engine.read(() => first(statements.nextPiece, { id: bodyId, fileNo, after: from }));
        if (piece === undefined) return;
        yield piece.data;
        after = piece.piece;
      }
    },
    remove: (bodyId) => removeBody(engine, statements, bodyId),
  };
}

export async function removeBody(engine: SqlEngine, statements: BodyStatements, id: string): Promise<void> {
  for (let isDone = false; !isDone; ) isDone = await engine.write(() => removePieces(statements, id));
}

function* removePieces(statements: BodyStatements, id: string): Operation<boolean> {
  const pieces = yield* all(statements.listPieces, { id, limit: PIECES_REMOVED_AT_ONCE });
  yield* executeAll(pieces.map((piece) => callOf(statements.removePiece, { id, ...piece })));
  if (pieces.length === PIECES_REMOVED_AT_ONCE) return false;
  yield* execute(statements.removeBody, { id });
  return true;
}

interface Added {
  readonly id: string;
  readonly fileNo: number;
  readonly data: Uint8Array;
  readonly size: number;
  readonly at: number;
}

function* append(statements: BodyStatements, added: Added): Operation<void> {
  const body = yield* first(statements.grow, added);
  yield* executeAll(
    statements.insertPieces([
      { body_id: added.id, piece: (body?.pieces ?? 1) - 1, file_no: added.fileNo, data: added.data },
    ]),
  );
}

export function bodyStatements(compiler: StatementCompiler) {
  const { sql } = compiler;
  return {
    grow: sql(`
      insert into upload_bodies (id, pieces, size_bytes, last_at) values (:id, 1, :size, :at)
      on conflict (id) do update set pieces = upload_bodies.pieces + 1,
        size_bytes = upload_bodies.size_bytes + excluded.size_bytes, last_at = excluded.last_at
      returning pieces`),
    insertPieces: compiler.insert('upload_pieces'),
    nextPiece: sql(`
      select piece, data from upload_pieces where body_id = :id and file_no = :fileNo and piece > :after
      order by piece limit 1`),
    listPieces: sql(
      'select file_no, piece from upload_pieces where body_id = :id order by file_no, piece limit :limit',
    ),
    removePiece: sql('delete from upload_pieces where body_id = :id and file_no = :file_no and piece = :piece'),
    removeBody: sql('delete from upload_bodies where id = :id'),
  };
}
