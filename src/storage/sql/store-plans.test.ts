import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { createFolder, openStore } from '../../../test/contract/store-folder.ts';
import { alarmStatements, auditMarkStatements } from './alarms.ts';
import { sqliteDialect } from './dialect.ts';
import { hintStatements } from './hints.ts';
import { idempotentRequestStatements } from './idempotent-requests.ts';
import { logStatements } from './logs.ts';
import { pastStatements } from './past-statements.ts';
import { pullRequestNoteStatements } from './pull-request-notes.ts';
import { commitStatements } from './queue-commit.ts';
import { effectStatements } from './queue-effects.ts';
import { listEntriesStatements } from './queue-entries.ts';
import { queueStatements } from './queue-statements.ts';
import { partStatements } from './run-parts.ts';
import { sessionStatements } from './sessions.ts';
import { StatementCompiler } from './statement.ts';
import { batchStatements } from './test-batches.ts';
import { testCommitStatements } from './test-commit-statements.ts';
import { forgetStatements } from './test-forget.ts';
import { listStatements } from './test-lists.ts';
import { dueStatements, loadStatements } from './test-load.ts';
import { testRunStatements } from './test-runs.ts';
import { settingsStatements } from './test-settings.ts';
import { statsStatements } from './test-stats.ts';
import { bodyStatements } from './upload-bodies.ts';
import { claimStatements } from './upload-claims.ts';
import { outcomeStatements } from './upload-outcome.ts';
import { uploadStatements } from './upload-statements.ts';
import { tidyStatements } from './upload-tidy.ts';

const TABLES = [
  ...['queues', 'queue_events', 'entries', 'transitions', 'candidates', 'effects', 'earlier'],
  ...['target_sets', 'impacted_targets', 'queue_packs', 'queue_pack_keys', 'past_facts'],
  ...['tests', 'test_states', 'test_sequences', 'test_memories', 'test_batches', 'own'],
  ...[
    'runs',
    'run_parts',
    'before',
    'others',
    'old',
    'test_failures',
    'test_failure_texts',
    'latest',
    'texts',
    'test_events',
    'check_results',
  ],
  ...['uploads', 'upload_sequences', 'upload_pieces', 'ingest_leases', 'test_setting_changes'],
  ...['logs', 'log_chunks', 'around', 'alarms', 'audit_marks', 'hints', 'pull_request_notes', 'idempotent_requests'],
];

/** Every statement's text, by name; the ones for lists as they are for a list of two. */
function allStatements(): Map<string, string> {
  const compiler = new StatementCompiler(sqliteDialect);
  const lists = listEntriesStatements(compiler);
  const testRuns = testRunStatements(compiler);
  const groups: Record<string, object> = {
    idempotent: idempotentRequestStatements(compiler),
    sessions: sessionStatements(compiler),
    commit: commitStatements(compiler),
    queue: queueStatements(compiler),
    past: pastStatements(compiler),
    entries: lists,
    effects: effectStatements(compiler),
    entriesOfAnyState: lists.ofAnyState,
    entriesOfState: lists.ofState,
    tests: listStatements(compiler),
    stats: statsStatements(compiler),
    testCommit: testCommitStatements(compiler),
    testLoad: { ...loadStatements(compiler), ...dueStatements(compiler) },
    batches: batchStatements(compiler),
    parts: partStatements(compiler),
    testRuns: testRuns,
    runsOfAnyBranch: testRuns.runsOfAnyBranch,
    runsOfBranch: testRuns.runsOfBranch,
    forget: forgetStatements(compiler),
    uploads: uploadStatements(compiler),
    outcomes: outcomeStatements(compiler),
    claims: claimStatements(compiler),
    bodies: bodyStatements(compiler),
    tidy: tidyStatements(compiler),
    settings: settingsStatements(compiler),
    logs: logStatements(compiler),
    alarms: alarmStatements(compiler),
    marks: auditMarkStatements(compiler),
    hints: hintStatements(compiler),
    notes: pullRequestNoteStatements(compiler),
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

const ONE_SEEK =
  /run_parts_by_repository \(repository_id=\?\)[\s\S]*SEARCH runs USING PRIMARY KEY \(part=\? AND test_no=\? AND started_at>\?/;

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
  'tests.listFailing':
    /COVERING INDEX test_failures_by_time .*started_at>\?[\s\S]*tests_by_number[\s\S]*SEARCH tests .*repository_id=\? AND id=\?/,
  'tests.search': /SEARCH tests USING INDEX tests_by_name \(repository_id=\?\)$/,
  'tests.listOfKind': /SEARCH tests .*repository_id=\? AND id=\?/,
  'tests.listEvents': /SEARCH test_events .*repository_id=\? AND test_id=\?/,
  'stats.countImpacted': /SEARCH test_failures USING PRIMARY KEY \(repository_id=\? AND test_no=\? AND started_at>\?/,
  'stats.groupFailures':
    /SEARCH test_failures USING PRIMARY KEY \(repository_id=\? AND test_no=\? AND started_at>\?[\s\S]*SEARCH latest .*test_no=\? AND started_at=\?/,
  'testRuns.findFailureTexts':
    /SEARCH test_failures USING PRIMARY KEY \(repository_id=\? AND test_no=\? AND started_at>\?[\s\S]*SEARCH texts .*seq=\? AND ordinal=\?/,
  'testLoad.loadTests': /SEARCH tests .*repository_id=\? AND id=\?[\s\S]*SEARCH test_memories .*test_no=\?/,
  'testLoad.findFirstDue': /test_memories_due \(next_check_at>\? AND next_check_at<\?\)/,
  'testLoad.loadRange': /SEARCH tests .*repository_id=\? AND no>\? AND no<\?/,
  'batches.findEarlier': /test_batches_by_commit \(repository_id=\? AND sha=\? AND job=\? AND seq<\?\)/,
  'batches.findOfTree': /test_batches_by_tree \(repository_id=\? AND tree=\? AND job=\? AND seq<\?\)/,
  'batches.findFailures': /SEARCH test_failure_texts .*repository_id=\? AND seq=\?/,
  'batches.readRuns': ONE_SEEK,
  'batches.findPasses': /SEARCH test_batches .*repository_id=\? AND seq=\?[\s\S]*SEARCH runs .*part=\? AND test_no=\?/,
  'batches.listTestNos': /SEARCH test_batches .*upload_id=\?[\s\S]*SEARCH runs USING PRIMARY KEY \(part=\?\)/,
  'batches.listUncounted':
    /run_parts_by_repository \(repository_id=\?\)[\s\S]*SEARCH runs USING PRIMARY KEY \(part=\?\)/,
  'stats.countWeek': ONE_SEEK,
  'testRuns.countRuns': ONE_SEEK,
  'runsOfAnyBranch.list': ONE_SEEK,
  'runsOfBranch.list': new RegExp(`${ONE_SEEK.source}[\\s\\S]*SEARCH own .*repository_id=\\? AND seq=\\?`),
  'parts.findLatestPart': /run_parts_by_repository \(repository_id=\?\)/,
  'parts.findRetired': /run_parts_by_repository \(repository_id=\?\)/,
  'forget.listRunning': /SEARCH runs USING PRIMARY KEY \(part=\? AND test_no=\?/,
  'forget.removeFailures': /test_failures_by_time \(repository_id=\? AND started_at<\?\)/,
  'forget.removeTexts': /SEARCH old .*repository_id=\? AND seq<\?\)/,
  'forget.removeEvents': /test_events_by_time \(repository_id=\? AND at<\?\)/,
  'uploads.list': /uploads_by_number \(repository_id=\? AND no<\?\)/,
  'uploads.findSame': /uploads_by_digest \(repository_id=\? AND digest=\?\)/,
  'uploads.findWaiting': /uploads_waiting_of \(repository_id=\?\)/,
  'claims.findHead': /uploads_waiting_of \(repository_id=\?\)/,
  'claims.listClaimable':
    /uploads_waiting_of[\s\S]*uploads_by_number \(repository_id=\? AND no=\?\)[\s\S]*SEARCH ingest_leases/,
  'bodies.nextPiece': /SEARCH upload_pieces .*body_id=\? AND file_no=\? AND piece>\?/,
  'tidy.listUnnamed': /upload_bodies_by_age \(last_at<\?\)[\s\S]*uploads_by_body/,
  'logs.listChunks':
    /log_chunks .*check_name=\? AND start>\? AND start<\?\)[\s\S]*SEARCH around .*check_name=\? AND start<\?\)/,
  'logs.listOld': /logs_by_age \(last_at<\?\)/,
  'alarms.list': /alarms_by_time \(queue_id=\? AND at>\? AND at<\?\)/,
  'alarms.count': /alarms_by_code \(queue_id=\?\)/,
  'hints.findClaimable': /hints_by_due_time \(due_at<\?\)/,
  'hints.findNextUnleased': /hints_by_due_time \(due_at>\?\)/,
  'hints.countOverdue': /INDEX hints_by_due_time \(due_at<\?\)/,
  'hints.countDue': /INDEX hints_by_due_time \(due_at<\?\)/,
  'hints.listLeased': /hints_leased \(lease_until>\?\)/,
  'hints.listForgotten': /hints_remembered \(remembered_until<\?\)/,
};
const UNSORTED = [
  ...['past.findPack', 'past.listChanges', 'past.findKey'],
  ...['entriesOfAnyState.all', 'entriesOfAnyState.walked', 'entriesOfState.all', 'entriesOfState.walked'],
  ...['effects.findClaimable', 'effects.findNextUnleased', 'logs.listChunks', 'alarms.count'],
  ...['hints.findClaimable', 'hints.findNextUnleased'],
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
    // Indexes of nothing but what waits may be walked through.
    const scan = new RegExp(
      `SCAN (${TABLES.join('|')})\\b(?! USING (COVERING )?INDEX uploads_(?:waiting(?:_of)?|to_recount)\\b)`,
    );
    for (const [name, plan] of plans) assert.doesNotMatch(plan, scan, name);
    for (const [name, expected] of Object.entries(EXPECTED)) assert.match(plans.get(name) ?? '', expected, name);
    for (const name of UNSORTED) assert.doesNotMatch(plans.get(name) ?? '', /TEMP B-TREE/, name);
  });
});
