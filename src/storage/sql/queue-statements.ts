import type { DepartureQuery, QueueWindow } from '../queues.ts';
import { isConclusion } from './queue-entries.ts';
import type { Placeholders, StatementCompiler } from './statement.ts';

/** Said although it says nothing: one index then finds live rows, and those that changed since a version. */
const EITHER = [true, false];

export function queueStatements(compiler: StatementCompiler) {
  return {
    ...queueRowStatements(compiler),
    ...loadStatements(compiler),
    ...entryStatements(compiler),
    ...candidateStatements(compiler),
    removeUnusedTargetSets: removeUnusedTargetSets(compiler),
    ...transitionStatements(compiler),
    ...departureStatements(compiler),
  };
}

function queueRowStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  const present = builder.selectFrom('queues').where('deleted_at', 'is', null);
  return {
    insert: compiler.insertOne('queues', (insert) =>
      insert.onConflict((conflict) =>
        conflict.columns(['repository_id', 'branch']).where('deleted_at', 'is', null).doNothing(),
      ),
    ),
    find: compiler.statement<{ repositoryId: string; branch: string }>()((param) =>
      present.selectAll().where('repository_id', '=', param('repositoryId')).where('branch', '=', param('branch')),
    ),
    listByRepository: compiler.statement<{ repositoryId: string }>()((param) =>
      present.selectAll().where('repository_id', '=', param('repositoryId')).orderBy('branch'),
    ),
    load: compiler.statement<{ queueId: string }>()((param) => present.selectAll().where('id', '=', param('queueId'))),
    lock: compiler.statement<{ queueId: string }>()((param) =>
      present
        .selectAll()
        .where('id', '=', param('queueId'))
        .$if(compiler.dialect.hasRowLocks, (query) => query.forUpdate()),
    ),
    findVersion: compiler.statement<{ queueId: string }>()((param) =>
      present.select('version').where('id', '=', param('queueId')),
    ),
    findVersions: compiler.list<object, string>()((_, ids) => present.select(['id', 'version']).where('id', 'in', ids)),
    delete: compiler.statement<{ queueId: string; expectedVersion: number; version: number; at: number }>()((param) =>
      builder
        .updateTable('queues')
        .set({ deleted_at: param('at'), version: param('version') })
        .where('id', '=', param('queueId'))
        .where('version', '=', param('expectedVersion'))
        .where('deleted_at', 'is', null),
    ),
    findDeleted: compiler.statement<{ repositoryId: string; branch: string }>()((param) =>
      builder
        .selectFrom('queues')
        .innerJoin('queue_events', (join) =>
          join.onRef('queue_events.queue_id', '=', 'queues.id').onRef('queue_events.version', '=', 'queues.version'),
        )
        .select(['queues.id', 'queue_events.at', 'queue_events.body'])
        .where('repository_id', '=', param('repositoryId'))
        .where('branch', '=', param('branch'))
        .where('deleted_at', 'is not', null)
        .orderBy('deleted_at', 'desc')
        .limit(1),
    ),
  };
}

function loadStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  const targetSets = builder.selectFrom('target_sets').select(['digest', 'body']);
  const digests = builder.selectFrom('entries').select('targets_digest').where('targets_digest', 'is not', null);
  return {
    loadLiveEntries: compiler.statement<{ queueId: string }>()((param) =>
      builder.selectFrom('entries').selectAll().where('queue_id', '=', param('queueId')).where('is_live', '=', true),
    ),
    loadLiveTargetSets: compiler.statement<{ queueId: string }>()((param) =>
      targetSets.where(
        'digest',
        'in',
        digests
          .where('queue_id', '=', param('queueId'))
          .where('is_live', '=', true)
          .$castTo<{ targets_digest: string }>(),
      ),
    ),
    loadEntriesSince: compiler.statement<{ queueId: string; version: number }>()((param) =>
      builder
        .selectFrom('entries')
        .selectAll()
        .where('queue_id', '=', param('queueId'))
        .where('is_live', 'in', EITHER)
        .where('version', '>', param('version')),
    ),
    loadLiveCandidates: compiler.statement<{ queueId: string }>()((param) =>
      builder.selectFrom('candidates').selectAll().where('queue_id', '=', param('queueId')).where('is_live', '=', true),
    ),
    loadCandidatesSince: compiler.statement<{ queueId: string; version: number }>()((param) =>
      builder
        .selectFrom('candidates')
        .selectAll()
        .where('queue_id', '=', param('queueId'))
        .where('is_live', 'in', EITHER)
        .where('version', '>', param('version')),
    ),
    loadTargetSetsSince: compiler.statement<{ queueId: string; version: number }>()((param) =>
      targetSets.where(
        'digest',
        'in',
        digests
          .where('queue_id', '=', param('queueId'))
          .where('is_live', 'in', EITHER)
          .where('version', '>', param('version'))
          .$castTo<{ targets_digest: string }>(),
      ),
    ),
  };
}

function entryStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  return {
    findEntry: compiler.statement<{ queueId: string; prNumber: number }>()((param) =>
      builder
        .selectFrom('entries')
        .selectAll()
        .where('queue_id', '=', param('queueId'))
        .where('pr_number', '=', param('prNumber')),
    ),
    findEntries: compiler.list<{ queueId: string }, number>()((param, prNumbers) =>
      builder
        .selectFrom('entries')
        .selectAll()
        .where('queue_id', '=', param('queueId'))
        .where('pr_number', 'in', prNumbers),
    ),
    findTargetSet: compiler.statement<{ digest: string }>()((param) =>
      builder.selectFrom('target_sets').select(['digest', 'body']).where('digest', '=', param('digest')),
    ),
    findImpactedTargets: compiler.statement<{ queueId: string; prNumber: number; sha: string }>()((param) =>
      builder
        .selectFrom('impacted_targets')
        .selectAll()
        .where('queue_id', '=', param('queueId'))
        .where('pr_number', '=', param('prNumber'))
        .where('sha', '=', param('sha')),
    ),
  };
}

function candidateStatements(compiler: StatementCompiler) {
  const candidates = compiler.dialect.builder.selectFrom('candidates').selectAll();
  return {
    findCandidate: compiler.statement<{ queueId: string; number: number }>()((param) =>
      candidates.where('queue_id', '=', param('queueId')).where('number', '=', param('number')),
    ),
    findCandidateById: compiler.statement<{ id: string }>()((param) => candidates.where('id', '=', param('id'))),
    findCandidatesBySha: compiler.list<{ sha: string }, string>()((param, queueIds) =>
      candidates
        .where('sha', '=', param('sha'))
        .where('queue_id', 'in', queueIds)
        .orderBy('created_at', 'desc')
        .orderBy('number', 'desc')
        .limit(1),
    ),
    listCandidatesEnded: compiler.statement<QueueWindow>()((param) =>
      candidates
        .where('queue_id', '=', param('queueId'))
        .where('ended_at', '>=', param('from'))
        .where('ended_at', '<', param('until'))
        .orderBy('ended_at'),
    ),
    listEndedCandidates: compiler.statement<{ queueId: string; limit: number }>()((param) =>
      candidates
        .where('queue_id', '=', param('queueId'))
        .where('ended_at', 'is not', null)
        .orderBy('number', 'desc')
        .limit(param('limit')),
    ),
  };
}

/**
 * A commit on another server that gives an old set renews it: whoever of the two comes second waits for the row, and
 * then finds it too young to remove, or gone and to be stored again.
 */
function removeUnusedTargetSets(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  return compiler.statement<{ before: number }>()((param) =>
    builder
      .deleteFrom('target_sets')
      .where('created_at', '<', param('before'))
      .where(({ not, exists, selectFrom }) =>
        not(exists(selectFrom('entries').select('id').whereRef('entries.targets_digest', '=', 'target_sets.digest'))),
      )
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('impacted_targets')
              .select('sha')
              .whereRef('impacted_targets.targets_digest', '=', 'target_sets.digest'),
          ),
        ),
      ),
  );
}

function transitionStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  return {
    listTransitions: compiler.statement<{ entryId: string }>()((param) =>
      builder
        .selectFrom('entries')
        .innerJoin('transitions', (join) =>
          join
            .onRef('transitions.queue_id', '=', 'entries.queue_id')
            .onRef('transitions.pr_number', '=', 'entries.pr_number'),
        )
        .selectAll('transitions')
        .where('entries.id', '=', param('entryId'))
        .orderBy('transitions.version', 'desc')
        .orderBy('transitions.ordinal', 'desc'),
    ),
    listTransitionsWithin: compiler.list<{ from: number; until: number }, string>()((param, queueIds) =>
      builder
        .selectFrom('transitions')
        .selectAll()
        .where('queue_id', 'in', queueIds)
        .where('at', '>=', param('from'))
        .where('at', '<=', param('until')),
    ),
    listEvents: compiler.statement<{ queueId: string; afterVersion: number; limit: number }>()((param) =>
      builder
        .selectFrom('queue_events')
        .selectAll()
        .where('queue_id', '=', param('queueId'))
        .where('version', '>', param('afterVersion'))
        .orderBy('version')
        .limit(param('limit')),
    ),
  };
}

function departureStatements(compiler: StatementCompiler) {
  const departures = (param: Placeholders<DepartureQuery>) =>
    compiler.dialect.builder
      .selectFrom('transitions')
      .where('queue_id', '=', param('queueId'))
      .where('at', '>=', param('from'))
      .where('at', '<=', param('until'))
      .where('from_state', '=', param('state'));
  return {
    listDepartures: compiler.statement<DepartureQuery>()((param) =>
      departures(param)
        .selectAll()
        .orderBy('at', 'desc')
        .orderBy('version', 'desc')
        .orderBy('ordinal', 'desc')
        .limit(param('limit'))
        .offset(param('offset')),
    ),
    listConclusions: compiler.statement<QueueWindow>()((param) =>
      compiler.dialect.builder
        .selectFrom('transitions')
        .selectAll()
        .where('queue_id', '=', param('queueId'))
        .where('at', '>=', param('from'))
        .where('at', '<', param('until'))
        .where(isConclusion)
        .orderBy('at'),
    ),
    countDepartures: compiler.statement<DepartureQuery>()((param) =>
      departures(param).select((eb) => eb.fn.countAll<number>().as('total')),
    ),
  };
}
