import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { alarmStatements, auditMarkStatements } from '../../src/storage/sql/alarms.ts';
import { sqliteDialect } from '../../src/storage/sql/dialect.ts';
import { logStatements } from '../../src/storage/sql/logs.ts';
import { commitStatements } from '../../src/storage/sql/queue-commit.ts';
import { effectStatements } from '../../src/storage/sql/queue-effects.ts';
import { listEntriesStatements } from '../../src/storage/sql/queue-entries.ts';
import { queueStatements } from '../../src/storage/sql/queue-statements.ts';
import { StatementCompiler } from '../../src/storage/sql/statement.ts';
import { listStatements } from '../../src/storage/sql/test-lists.ts';
import { statsStatements } from '../../src/storage/sql/test-stats.ts';
import { createFolder, openStore } from './store-folder.ts';

const TABLES = [
  ...['queues', 'queue_events', 'entries', 'transitions', 'candidates', 'effects', 'earlier'],
  ...['target_sets', 'impacted_targets'],
  ...['tests', 'test_runs', 'test_states', 'test_sequences'],
  ...['logs', 'log_chunks', 'around', 'alarms', 'audit_marks'],
];

/** Every statement's text, by name; the ones for lists as they are for a list of two. */
function allStatements(): Map<string, string> {
  const compiler = new StatementCompiler(sqliteDialect);
  const lists = listEntriesStatements(compiler);
  const groups: Record<string, object> = {
    commit: commitStatements(compiler),
    queue: queueStatements(compiler),
    entries: lists,
    effects: effectStatements(compiler),
    entriesOfAnyState: lists.ofAnyState,
    entriesOfState: lists.ofState,
    tests: listStatements(compiler),
    stats: statsStatements(compiler),
    logs: logStatements(compiler),
    alarms: alarmStatements(compiler),
    marks: auditMarkStatements(compiler),
  };
  const found = new Map<string, string>();
  for (const [group, statements] of Object.entries(groups)) {
    for (const [name, statement] of Object.entries(statements)) {
      const sql = typeof statement === 'function' ? textOfList(statement) : statement.sql;
      if (sql !== undefined) found.set(`${group}.${name}`, sql);
    }
  }
  return found;
}

/** Inserts of rows are of no interest here: they search nothing. */
function textOfList(list: (args: object, items: string[]) => { statement: { sql: string } }[]): string | undefined {
  try {
    return list(new Proxy({}, { get: () => '' }), ['a', 'b'])[0]?.statement.sql;
  } catch {
    return undefined;
  }
}

const EARLIER = 'effects_by_stream \\(queue_id=\\? AND stream=\\? AND version<\\?';

/** How the tables of those lists are found where a worse index would do, too. */
const EXPECTED: Readonly<Record<string, RegExp>> = {
  'entriesOfAnyState.collected': /SEARCH entries .*queue_id=\? AND pr_number=\?/,
  'entriesOfState.collected': /SEARCH entries .*queue_id=\? AND pr_number=\?/,
  'entriesOfAnyState.walked': /SEARCH transitions .*queue_id=\? AND pr_number=\?/,
  'entriesOfState.walked': /SEARCH transitions .*queue_id=\? AND pr_number=\?/,
  'queue.loadEntriesSince': /queue_id=\? AND is_live=\? AND version>\?/,
  'queue.loadLiveCandidates': /queue_id=\? AND is_live=\?/,
  'queue.loadCandidatesSince': /queue_id=\? AND is_live=\? AND version>\?/,
  'queue.findCandidatesBySha': /candidates_by_sha \(sha=\? AND queue_id=\?\)/,
  'effects.findClaimable': new RegExp(`effects_by_due_time \\(due_at<\\?\\)[^]*${EARLIER}`),
  'effects.findNextUnleased': new RegExp(`effects_by_due_time \\(due_at>\\?\\)[^]*${EARLIER}`),
  'effects.listLeased': new RegExp(`effects_leased \\(lease_until>\\?\\)[^]*${EARLIER}`),
  'effects.lease': /effects_by_id \(id=\?\)/,
  'effects.renew': /effects_by_id \(id=\?\)/,
  'effects.remove': /effects_by_id \(id=\?\)/,
  'queue.listTransitions': /SEARCH transitions .*queue_id=\? AND pr_number=\?/,
  'tests.listFailing': /test_runs_failing .*started_at>\?[\s\S]*SEARCH tests .*repository_id=\? AND id=\?/,
  'tests.listOfKind': /SEARCH tests .*repository_id=\? AND id=\?/,
  'stats.count': /test_runs_by_test \(repository_id=\? AND test_id=\? AND conclusion=\? AND started_at>\?/,
  'stats.groupFailures': /test_runs_by_test \(repository_id=\? AND test_id=\? AND conclusion=\? AND started_at>\?/,
  'logs.listChunks':
    /log_chunks .*check_name=\? AND start>\? AND start<\?\)[\s\S]*SEARCH around .*check_name=\? AND start<\?\)/,
  'logs.listOld': /logs_by_age \(last_at<\?\)/,
  'alarms.list': /alarms_by_time \(queue_id=\? AND at>\?\)/,
  'alarms.count': /alarms_by_code \(queue_id=\?\)/,
};
const UNSORTED = [
  ...['entriesOfAnyState.all', 'entriesOfAnyState.walked', 'entriesOfState.all', 'entriesOfState.walked'],
  ...['effects.findClaimable', 'effects.findNextUnleased', 'logs.listChunks', 'alarms.count'],
];

describe('the plans of SQLite', () => {
  test('search every table by an index, so that what ended long ago costs nothing', async (t) => {
    const directory = await createFolder(t);
    await (await openStore(t, directory)).close();
    const db = new DatabaseSync(join(directory, 'sluice.db'));
    t.after(() => db.close());
    const statements = allStatements();
    const plans = new Map<string, string>();
    for (const [name, sql] of statements) {
      const steps = db.prepare(`explain query plan ${sql}`).all();
      plans.set(name, steps.map((step) => String(step['detail'])).join('\n'));
    }
    const scan = new RegExp(`SCAN (${TABLES.join('|')})\\b`);
    for (const [name, plan] of plans) assert.doesNotMatch(plan, scan, name);
    for (const [name, expected] of Object.entries(EXPECTED)) assert.match(plans.get(name) ?? '', expected, name);
    for (const name of UNSORTED) assert.doesNotMatch(plans.get(name) ?? '', /TEMP B-TREE/, name);
  });
});
