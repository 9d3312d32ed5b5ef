import type { CiFacts } from './ci-facts.ts';
import type { RepositoryName } from './repository-url.ts';

type Envs = ReadonlyMap<string, string>;

/** Names of jobs where the tables of the uploader know none. */
const JOB_NAMES = ['BUILDKITE_LABEL', 'BUILDKITE_STEP_KEY', 'SYSTEM_JOBDISPLAYNAME', 'TRAVIS_JOB_NAME', 'JOB_NAME'];
/** These give each run a job id of its own, which tells nothing about two runs of one job. */
const NAMES_BY_RUN: ReadonlySet<string | null> = new Set(['bitbucket', 'cloud-build']);

/** What the job is called, the same in each of its runs; empty: nobody says. */
export function jobNameOf({ platform, workflow, job }: CiFacts, envs: Envs): string {
  if (platform === 'cloud-build') return workflow;
  const own = NAMES_BY_RUN.has(platform) ? [] : [workflow, job];
  const said = [...new Set(own)].filter((name) => name !== '');
  if (said.length > 0) return said.join(' / ');
  return JOB_NAMES.map((name) => envs.get(name) ?? '').find((name) => name !== '') ?? '';
}

/** Counted from 1, Buildkite's from 0. */
const ATTEMPTS = ['GITHUB_RUN_ATTEMPT', 'SYSTEM_JOBATTEMPT', 'BITBUCKET_STEP_RUN_NUMBER'];

/** Which try of the job this is, where CI counts them. */
export function jobAttemptOf(envs: Envs): number | null {
  const retries = parseCount(envs.get('BUILDKITE_RETRY_COUNT'));
  if (retries !== null) return retries + 1;
  return ATTEMPTS.map((name) => parseCount(envs.get(name))).find((attempt) => attempt !== null) ?? null;
}

function parseCount(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,6}$/.test(text) ? Number(text) : null;
}

/** Pairs of variables that name the repository of a pull request and the one it is for. */
const SIDES: readonly (readonly [string, string])[] = [
  ['CI_MERGE_REQUEST_SOURCE_PROJECT_ID', 'CI_MERGE_REQUEST_PROJECT_ID'],
  ['CI_MERGE_REQUEST_SOURCE_PROJECT_PATH', 'CI_MERGE_REQUEST_PROJECT_PATH'],
  ['BUILDKITE_PULL_REQUEST_REPO', 'BUILDKITE_REPO'],
  ['TRAVIS_PULL_REQUEST_SLUG', 'TRAVIS_REPO_SLUG'],
  ['SEMAPHORE_GIT_PR_SLUG', 'SEMAPHORE_GIT_REPO_SLUG'],
];
/** Set only for forks, or to true. */
const SIGNS = ['CIRCLE_PR_REPONAME', 'CHANGE_FORK'];

/** Whether the environment says that the commit is a fork's. It may be one where it says nothing. */
export function isForkRun(envs: Envs, { owner }: Pick<RepositoryName, 'owner'>): boolean {
  const said = (key: string) => envs.get(key) ?? '';
  if (SIGNS.some((sign) => said(sign) !== '')) return true;
  if (said('SYSTEM_PULLREQUEST_ISFORK').toLowerCase() === 'true') return true;
  // GitHub runs what is pushed to a fork in the fork.
  const [ranAt = ''] = said('GITHUB_REPOSITORY').split('/');
  if (ranAt !== '' && ranAt.toLowerCase() !== owner.toLowerCase()) return true;
  return SIDES.some(([from, to]) => said(from) !== '' && said(to) !== '' && plain(said(from)) !== plain(said(to)));
}

/** One repository has addresses for reading and for writing. */
function plain(address: string): string {
  return address
    .toLowerCase()
    .replace(/^\w+:\/\/(?:[^@/]+@)?/, '')
    .replace(/^[^@/]+@/, '')
    .replace(':', '/')
    .replace(/(?:\.git)?\/*$/, '');
}
