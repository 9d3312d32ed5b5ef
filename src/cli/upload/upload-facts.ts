import { readFile } from 'node:fs/promises';
import { cleanBranch } from '../../flaky/identity/branch.ts';
import { isForkRun, jobAttemptOf, jobNameOf, readCiFacts } from '../../flaky/identity/ci-facts.ts';
import type { Env } from '../../flaky/identity/ci-platforms.ts';
import { parseRepositoryUrl } from '../../flaky/identity/repository-url.ts';
import { cutVariant } from '../../flaky/identity/test-id.ts';
import type { Checkout } from '../../git/read-checkout.ts';
import type { RepoRef } from '../core/arguments.ts';
import { CliError, usageError } from '../core/exit.ts';
import { clean } from '../core/terminal.ts';
import type { UploadOptions } from './options.ts';

export type GivenFacts = Partial<UploadOptions>;

/** The facts sent with the reports. A text that is empty is not sent. */
export type UploadFacts = Awaited<ReturnType<typeof chooseFacts>>;

interface RunSources {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Called only for facts that no other source has. */
  readonly findCheckout: () => Promise<Checkout | undefined>;
}

export interface FactSources extends RunSources {
  readonly findRepo: (checkout: Checkout | undefined) => Promise<RepoRef>;
}

const NO_COMMIT = { branch: '', message: '', authorName: '', authorEmail: '', isUncloned: false };
const NO_RULES = { testBranchPrefix: 'sluice-test', stableBranches: [] };

// SPEC W6
export async function chooseFacts(given: GivenFacts, sources: FactSources) {
  if (given.testRunId !== undefined && given.check === undefined) {
    throw usageError('Say which check of the candidate these are the results of: --check.');
  }
  const { envs, ci, commit, event, checkout, branch } = await readRun(sources);
  const repo = given.repo ?? parseRepositoryUrl(commit.repoUrl ?? '') ?? (await sources.findRepo(await checkout()));
  return {
    repo,
    sha: given.sha ?? (await chooseSha(commit, event, checkout)),
    branch: given.branch ?? (await chooseBranch(branch, checkout)),
    prNumber: given.pr ?? (ci.prNumber || null),
    jobName: given.job ?? nameJob(jobNameOf(ci, envs)),
    jobUrl: given.jobUrl ?? (/^https?:\/\/\S+$/i.test(ci.jobUrl) ? ci.jobUrl : ''),
    variant: cutVariant(given.variant),
    testRunId: given.testRunId ?? '',
    check: given.check ?? '',
    isFork: given.fork ?? (event.isFork || isForkRun(envs, repo)),
    // Some systems count from 0, which the server does not accept.
    jobAttempt: given.attempt ?? (jobAttemptOf(envs) || null),
  };
}

/** The branch and the commit alone; undefined where neither CI nor git tells. */
export async function findTested(given: Pick<GivenFacts, 'branch' | 'sha'>, sources: RunSources) {
  const { commit, event, checkout, branch } = await readRun(sources);
  const orNone = (found: Promise<string>): Promise<string | undefined> =>
    found.catch((error) => {
      if (error instanceof CliError) return undefined;
      throw error;
    });
  return {
    branch: given.branch ?? (await orNone(chooseBranch(branch, checkout))),
    sha: given.sha ?? (await orNone(chooseSha(commit, event, checkout))),
  };
}

async function readRun({ environment, findCheckout }: RunSources) {
  const env: Env = (name) => environment[name] || undefined;
  const envs = new Map(Object.entries(environment).map(([name, value]) => [name, value ?? '']));
  const ci = readCiFacts({ envs, commit: NO_COMMIT, rules: NO_RULES });
  const commit = readCiCommit(ci.platform, env);
  const event = readEvent(ci.platform === 'github' ? await readText(env('GITHUB_EVENT_PATH') ?? '') : '');
  let asked: Promise<Checkout | undefined> | undefined;
  const checkout = (): Promise<Checkout | undefined> => {
    asked ??= findCheckout();
    return asked;
  };
  return { envs, ci, commit, event, checkout, branch: ci.branch || cleanBranch(commit.branch ?? '') };
}

/** The merge with the target branch is another commit each time: two runs of one change share only its head. */
// SPEC W18
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

/** Includes the platform: a job of several has one name, and a test that fails on one of them is not flaky. */
function nameJob(job: string): string {
  const name = clean(job).trim();
  return name === '' ? '' : `${name} on ${process.platform}-${process.arch}`;
}

/** Variables for the commit and for facts that the server's tables leave to the checkout; the first one set counts. */
interface CommitVariables {
  readonly sha: readonly string[];
  readonly branch?: readonly string[];
  /** If a fork's pull request runs for the repository it goes to: that repository. */
  readonly repoUrl?: readonly string[];
}

const VARIABLES: Readonly<Record<string, CommitVariables>> = {
  github: { sha: ['GITHUB_SHA'] },
  gitlab: { sha: ['CI_COMMIT_SHA'], repoUrl: ['CI_MERGE_REQUEST_PROJECT_URL', 'CI_PROJECT_URL'] },
  jenkins: { sha: ['GIT_COMMIT'] },
  circleci: { sha: ['CIRCLE_SHA1'] },
  buildkite: { sha: ['BUILDKITE_COMMIT'], repoUrl: ['BUILDKITE_REPO'] },
  semaphore: { sha: ['SEMAPHORE_GIT_PR_SHA', 'SEMAPHORE_GIT_SHA'] },
  travis: {
    sha: ['TRAVIS_PULL_REQUEST_SHA', 'TRAVIS_COMMIT'],
    branch: ['TRAVIS_PULL_REQUEST_BRANCH', 'TRAVIS_BRANCH'],
  },
  codebuild: { sha: ['CODEBUILD_RESOLVED_SOURCE_VERSION'], branch: ['CODEBUILD_WEBHOOK_HEAD_REF'] },
  bitbucket: { sha: ['BITBUCKET_COMMIT'], repoUrl: ['BITBUCKET_GIT_HTTP_ORIGIN'] },
  azure: {
    sha: ['SYSTEM_PULLREQUEST_SOURCECOMMITID', 'BUILD_SOURCEVERSION'],
    branch: ['SYSTEM_PULLREQUEST_SOURCEBRANCH', 'BUILD_SOURCEBRANCH'],
  },
  drone: { sha: ['DRONE_COMMIT_SHA'], repoUrl: ['DRONE_GIT_HTTP_URL'] },
  bamboo: { sha: ['bamboo_planRepository_revision'] },
  'cloud-build': { sha: ['COMMIT_SHA'] },
};

interface CiCommit {
  readonly sha: string | undefined;
  readonly branch: string | undefined;
  readonly repoUrl: string | undefined;
  /** The forge made this commit from a pull request and its target branch, for this run alone. */
  readonly isMerge: boolean;
}

function readCiCommit(platform: string | null, env: Env): CiCommit {
  const names = VARIABLES[platform ?? ''];
  const first = (variables: readonly string[] = []): string | undefined =>
    variables.map(env).find((value) => value !== undefined);
  const isGitHub = platform === 'github';
  return {
    sha: first(names?.sha.filter((name) => isSha(env(name)))),
    branch: first(names?.branch),
    repoUrl: isGitHub ? gitHubUrl(env) : first(names?.repoUrl),
    isMerge: isGitHub && /^refs\/pull\/\d+\/merge$/.test(env('GITHUB_REF') ?? ''),
  };
}

function gitHubUrl(env: Env): string | undefined {
  const repository = env('GITHUB_REPOSITORY');
  return repository === undefined ? undefined : `${env('GITHUB_SERVER_URL') ?? 'https://github.com'}/${repository}`;
}

/** Some systems write HEAD while the commit is unknown. */
function isSha(text: string | undefined): boolean {
  return /^[0-9a-f]{7,64}$/i.test(text ?? '');
}

interface Side {
  readonly sha?: unknown;
  readonly repo?: { readonly full_name?: unknown } | null;
}

interface PullRequestEvent {
  readonly headSha: string | undefined;
  /** The pull request comes from another repository; a deleted one counts as another. */
  readonly isFork: boolean;
}

/** Reads the event file of GitHub Actions; its variables do not have these facts. */
function readEvent(text: string): PullRequestEvent {
  const { head, base } = parsePullRequest(text) ?? {};
  const isSaid = typeof base?.repo?.full_name === 'string' && head?.repo !== undefined;
  return {
    headSha: typeof head?.sha === 'string' && isSha(head.sha) ? head.sha : undefined,
    isFork: isSaid && head?.repo?.full_name !== base?.repo?.full_name,
  };
}

function parsePullRequest(text: string): { readonly head?: Side; readonly base?: Side } | null | undefined {
  try {
    const event = JSON.parse(text) as { readonly pull_request?: { readonly head?: Side; readonly base?: Side } } | null;
    return event?.pull_request;
  } catch {
    return undefined;
  }
}
