import type { AlarmStore } from '../alarms.ts';
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
  const { sql, sqlOfMany } = compiler;
  return {
    raise: compiler.insertOne('alarms', 'on conflict (id) do nothing'),
    end: sql('update alarms set ended_at = :at where queue_id = :queueId and code = :code and ended_at is null'),
    list: sqlOfMany(`
      select * from alarms where queue_id in (:items) and at >= :since and at <= :until
      order by at desc, id limit :limit`),
    count: sqlOfMany(
      'select queue_id, code, count(*) as count from alarms where queue_id in (:items) group by queue_id, code',
    ),
  };
}

export function auditMarkStatements(compiler: StatementCompiler) {
  const { sql } = compiler;
  return {
    find: sql('select * from audit_marks where queue_id = :queueId'),
    insert: compiler.insertOne('audit_marks', 'on conflict (queue_id) do nothing'),
    update: sql(`
      update audit_marks set sha = :sha, version = :version, at = :at
      where queue_id = :queueId and version = :expectedVersion`),
  };
}
