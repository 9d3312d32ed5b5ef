import type { AlarmStore, AuditMark } from '../alarms.ts';
import type { QueueId } from '../queues.ts';
import { feedInserts } from './feed-waiting.ts';
import { allOf, execute, executeAll, findRow, type SqlEngine } from './operation.ts';
import { fromAlarm, fromAuditMark, toAlarm, toAuditMark } from './rows.ts';
import type { StatementCompiler } from './statement.ts';

export function createAlarmStore(engine: SqlEngine, compiler: StatementCompiler): AlarmStore {
  const statements = alarmStatements(compiler);
  const insertFeed = feedInserts(compiler);
  return {
    raise: (alarm, feed = []) =>
      engine.write(function* () {
        if ((yield* execute(statements.raise, fromAlarm({ ...alarm, endedAt: null }))) === 0) return 'known';
        yield* executeAll(insertFeed(feed));
        return 'raised';
      }),
    end: (alarms, feed = []) =>
      engine.write(function* () {
        const ended = yield* execute(statements.end, alarms);
        if (ended > 0) yield* executeAll(insertFeed(feed));
        return ended;
      }),
    list: (queueIds, since, limit, until = Number.MAX_SAFE_INTEGER) =>
      engine.read(function* () {
        const rows = yield* allOf(statements.list({ since, until, limit }, [...new Set(queueIds)]));
        // Each part of a long list of queues comes sorted and cut off; together they must be, too.
        return rows
          .map(toAlarm)
          .sort((a, b) => b.at - a.at)
          .slice(0, limit);
      }),
    count: (queueIds) =>
      engine.read(function* () {
        const rows = yield* allOf(statements.count({}, [...new Set(queueIds)]));
        return rows.map(({ queue_id, code, count }) => ({ queueId: queue_id as QueueId, code, count }));
      }),
    ...auditMarks(engine, compiler),
  };
}

function auditMarks(engine: SqlEngine, compiler: StatementCompiler) {
  const statements = auditMarkStatements(compiler);
  return {
    findMark: (queueId) => engine.read(() => findRow(statements.find, { queueId }, toAuditMark)),
    setMark: (queueId, mark, expectedVersion) =>
      engine.write(function* () {
        const changed =
          expectedVersion === undefined
            ? yield* execute(statements.insert, { queue_id: queueId, ...fromAuditMark(mark) })
            : yield* execute(statements.update, { ...mark, queueId, expectedVersion });
        return changed === 0 ? 'stale' : 'set';
      }),
  } satisfies Partial<AlarmStore>;
}

export function alarmStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  return {
    raise: compiler.insertOne('alarms', (insert) => insert.onConflict((conflict) => conflict.column('id').doNothing())),
    end: compiler.statement<{ queueId: string; code: string; at: number }>()((param) =>
      builder
        .updateTable('alarms')
        .set({ ended_at: param('at') })
        .where('queue_id', '=', param('queueId'))
        .where('code', '=', param('code'))
        .where('ended_at', 'is', null),
    ),
    list: compiler.list<{ since: number; until: number; limit: number }, string>()((param, queueIds) =>
      builder
        .selectFrom('alarms')
        .selectAll()
        .where('queue_id', 'in', queueIds)
        .where('at', '>=', param('since'))
        .where('at', '<=', param('until'))
        .orderBy('at', 'desc')
        .orderBy('id')
        .limit(param('limit')),
    ),
    count: compiler.list<object, string>()((_, queueIds) =>
      builder
        .selectFrom('alarms')
        .select((eb) => ['queue_id', 'code', eb.fn.countAll<number>().as('count')])
        .where('queue_id', 'in', queueIds)
        .groupBy(['queue_id', 'code']),
    ),
  };
}

export function auditMarkStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  type Mark = AuditMark & { queueId: string };
  return {
    find: compiler.statement<{ queueId: string }>()((param) =>
      builder.selectFrom('audit_marks').selectAll().where('queue_id', '=', param('queueId')),
    ),
    insert: compiler.insertOne('audit_marks', (insert) =>
      insert.onConflict((conflict) => conflict.column('queue_id').doNothing()),
    ),
    update: compiler.statement<Mark & { expectedVersion: number }>()((param) =>
      builder
        .updateTable('audit_marks')
        .set({ sha: param('sha'), version: param('version'), at: param('at') })
        .where('queue_id', '=', param('queueId'))
        .where('version', '=', param('expectedVersion')),
    ),
  };
}
