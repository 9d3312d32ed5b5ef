import { IS_CONCLUSION } from './queue-entries.ts';
import type { StatementCompiler } from './statement.ts';

/** Redundant, but one index then finds live rows, and those that changed since a version. */
const SINCE = 'queue_id = :queueId and is_live in (true, false) and version > :version';
const LIVE = 'queue_id = :queueId and is_live = true';
const TARGET_SETS = `select digest, body from target_sets
  where digest in (select targets_digest from entries where targets_digest is not null and` as const;
const QUEUES = 'select * from queues where deleted_at is null and';
const DEPARTURES = `transitions
  where queue_id = :queueId and at >= :from and at <= :until and from_state = :state` as const;

export function queueStatements(compiler: StatementCompiler) {
  return {
    ...queueRowStatements(compiler),
    ...entryStatements(compiler),
    ...candidateStatements(compiler),
    ...transitionStatements(compiler),
  };
}

function queueRowStatements(compiler: StatementCompiler) {
  const { sql, sqlOfMany } = compiler;
  return {
    insert: compiler.insertOne('queues', 'on conflict (repository_id, branch) where deleted_at is null do nothing'),
    find: sql(`${QUEUES} repository_id = :repositoryId and branch = :branch`),
    listByRepository: sql(`${QUEUES} repository_id = :repositoryId order by branch`),
    load: sql(`${QUEUES} id = :queueId`),
    lock: sql(`${QUEUES} id = :queueId for update`),
    findVersion: sql('select version from queues where deleted_at is null and id = :queueId'),
    findVersions: sqlOfMany('select id, version from queues where deleted_at is null and id in (:items)'),
    delete: sql(`
      update queues set deleted_at = :at, version = :version
      where id = :queueId and version = :expectedVersion and deleted_at is null`),
    findDeleted: sql(`
      select queues.id, queue_events.at, queue_events.body from queues
      join queue_events on queue_events.queue_id = queues.id and queue_events.version = queues.version
      where repository_id = :repositoryId and branch = :branch and deleted_at is not null
      order by deleted_at desc limit 1`),
  };
}

function entryStatements({ sql, sqlOfMany }: StatementCompiler) {
  return {
    loadLiveEntries: sql(`select * from entries where ${LIVE}`),
    loadEntriesSince: sql(`select * from entries where ${SINCE}`),
    loadLiveTargetSets: sql(`${TARGET_SETS} ${LIVE})`),
    loadTargetSetsSince: sql(`${TARGET_SETS} ${SINCE})`),
    findEntry: sql('select * from entries where queue_id = :queueId and pr_number = :prNumber'),
    findEntries: sqlOfMany('select * from entries where queue_id = :queueId and pr_number in (:items)'),
    findHighestEntry: sql(`
      select pr_number from entries where queue_id = :queueId order by pr_number desc limit 1`),
    findTargetSet: sql('select digest, body from target_sets where digest = :digest'),
    findImpactedTargets: sql(`
      select * from impacted_targets where queue_id = :queueId and pr_number = :prNumber and sha = :sha`),
    /** A commit elsewhere that gives an old set renews it: the second of the two waits for the row. */
    removeUnusedTargetSets: sql(`
      delete from target_sets where created_at < :before
      and not exists (select id from entries where entries.targets_digest = target_sets.digest)
      and not exists (select sha from impacted_targets where impacted_targets.targets_digest = target_sets.digest)`),
  };
}

function candidateStatements({ sql, sqlOfMany }: StatementCompiler) {
  return {
    loadLiveCandidates: sql(`select * from candidates where ${LIVE}`),
    loadCandidatesSince: sql(`select * from candidates where ${SINCE}`),
    findCandidate: sql('select * from candidates where queue_id = :queueId and number = :number'),
    findCandidateById: sql('select * from candidates where id = :id'),
    findCandidatesBySha: sqlOfMany(`
      select * from candidates where sha = :sha and queue_id in (:items)
      order by created_at desc, number desc limit 1`),
    listCandidatesEnded: sql(`
      select * from candidates where queue_id = :queueId and ended_at >= :from and ended_at < :until order by ended_at`),
    listEndedCandidates: sql(`
      select * from candidates where queue_id = :queueId and ended_at is not null order by number desc limit :limit`),
  };
}

function transitionStatements({ sql, sqlOfMany }: StatementCompiler) {
  return {
    listTransitions: sql(`
      select transitions.* from entries
      join transitions on transitions.queue_id = entries.queue_id and transitions.pr_number = entries.pr_number
      where entries.id = :entryId order by transitions.version desc, transitions.ordinal desc`),
    listTransitionsWithin: sqlOfMany(`
      select * from transitions where queue_id in (:items) and at >= :from and at <= :until`),
    listEvents: sql(`
      select * from queue_events where queue_id = :queueId and version > :afterVersion order by version limit :limit`),
    listDepartures: sql(`
      select * from ${DEPARTURES} order by at desc, version desc, ordinal desc limit :limit offset :offset`),
    countDepartures: sql(`select count(*) as total from ${DEPARTURES}`),
    listConclusions: sql(`
      select * from transitions where queue_id = :queueId and at >= :from and at < :until and ${IS_CONCLUSION}
      order by at`),
  };
}
