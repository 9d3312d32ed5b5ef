import type { BundleMeta } from '../../bundle/meta.ts';
import type { BranchRules } from '../../flaky/identity/branch.ts';
import { isForkRun, jobAttemptOf, jobNameOf, readCiFacts } from '../../flaky/identity/ci-facts.ts';
import { checkUpload, type IdentityFinding } from '../../flaky/identity/validate.ts';
import type { ReadFacts } from './read-run.ts';
import { storableText } from './storable-text.ts';

const MAX_NAME_LENGTH = 500;
const MAX_URL_LENGTH = 2_000;
/** The length of a SHA-256 digest. */
const MAX_SHA_LENGTH = 64;

export interface BundleFacts {
  readonly facts: ReadFacts;
  readonly findings: readonly IdentityFinding[];
}

/** The facts of meta.json that all runs of the bundle share. */
export function bundleFacts(meta: BundleMeta, rules: BranchRules): BundleFacts {
  const { envs, commit, repository } = meta;
  const ci = readCiFacts({ envs, commit, rules });
  const sha = text(commit.sha.trim(), MAX_SHA_LENGTH);
  const branch = storableText(ci.branch);
  const jobName = text(jobNameOf(ci, envs), MAX_NAME_LENGTH);
  const fields = {
    sha,
    branch,
    prNumber: ci.prNumber,
    jobName: jobName === '' ? null : jobName,
    // Pages show it as a link.
    jobUrl: /^https?:\/\//i.test(ci.jobUrl) ? text(ci.jobUrl, MAX_URL_LENGTH) : null,
    variant: storableText(meta.variant),
    candidateId: null,
    check: null,
    isFork: isForkRun(envs, repository),
    jobAttempt: jobAttemptOf(envs),
  };
  // Legs of a matrix have one name; the platform tells them apart if it differs.
  const platform = meta.os === null ? '' : text(meta.os, 50);
  const job = [jobName, platform].filter((part) => part !== '').join(' on ');
  return {
    facts: { kind: 'facts', fields, job, jobAttempt: fields.jobAttempt, isFork: fields.isFork },
    findings: checkUpload({ ...ci, sha, branch }),
  };
}

function text(value: string, maxLength: number): string {
  return storableText(value.slice(0, maxLength));
}
