import { type BranchClass, type BranchRules, classifyBranch, cleanBranch } from './branch.ts';
import { CI_PLATFORMS, type Env, type PlatformFacts, parsePrNumber } from './ci-platforms.ts';
import type { RepositoryName } from './repository-url.ts';

/** Facts about the commit from the client's checkout; empty: unknown. */
export interface CommitFacts {
  readonly branch: string;
  readonly message: string;
  readonly authorName: string;
  readonly authorEmail: string;
  /** The client had no checkout and its user passed these values, so they win over the environment. */
  readonly isUncloned: boolean;
}

/** The CI context of a run. Empty: unknown. */
export interface CiFacts {
  /** Null: no known platform. */
  readonly platform: string | null;
  readonly branch: string;
  readonly branchClass: BranchClass;
  readonly prNumber: number | null;
  readonly jobUrl: string;
  readonly workflow: string;
  readonly job: string;
  readonly authorName: string;
  readonly authorEmail: string;
  readonly commitMessage: string;
}

export interface CiSources {
  readonly envs: ReadonlyMap<string, string>;
  readonly commit: CommitFacts;
  readonly rules: BranchRules;
}

// SPEC U11
export function readCiFacts({ envs, commit, rules }: CiSources): CiFacts {
  const env: Env = (name) => envs.get(name) || undefined;
  const platform = CI_PLATFORMS.find(({ sign }) => env(sign) !== undefined);
  const said = platform?.read(env) ?? {};
  const prNumber = readPrNumber(said, env);
  const pick = (ofCi: string | undefined, ofCommit: string): string =>
    (commit.isUncloned ? ofCommit || ofCi : ofCi || ofCommit) ?? '';
  const branch = cleanBranch(pick(said.branch, commit.branch));
  return {
    platform: platform?.name ?? null,
    branch,
    branchClass: classifyBranch({ branch, prNumber, isMergeTrain: said.isMergeTrain ?? false }, rules),
    prNumber,
    jobUrl: said.jobUrl ?? '',
    workflow: said.workflow ?? '',
    job: said.job ?? '',
    authorName: pick(said.authorName, commit.authorName),
    authorEmail: pick(said.authorEmail, commit.authorEmail),
    commitMessage: pick(said.commitMessage, commit.message),
  };
}

/** The uploader's explicit option wins over the platform's variable. */
function readPrNumber(said: PlatformFacts, env: Env): number | null {
  return parsePrNumber(env('TRUNK_PR_NUMBER') ?? '') ?? parsePrNumber(said.prNumber ?? '');
}

type Envs = ReadonlyMap<string, string>;

/** Variables with job names that the uploader's own tables do not have. */
const JOB_NAMES = ['BUILDKITE_LABEL', 'BUILDKITE_STEP_KEY', 'SYSTEM_JOBDISPLAYNAME', 'TRAVIS_JOB_NAME', 'JOB_NAME'];
/** These platforms give each run its own job id, so the id cannot match two runs of one job. */
const NAMES_BY_RUN: ReadonlySet<string | null> = new Set(['bitbucket', 'cloud-build']);

/** The job's name, equal in each of its runs; empty: unknown. */
// SPEC U28
export function jobNameOf({ platform, workflow, job }: CiFacts, envs: Envs): string {
  if (platform === 'cloud-build') return workflow;
  const own = NAMES_BY_RUN.has(platform) ? [] : [workflow, job];
  const said = [...new Set(own)].filter((name) => name !== '');
  if (said.length > 0) return said.join(' / ');
  return JOB_NAMES.map((name) => envs.get(name) ?? '').find((name) => name !== '') ?? '';
}

/** Counted from 1; Buildkite counts from 0. */
const ATTEMPTS = ['GITHUB_RUN_ATTEMPT', 'SYSTEM_JOBATTEMPT', 'BITBUCKET_STEP_RUN_NUMBER'];

/** The attempt number of the job, if CI counts attempts. */
// SPEC U63
export function jobAttemptOf(envs: Envs): number | null {
  const retries = parseCount(envs.get('BUILDKITE_RETRY_COUNT'));
  if (retries !== null) return retries + 1;
  return ATTEMPTS.map((name) => parseCount(envs.get(name))).find((attempt) => attempt !== null) ?? null;
}

function parseCount(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,6}$/.test(text) ? Number(text) : null;
}

/** Pairs of variables: the repository that a pull request comes from, and the one it goes to. */
const SIDES: readonly (readonly [string, string])[] = [
  ['CI_MERGE_REQUEST_SOURCE_PROJECT_ID', 'CI_MERGE_REQUEST_PROJECT_ID'],
  ['CI_MERGE_REQUEST_SOURCE_PROJECT_PATH', 'CI_MERGE_REQUEST_PROJECT_PATH'],
  ['BUILDKITE_PULL_REQUEST_REPO', 'BUILDKITE_REPO'],
  ['TRAVIS_PULL_REQUEST_SLUG', 'TRAVIS_REPO_SLUG'],
  ['SEMAPHORE_GIT_PR_SLUG', 'SEMAPHORE_GIT_REPO_SLUG'],
];
/** Set only for forks, or to true. */
const SIGNS = ['CIRCLE_PR_REPONAME', 'CHANGE_FORK'];

/**
 * True if the environment says that the commit comes from a fork. False proves nothing: the environment may be silent.
 */
// SPEC U63
export function isForkRun(envs: Envs, { owner }: Pick<RepositoryName, 'owner'>): boolean {
  const said = (key: string) => envs.get(key) ?? '';
  if (SIGNS.some((sign) => said(sign) !== '')) return true;
  if (said('SYSTEM_PULLREQUEST_ISFORK').toLowerCase() === 'true') return true;
  // GitHub runs pushes to a fork in the fork.
  const [ranAt = ''] = said('GITHUB_REPOSITORY').split('/');
  if (ranAt !== '' && ranAt.toLowerCase() !== owner.toLowerCase()) return true;
  return SIDES.some(([from, to]) => said(from) !== '' && said(to) !== '' && plain(said(from)) !== plain(said(to)));
}

/** The read and write addresses of one repository differ in scheme and user. */
function plain(address: string): string {
  return address
    .toLowerCase()
    .replace(/^\w+:\/\/(?:[^@/]+@)?/, '')
    .replace(/^[^@/]+@/, '')
    .replace(':', '/')
    .replace(/(?:\.git)?\/*$/, '');
}
