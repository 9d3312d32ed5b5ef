import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { evidenceOf, lookOfIssue, lookOfUpload } from './upload.ts';

describe('an upload', () => {
  it('says whether it is evidence for statuses or nothing, and why for nothing', () => {
    const of = (evidence: string, flaw: string | null = null) => evidenceOf({ evidence, no_evidence_because: flaw });
    assert.equal(of('STATUSES'), 'evidence for statuses');
    assert.equal(of('NOTHING', 'FORK'), 'evidence for nothing: the commit is a fork’s');
    assert.equal(of('NOTHING', 'SOMETHING_NEW'), 'evidence for nothing: SOMETHING_NEW');
  });

  it('shows states that a newer server may have', () => {
    assert.equal(lookOfUpload('PARKED').word, 'PARKED');
    assert.equal(lookOfIssue('hint').word, 'hint:');
  });
});
