import assert from 'node:assert/strict';
import { it } from 'node:test';
import { EXAMPLE_DETAILS, EXAMPLE_EVIDENCE } from '../../contract/test-details.ts';
import { type DetailsView, formatDetails } from './format-test.ts';

it('a retry is shown with both commits, the test run and the tree, unless the commits are one [F88]', () => {
  const [run] = EXAMPLE_EVIDENCE.runs;
  assert.ok(run);
  const { failed, passed, tree } = run;
  const details = EXAMPLE_DETAILS as DetailsView;
  const shown = formatDetails(details);
  const lines = [
    `failed at ${failed.sha} (test run ${failed.test_run_id})`,
    `passed at ${passed.sha}`,
    `tree      ${tree}`,
  ];
  assert.ok(shown.includes(lines.map((line) => `    ${line}\n`).join('')), shown);
  const evidence = { ...EXAMPLE_EVIDENCE, runs: [{ ...run, passed: { ...passed, sha: failed.sha } }] };
  const monitors = details.monitors.map((monitor) => ({ ...monitor, evidence }));
  assert.ok(!formatDetails({ ...details, monitors }).includes('failed at'));
});
