import type { UploadOutcome } from '../uploads.ts';
import { type Call, callOf, type StatementCompiler } from './statement.ts';

export type OutcomeStatements = ReturnType<typeof outcomeStatements>;

export function outcomeCall(statements: OutcomeStatements, outcome: UploadOutcome): Call {
  return callOf(statements.setOutcome, fromOutcome(outcome));
}

function fromOutcome({ uploadId, status, fields, issues, flaw, counts, ...outcome }: UploadOutcome) {
  return {
    id: uploadId,
    status,
    processed_at: outcome.processedAt,
    fields: fields && JSON.stringify(fields),
    candidate_id: fields?.candidateId ?? null,
    check_name: fields?.check ?? null,
    parts_done: outcome.partsDone,
    test_runs: outcome.testRuns,
    issues: JSON.stringify(issues),
    flaw,
    tests_ran: counts?.ran ?? null,
    tests_failed: counts?.failed ?? null,
  };
}

/** A column whose new value is unknown keeps its old one. */
export function outcomeStatements(compiler: StatementCompiler) {
  const { builder, hasRowLocks } = compiler.dialect;
  return {
    /** Until the transaction ends nobody else changes it. */
    lockProgress: compiler.statement<{ id: string }>()((param) =>
      builder
        .selectFrom('uploads')
        .select(['status', 'parts_done'])
        .where('id', '=', param('id'))
        .$if(hasRowLocks, (query) => query.forUpdate()),
    ),
    setOutcome: compiler.statement<ReturnType<typeof fromOutcome>>()((param) =>
      builder
        .updateTable('uploads')
        .set((eb) => ({
          status: param('status'),
          processed_at: param('processed_at'),
          fields: eb.fn.coalesce(eb.val(param('fields')), 'fields'),
          candidate_id: eb.fn.coalesce(eb.val(param('candidate_id')), 'candidate_id'),
          check_name: eb.fn.coalesce(eb.val(param('check_name')), 'check_name'),
          parts_done: param('parts_done'),
          test_runs: param('test_runs'),
          issues: param('issues'),
          flaw: eb.fn.coalesce(eb.val(param('flaw')), 'flaw'),
          tests_ran: eb.fn.coalesce(eb.val(param('tests_ran')), 'tests_ran'),
          tests_failed: eb.fn.coalesce(eb.val(param('tests_failed')), 'tests_failed'),
          trouble: null,
          retry_at: null,
        }))
        .where('id', '=', param('id')),
    ),
  };
}
