import type { Static } from 'typebox';
import type { UploadInput } from '../../app/uploads/receive-upload.ts';
import { makeUploadFields } from '../../app/uploads/upload-fields.ts';
import { uploadResults } from '../../contract/uploads.ts';
import { prNumber, query } from './parse.ts';
import { HttpProblem } from './problem.ts';
import { createValidator } from './validate.ts';

const validate = createValidator(uploadResults.body);

export const FIELD_NAMES: readonly string[] = Object.keys(uploadResults.body.properties);

/** Reads the fields of a form or a query. Scripts send an empty field where they have no value. */
export function parseUploadFields(given: unknown): UploadInput {
  const named = Object.entries(given as object).filter(([name, value]) => FIELD_NAMES.includes(name) && value !== '');
  const fields = query(Object.fromEntries(named));
  validate(fields);
  const { org_url_slug, repo_host, repo_owner, repo_name, ...rest } = fields as Static<typeof uploadResults.body>;
  if (rest.test_run_id !== undefined && rest.check === undefined) {
    const message = 'is required with test_run_id: results of a test run are those of one of its checks';
    throw new HttpProblem('VALIDATION_FAILED', `check ${message}.`, [{ path: '/check', message }]);
  }
  return {
    repo: { host: repo_host, owner: repo_owner, name: repo_name },
    orgUrlSlug: org_url_slug,
    fields: makeUploadFields({
      sha: rest.sha,
      branch: rest.branch,
      prNumber: rest.pr_number === undefined ? undefined : prNumber(rest.pr_number),
      jobName: rest.job_name,
      jobUrl: rest.job_url,
      variant: rest.variant,
      testRunId: rest.test_run_id,
      check: rest.check,
      isFork: rest.fork?.toLowerCase() === 'true',
      jobAttempt: rest.job_attempt === undefined ? undefined : Number(rest.job_attempt),
      checkoutRoot: rest.checkout_root,
    }),
  };
}
