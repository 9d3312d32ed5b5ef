import { factStatements } from './past-facts.ts';
import type { StatementCompiler } from './statement.ts';

/** The row of `meta` that says how far retention has come. */
export const HORIZON = 'past_since';

/** No version is later. */
const LAST_VERSION = 9007199254740991;

const STANDING = `select id, created_at, deleted_at from queues
  where repository_id = :repositoryId and branch = :branch and deleted_at` as const;

export function pastStatements(compiler: StatementCompiler) {
  return {
    ...factStatements(compiler),
    ...standingStatements(compiler),
    ...changeStatements(compiler),
    ...growthStatements(compiler),
    ...packStatements(compiler),
  };
}

/** The present, which the past is told from. */
function standingStatements(compiler: StatementCompiler) {
  const { sql, sqlOfMany } = compiler;
  return {
    findHorizon: sql(`select value from meta where name = '${HORIZON}'`),
    setHorizon: compiler.upsert('meta', ['name']),
    findAnyQueue: sql('select * from queues where id = :queueId'),
    lockQueue: sql('select * from queues where id = :queueId and deleted_at is null for update'),
    listStanding: sql(`${STANDING} is null union all ${STANDING} is not null order by created_at desc`),
    findTransition: sql(`
      select version from transitions where queue_id = :queueId and pr_number = :prNumber and version <= :version
      limit 1`),
    findTargetSets: sqlOfMany('select digest, body from target_sets where digest in (:items)'),
    renewTargetSet: sql('update target_sets set created_at = :at where digest = :digest and created_at < :at'),
  };
}

function changeStatements({ sql }: StatementCompiler) {
  return {
    findFirstChange: sql('select * from queue_changes where queue_id = :queueId order by version limit 1'),
    listChanges: sql(`
      select version, at, body from queue_changes
      where queue_id = :queueId and version > :afterVersion and version <= :version and at <= :at order by version`),
    /** Without those whose events wait for places, and all after these. */
    listChangeSizes: sql(`
      select version, at, size from queue_changes
      where queue_id = :queueId and version > :afterVersion and version < coalesce((
        select min(waiting.version) from queue_changes as waiting
        where waiting.queue_id = :queueId and waiting.feed is not null), ${LAST_VERSION})
      order by version`),
    listUnpackedMoments: sql(`
      select version, at from queue_changes
      where queue_id = :queueId and version > :afterVersion and at >= :from and at <= :until
      order by at, version limit :limit`),
    /** Those whose events wait for places stay until the next pack. */
    removeChanges: sql('delete from queue_changes where queue_id = :queueId and version <= :version and feed is null'),
  };
}

/** Queues with changes to pack, and queues without a past. */
function growthStatements({ sql }: StatementCompiler) {
  return {
    listGrown: sql(`
      select queue_id as id from queue_changes group by queue_id having sum(size) >= :bytes or min(at) < :before`),
    // The condition on the repository is redundant, but deleted queues are then not looked at.
    listBare: sql(`
      select id from queues where deleted_at is null and repository_id > ''
      and not exists (select version from queue_packs where queue_packs.queue_id = queues.id)
      and not exists (
        select version from queue_changes where queue_changes.queue_id = queues.id and queue_changes.version = 1)`),
  };
}

const PACKS = 'select * from queue_packs where queue_id = :queueId and';

function packStatements(compiler: StatementCompiler) {
  const { sql } = compiler;
  return {
    insertPack: compiler.insertOne('queue_packs', 'on conflict (queue_id, version) do nothing'),
    insertKeys: compiler.insert('queue_pack_keys', 'on conflict do nothing'),
    findPack: sql(`${PACKS} at <= :at order by at desc, version desc limit 1`),
    getPack: sql(`${PACKS} version = :version`),
    findFirstPack: sql('select * from queue_packs where queue_id = :queueId order by version limit 1'),
    findPackAfter: sql(`${PACKS} until_version > :version and until_at >= :from order by version limit 1`),
    findKey: sql(`
      select version from queue_pack_keys where queue_id = :queueId and key = :key and version < :before
      order by version desc limit 1`),
    listOldPacks: sql(`
      select queue_id, version from queue_packs where until_at < :before and exists (
        select later.version from queue_packs as later
        where later.queue_id = queue_packs.queue_id and later.version > queue_packs.version)
      order by until_at limit :limit`),
    removePack: sql('delete from queue_packs where queue_id = :queueId and version = :version'),
    removeKeys: sql('delete from queue_pack_keys where queue_id = :queueId and version = :version'),
  };
}
