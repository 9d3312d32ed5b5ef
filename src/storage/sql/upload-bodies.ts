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
  const { builder } = compiler.dialect;
  return {
    grow: compiler.statement<Added>()((param) =>
      builder
        .insertInto('upload_bodies')
        .values({ id: param('id'), pieces: 1, size_bytes: param('size'), last_at: param('at') })
        .onConflict((conflict) =>
          conflict.column('id').doUpdateSet((eb) => ({
            pieces: eb('upload_bodies.pieces', '+', 1),
            size_bytes: eb('upload_bodies.size_bytes', '+', eb.ref('excluded.size_bytes')),
            last_at: eb.ref('excluded.last_at'),
          })),
        )
        .returning('pieces'),
    ),
    insertPieces: compiler.insert('upload_pieces'),
    nextPiece: compiler.statement<{ id: string; fileNo: number; after: number }>()((param) =>
      builder
        .selectFrom('upload_pieces')
        .select(['piece', 'data'])
        .where('body_id', '=', param('id'))
        .where('file_no', '=', param('fileNo'))
        .where('piece', '>', param('after'))
        .orderBy('piece')
        .limit(1),
    ),
    listPieces: compiler.statement<{ id: string; limit: number }>()((param) =>
      builder
        .selectFrom('upload_pieces')
        .select(['file_no', 'piece'])
        .where('body_id', '=', param('id'))
        .orderBy('file_no')
        .orderBy('piece')
        .limit(param('limit')),
    ),
    removePiece: compiler.statement<{ id: string; file_no: number; piece: number }>()((param) =>
      builder
        .deleteFrom('upload_pieces')
        .where('body_id', '=', param('id'))
        .where('file_no', '=', param('file_no'))
        .where('piece', '=', param('piece')),
    ),
    removeBody: compiler.statement<{ id: string }>()((param) =>
      builder.deleteFrom('upload_bodies').where('id', '=', param('id')),
    ),
  };
}
