import type { CiFacts } from './ci-facts.ts';
import type { RepositoryName } from './repository-url.ts';

type Envs = ReadonlyMap<string, string>;

/** Variables with job names that the uploader's own tables do not have. */
const JOB_NAMES = ['BUILDKITE_LABEL', 'BUILDKITE_STEP_KEY', 'SYSTEM_JOBDISPLAYNAME', 'TRAVIS_JOB_NAME', 'JOB_NAME'];
/** These platforms give each run its own job id, so the id cannot match two runs of one job. */
const NAMES_BY_RUN: ReadonlySet<string | null> = new Set(['bitbucket', 'cloud-build']);

/** The job's name, equal in each of its runs; empty: unknown. */
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
