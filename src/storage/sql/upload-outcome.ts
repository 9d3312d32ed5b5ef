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
export function outcomeStatements({ sql }: StatementCompiler) {
  return {
    /** Until the transaction ends no other one changes it. */
    lockProgress: sql('select status, parts_done from uploads where id = :id for update'),
    setOutcome: sql(`
      update uploads set status = :status, processed_at = :processed_at, parts_done = :parts_done,
        test_runs = :test_runs, issues = :issues, trouble = null, retry_at = null,
        fields = coalesce(:fields, fields), candidate_id = coalesce(:candidate_id, candidate_id),
        check_name = coalesce(:check_name, check_name), flaw = coalesce(:flaw, flaw),
        tests_ran = coalesce(:tests_ran, tests_ran), tests_failed = coalesce(:tests_failed, tests_failed)
      where id = :id`),
  };
}
