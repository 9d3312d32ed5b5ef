import { readFile } from 'node:fs/promises';
import { cleanBranch } from '../../flaky/identity/branch.ts';
import { readCiFacts } from '../../flaky/identity/ci-facts.ts';
import { isForkRun, jobAttemptOf, jobNameOf } from '../../flaky/identity/ci-job.ts';
import type { Env } from '../../flaky/identity/ci-platforms.ts';
import { parseRepositoryUrl } from '../../flaky/identity/repository-url.ts';
import { cutVariant } from '../../flaky/identity/variant.ts';
import type { Checkout } from '../../git/read-checkout.ts';
import type { RepoRef } from '../core/arguments.ts';
import { repoOf } from '../core/checkout.ts';
import { usageError } from '../core/exit.ts';
import { clean } from '../core/terminal.ts';
import { type CiCommit, type PullRequestEvent, readCiCommit, readEvent } from './ci-commit.ts';

/** What somebody said on the command line. */
export interface GivenFacts {
  readonly repo?: RepoRef;
  readonly sha?: string;
  readonly branch?: string;
  readonly pr?: number;
  readonly job?: string;
  readonly jobUrl?: string;
  readonly variant?: string;
  readonly testRunId?: string;
  readonly check?: string;
  readonly fork?: boolean;
  readonly attempt?: number;
}

/** What goes with the reports. */
export interface UploadFacts {
  readonly repo: RepoRef;
  readonly sha: string;
  readonly branch: string;
  readonly prNumber: number | null;
  readonly jobName: string;
  readonly jobUrl: string;
  /** Empty: none. */
  readonly variant: string;
  readonly testRunId: string;
  readonly check: string;
  readonly isFork: boolean;
  /** Which try of the job it is; null: nobody says. */
  readonly jobAttempt: number | null;
}

export interface FactSources {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Asked only for what nobody else says. */
  readonly findCheckout: () => Promise<Checkout | undefined>;
}

const NO_COMMIT = { branch: '', message: '', authorName: '', authorEmail: '', isUncloned: false };
const NO_RULES = { testBranchPrefix: 'sluice-test', stableBranches: [] };

/** Options go before the environment of CI, and that before the checkout. */
export async function chooseFacts(given: GivenFacts, sources: FactSources): Promise<UploadFacts> {
  const { environment } = sources;
  if (given.testRunId !== undefined && given.check === undefined) {
    throw usageError('Say which check of the candidate these are the results of: --check.');
  }
  const env: Env = (name) => environment[name] || undefined;
  const envs = new Map(Object.entries(environment).map(([name, value]) => [name, value ?? '']));
  const ci = readCiFacts({ envs, commit: NO_COMMIT, rules: NO_RULES });
  const commit = readCiCommit(ci.platform, env);
  const event = readEvent(ci.platform === 'github' ? await readText(env('GITHUB_EVENT_PATH') ?? '') : '');
  let asked: Promise<Checkout | undefined> | undefined;
  const checkout = (): Promise<Checkout | undefined> => {
    asked ??= sources.findCheckout();
    return asked;
  };
  const repo = given.repo ?? parseRepositoryUrl(commit.repoUrl ?? '') ?? repoOf(await checkout());
  return {
    repo,
    sha: given.sha ?? (await chooseSha(commit, event, checkout)),
    branch: given.branch ?? (await chooseBranch(ci.branch || cleanBranch(commit.branch ?? ''), checkout)),
    prNumber: given.pr ?? (ci.prNumber || null),
    jobName: given.job ?? nameJob(jobNameOf(ci, envs)),
    jobUrl: given.jobUrl ?? (/^https?:\/\/\S+$/i.test(ci.jobUrl) ? ci.jobUrl : ''),
    variant: cutVariant(given.variant),
    testRunId: given.testRunId ?? '',
    check: given.check ?? '',
    isFork: given.fork ?? (event.isFork || isForkRun(envs, repo)),
    // Some count from 0, which is no try.
    jobAttempt: given.attempt ?? (jobAttemptOf(envs) || null),
  };
}

/**
 * GitHub tests a pull request as a merge with its target that is another commit each time. Its head is what two runs of the
 * same change have in common.
 */
async function chooseSha(
  commit: CiCommit,
  { headSha }: PullRequestEvent,
  checkout: () => Promise<Checkout | undefined>,
): Promise<string> {
  if (commit.sha !== undefined && !commit.isMerge) return commit.sha;
  if (commit.isMerge && headSha !== undefined) return headSha;
  const found = await checkout();
  const sha = found?.sha ?? commit.sha;
  if (sha === undefined) throw usageError('Say which commit was tested: --sha. There is no git work tree here.');
  const isMergeCommit = commit.isMerge && found?.parents.length === 2;
  return (isMergeCommit ? found.parents.at(-1) : undefined) ?? sha;
}

function readText(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '');
}

async function chooseBranch(branch: string, checkout: () => Promise<Checkout | undefined>): Promise<string> {
  if (branch !== '') return branch;
  const found = (await checkout())?.branch;
  if (found) return cleanBranch(found);
  throw usageError(
    'Say which branch was tested: --branch. Neither the environment of a known CI nor the git work tree here tells it.',
  );
}

/** With the platform: a job that runs on several has one name, and a test that fails on one of them is not flaky. */
function nameJob(job: string): string {
  const name = clean(job).trim();
  return name === '' ? '' : `${name} on ${process.platform}-${process.arch}`;
}
