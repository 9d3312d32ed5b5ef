import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeProblem } from './problem.ts';

describe('refusals of the server, in words of the command line [W8]', () => {
  for (const [path, words] of [
    ['/monitor/parameters/window_hours', '--parameter window_hours'],
    ['/monitor/parameters', '--parameter'],
    ['/monitor/action', '--classify or --labels'],
    ['/monitor/action/classify', '--classify'],
    ['/monitor/action/labels/0', '--labels[0]'],
    ['/monitor/branches/1', '--branches[1]'],
    ['/monitor/name', '--name'],
    ['/monitor/colour', 'monitor.colour'],
    ['/org_url_slug', '--org (or SLUICE_ORG)'],
    ['/checks/0/command', '--check[0].command'],
    ['/batchingMinSize', '--batching-min-size'],
  ] as const) {
    it(`calls ${path} ${words}`, () => {
      const errors = [path, '/take'].map((wrong) => ({ path: wrong, message: 'is wrong' }));
      const text = describeProblem({ status: 400, code: 'VALIDATION_FAILED', detail: 'No.', errors }, undefined);
      assert.equal(text, `No.\n  ${words} is wrong\n  --limit is wrong`);
    });
  }

  it('names the option in the sentence too', () => {
    const errors = [{ path: '/monitor/parameters/window_hours', message: 'is required' }];
    const detail = 'monitor.parameters.window_hours is required. Nothing was changed.';
    const text = describeProblem({ status: 400, code: 'VALIDATION_FAILED', detail, errors }, undefined);
    assert.equal(text, '--parameter window_hours is required. Nothing was changed.');
  });

  it('says which option the organization comes from', () => {
    const detail = 'This token does not belong to an organization "nobody". Check org_url_slug.';
    const text = describeProblem({ status: 404, code: 'ORGANIZATION_NOT_FOUND', detail }, undefined);
    assert.match(text, /Check --org \(or SLUICE_ORG\)\.$/);
  });
});
