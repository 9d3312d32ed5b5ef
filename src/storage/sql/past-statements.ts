import { sql } from 'kysely';
import { factStatements } from './past-facts.ts';
import type { StatementCompiler } from './statement.ts';

/** The row of `meta` that says how far retention has come. */
export const HORIZON = 'past_since';

export function pastStatements(compiler: StatementCompiler) {
  return {
    ...factStatements(compiler),
    ...standingStatements(compiler),
    ...changeStatements(compiler),
    ...growthStatements(compiler),
    ...packStatements(compiler),
    ...oldPackStatements(compiler),
  };
}

/** The present, which the past is told from. */
function standingStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  return {
    findHorizon: compiler.statement<object>()(() =>
      builder.selectFrom('meta').select('value').where('name', '=', HORIZON),
    ),
    setHorizon: compiler.upsert('meta', ['name']),
    findAnyQueue: compiler.statement<{ queueId: string }>()((param) =>
      builder.selectFrom('queues').selectAll().where('id', '=', param('queueId')),
    ),
    lockQueue: compiler.statement<{ queueId: string }>()((param) =>
      builder
        .selectFrom('queues')
        .selectAll()
        .where('id', '=', param('queueId'))
        .where('deleted_at', 'is', null)
        .$if(compiler.dialect.hasRowLocks, (query) => query.forUpdate()),
    ),
    listStanding: compiler.statement<{ repositoryId: string; branch: string }>()((param) => {
      const ofBranch = builder
        .selectFrom('queues')
        .select(['id', 'created_at', 'deleted_at'])
        .where('repository_id', '=', param('repositoryId'))
        .where('branch', '=', param('branch'));
      const deleted = builder
        .selectFrom('queues')
        .select(['id', 'created_at', 'deleted_at'])
        .where('repository_id', '=', param('repositoryId'))
        .where('branch', '=', param('branch'))
        .where('deleted_at', 'is not', null);
      return ofBranch.where('deleted_at', 'is', null).unionAll(deleted).orderBy('created_at', 'desc');
    }),
    findTransition: compiler.statement<{ queueId: string; prNumber: number; version: number }>()((param) =>
      builder
        .selectFrom('transitions')
        .select('version')
        .where('queue_id', '=', param('queueId'))
        .where('pr_number', '=', param('prNumber'))
        .where('version', '<=', param('version'))
        .limit(1),
    ),
    findTargetSets: compiler.list<object, string>()((_, digests) =>
      builder.selectFrom('target_sets').select(['digest', 'body']).where('digest', 'in', digests),
    ),
    renewTargetSet: compiler.statement<{ digest: string; at: number }>()((param) =>
      builder
        .updateTable('target_sets')
        .set({ created_at: param('at') })
        .where('digest', '=', param('digest'))
        .where('created_at', '<', param('at')),
    ),
  };
}

function changeStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  type After = { queueId: string; afterVersion: number };
  return {
    findFirstChange: compiler.statement<{ queueId: string }>()((param) =>
      builder
        .selectFrom('queue_changes')
        .selectAll()
        .where('queue_id', '=', param('queueId'))
        .orderBy('version')
        .limit(1),
    ),
    listChanges: compiler.statement<After & { version: number; at: number }>()((param) =>
      builder
        .selectFrom('queue_changes')
        .select(['version', 'at', 'body'])
        .where('queue_id', '=', param('queueId'))
        .where('version', '>', param('afterVersion'))
        .where('version', '<=', param('version'))
        .where('at', '<=', param('at'))
        .orderBy('version'),
    ),
    /** Without those whose events wait for places, and all after these. */
    listChangeSizes: compiler.statement<After>()((param) =>
      builder
        .selectFrom('queue_changes')
        .select(['version', 'at', 'size'])
        .where('queue_id', '=', param('queueId'))
        .where('version', '>', param('afterVersion'))
        .where(({ eb, fn, selectFrom }) =>
          eb(
            'version',
            '<',
            fn.coalesce(
              selectFrom('queue_changes as waiting')
                .select((waiting) => waiting.fn.min('waiting.version').as('version'))
                .where('waiting.queue_id', '=', param('queueId'))
                .where('waiting.feed', 'is not', null),
              sql.lit(Number.MAX_SAFE_INTEGER),
            ),
          ),
        )
        .orderBy('version'),
    ),
    listUnpackedMoments: compiler.statement<After & { from: number; until: number; limit: number }>()((param) =>
      builder
        .selectFrom('queue_changes')
        .select(['version', 'at'])
        .where('queue_id', '=', param('queueId'))
        .where('version', '>', param('afterVersion'))
        .where('at', '>=', param('from'))
        .where('at', '<=', param('until'))
        .orderBy('at')
        .orderBy('version')
        .limit(param('limit')),
    ),
    /** Those whose events wait for places stay until the next pack. */
    removeChanges: compiler.statement<{ queueId: string; version: number }>()((param) =>
      builder
        .deleteFrom('queue_changes')
        .where('queue_id', '=', param('queueId'))
        .where('version', '<=', param('version'))
        .where('feed', 'is', null),
    ),
  };
}

/** Queues with changes to pack, and queues without a past. */
function growthStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  return {
    listGrown: compiler.statement<{ bytes: number; before: number }>()((param) =>
      builder
        .selectFrom('queue_changes')
        .groupBy('queue_id')
        .select('queue_id as id')
        .having(({ eb, fn, or }) =>
          or([eb(fn.sum('size'), '>=', param('bytes')), eb(fn.min('at'), '<', param('before'))]),
        ),
    ),
    listBare: compiler.statement<object>()(() =>
      builder
        .selectFrom('queues')
        .select('id')
        .where('deleted_at', 'is', null)
        // Said although it says nothing: deleted queues are then not looked at.
        .where('repository_id', '>', '')
        .where(({ not, exists, selectFrom }) =>
          not(exists(selectFrom('queue_packs').select('version').whereRef('queue_packs.queue_id', '=', 'queues.id'))),
        )
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('queue_changes')
                .select('version')
                .whereRef('queue_changes.queue_id', '=', 'queues.id')
                .where('version', '=', 1),
            ),
          ),
        ),
    ),
  };
}

function packStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  type Key = { queueId: string; version: number };
  const packs = builder.selectFrom('queue_packs').selectAll();
  return {
    insertPack: compiler.insertOne('queue_packs', (insert) =>
      insert.onConflict((conflict) => conflict.columns(['queue_id', 'version']).doNothing()),
    ),
    insertKeys: compiler.insert('queue_pack_keys', (insert) => insert.onConflict((conflict) => conflict.doNothing())),
    findPack: compiler.statement<{ queueId: string; at: number }>()((param) =>
      packs
        .where('queue_id', '=', param('queueId'))
        .where('at', '<=', param('at'))
        .orderBy('at', 'desc')
        .orderBy('version', 'desc')
        .limit(1),
    ),
    getPack: compiler.statement<Key>()((param) =>
      packs.where('queue_id', '=', param('queueId')).where('version', '=', param('version')),
    ),
    findFirstPack: compiler.statement<{ queueId: string }>()((param) =>
      packs.where('queue_id', '=', param('queueId')).orderBy('version').limit(1),
    ),
    findPackAfter: compiler.statement<Key & { from: number }>()((param) =>
      packs
        .where('queue_id', '=', param('queueId'))
        .where('until_version', '>', param('version'))
        .where('until_at', '>=', param('from'))
        .orderBy('version')
        .limit(1),
    ),
    findKey: compiler.statement<{ queueId: string; key: string; before: number }>()((param) =>
      builder
        .selectFrom('queue_pack_keys')
        .select('version')
        .where('queue_id', '=', param('queueId'))
        .where('key', '=', param('key'))
        .where('version', '<', param('before'))
        .orderBy('version', 'desc')
        .limit(1),
    ),
  };
}

function oldPackStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  type Key = { queueId: string; version: number };
  return {
    listOldPacks: compiler.statement<{ before: number; limit: number }>()((param) =>
      builder
        .selectFrom('queue_packs')
        .select(['queue_id', 'version'])
        .where('until_at', '<', param('before'))
        .where(({ exists, selectFrom }) =>
          exists(
            selectFrom('queue_packs as later')
              .select('later.version')
              .whereRef('later.queue_id', '=', 'queue_packs.queue_id')
              .whereRef('later.version', '>', 'queue_packs.version'),
          ),
        )
        .orderBy('until_at')
        .limit(param('limit')),
    ),
    removePack: compiler.statement<Key>()((param) =>
      builder
        .deleteFrom('queue_packs')
        .where('queue_id', '=', param('queueId'))
        .where('version', '=', param('version')),
    ),
    removeKeys: compiler.statement<Key>()((param) =>
      builder
        .deleteFrom('queue_pack_keys')
        .where('queue_id', '=', param('queueId'))
        .where('version', '=', param('version')),
    ),
  };
}
