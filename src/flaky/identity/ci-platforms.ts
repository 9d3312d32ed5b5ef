// The variables of each CI system. A row reads variables through `env`, which returns undefined for empty ones.

/** Reads one variable of the run's environment; undefined: not set, or empty. */
export type Env = (name: string) => string | undefined;

/** Facts about a run from its platform. Missing facts come from the repository. */
export interface PlatformFacts {
  readonly branch?: string | undefined;
  /** Unparsed: only digits are a number. */
  readonly prNumber?: string | undefined;
  readonly jobUrl?: string | undefined;
  readonly workflow?: string | undefined;
  readonly job?: string | undefined;
  readonly authorName?: string | undefined;
  readonly authorEmail?: string | undefined;
  readonly commitMessage?: string | undefined;
  readonly isMergeTrain?: boolean;
}

export interface CiPlatform {
  readonly name: string;
  /** The variable whose presence identifies the platform. */
  readonly sign: string;
  readonly read: (env: Env) => PlatformFacts;
}

/** In order of precedence: if several signs are set, one system runs inside another. */
export const CI_PLATFORMS: readonly CiPlatform[] = [
  { name: 'custom', sign: 'CUSTOM', read: readCustom },
  { name: 'cloud-build', sign: 'TRIGGER_NAME', read: readCloudBuild },
  { name: 'github', sign: 'GITHUB_ACTIONS', read: readGitHub },
  { name: 'circleci', sign: 'CIRCLECI', read: readCircle },
  { name: 'buildkite', sign: 'BUILDKITE', read: readBuildkite },
  { name: 'semaphore', sign: 'SEMAPHORE', read: readSemaphore },
  { name: 'travis', sign: 'TRAVIS', read: () => ({}) },
  { name: 'webappio', sign: 'WEBAPPIO', read: () => ({}) },
  { name: 'codebuild', sign: 'CODEBUILD_BUILD_ID', read: () => ({}) },
  { name: 'bitbucket', sign: 'BITBUCKET_BUILD_NUMBER', read: readBitbucket },
  { name: 'azure', sign: 'TF_BUILD', read: () => ({}) },
  { name: 'gitlab', sign: 'GITLAB_CI', read: readGitLab },
  { name: 'drone', sign: 'DRONE', read: readDrone },
  { name: 'bamboo', sign: 'bamboo_buildNumber', read: readBamboo },
  // Last, because other systems set BUILD_ID too.
  { name: 'jenkins', sign: 'BUILD_ID', read: readJenkins },
];

function readCustom(env: Env): PlatformFacts {
  return {
    branch: env('COMMIT_BRANCH'),
    prNumber: env('PR_NUMBER'),
    jobUrl: env('JOB_URL'),
    workflow: env('JOB_NAME'),
    job: env('JOB_NAME'),
    authorName: env('AUTHOR_NAME'),
    authorEmail: env('AUTHOR_EMAIL'),
    commitMessage: env('COMMIT_MESSAGE'),
  };
}

function readGitHub(env: Env): PlatformFacts {
  const prNumber = /^refs\/pull\/([^/]+)\//.exec(env('GITHUB_REF') ?? '')?.[1];
  const repository = env('GITHUB_REPOSITORY');
  const run = env('GITHUB_RUN_ID');
  const isNumber = prNumber !== undefined && parsePrNumber(prNumber) !== null;
  const runUrl =
    repository === undefined || run === undefined
      ? undefined
      : `https://github.com/${repository}/actions/runs/${run}${isNumber ? `?pr=${prNumber}` : ''}`;
  return {
    branch: env('GITHUB_HEAD_REF') ?? env('GITHUB_REF'),
    prNumber,
    jobUrl: env('JOB_URL') ?? runUrl,
    workflow: env('GITHUB_WORKFLOW'),
    job: env('GITHUB_JOB'),
  };
}

function readJenkins(env: Env): PlatformFacts {
  return {
    branch: env('CHANGE_BRANCH') ?? env('BRANCH_NAME'),
    prNumber: env('CHANGE_ID'),
    jobUrl: env('BUILD_URL'),
    authorName: env('CHANGE_AUTHOR_DISPLAY_NAME'),
    authorEmail: env('CHANGE_AUTHOR_EMAIL'),
  };
}

function readBuildkite(env: Env): PlatformFacts {
  const build = env('BUILDKITE_BUILD_URL');
  const job = env('BUILDKITE_JOB_ID');
  return {
    branch: env('BUILDKITE_BRANCH'),
    prNumber: env('BUILDKITE_PULL_REQUEST'),
    jobUrl: build === undefined || job === undefined ? build : `${build}#${job}`,
    authorName: env('BUILDKITE_BUILD_AUTHOR'),
    authorEmail: env('BUILDKITE_BUILD_AUTHOR_EMAIL'),
  };
}

function readSemaphore(env: Env): PlatformFacts {
  const parts = [env('SEMAPHORE_ORGANIZATION_URL'), env('SEMAPHORE_PROJECT_ID'), env('SEMAPHORE_JOB_ID')];
  return {
    branch: env('SEMAPHORE_GIT_PR_BRANCH') ?? env('SEMAPHORE_GIT_WORKING_BRANCH') ?? env('SEMAPHORE_GIT_BRANCH'),
    prNumber: env('SEMAPHORE_GIT_PR_NUMBER'),
    jobUrl: parts.includes(undefined) ? undefined : `${parts[0]}/projects/${parts[1]}/jobs/${parts[2]}`,
    workflow: env('SEMAPHORE_PROJECT_NAME'),
    job: env('SEMAPHORE_JOB_NAME'),
    authorName: env('SEMAPHORE_GIT_COMMIT_AUTHOR'),
  };
}

function readGitLab(env: Env): PlatformFacts {
  const branch = env('CI_COMMIT_REF_NAME') ?? env('CI_COMMIT_BRANCH') ?? env('CI_MERGE_REQUEST_SOURCE_BRANCH_NAME');
  const by = env('CI_COMMIT_AUTHOR') ?? '';
  const bracket = by.indexOf('<');
  const person = { authorName: by.slice(0, bracket).trim(), authorEmail: by.slice(bracket + 1).replaceAll('>', '') };
  return {
    branch: branch?.replace(/^remotes\//, ''),
    prNumber: env('CI_MERGE_REQUEST_IID'),
    jobUrl: env('CI_JOB_URL'),
    workflow: env('CI_JOB_NAME'),
    job: env('CI_JOB_STAGE'),
    ...(bracket < 0 ? {} : person),
    commitMessage: env('CI_COMMIT_MESSAGE'),
    isMergeTrain: env('CI_MERGE_REQUEST_EVENT_TYPE') === 'merge_train',
  };
}

function readDrone(env: Env): PlatformFacts {
  return {
    branch: env('DRONE_SOURCE_BRANCH'),
    prNumber: env('DRONE_PULL_REQUEST'),
    jobUrl: env('DRONE_BUILD_LINK'),
    authorName: env('DRONE_COMMIT_AUTHOR_NAME'),
    authorEmail: env('DRONE_COMMIT_AUTHOR_EMAIL'),
  };
}

function readBitbucket(env: Env): PlatformFacts {
  const parts = [env('BITBUCKET_WORKSPACE'), env('BITBUCKET_REPO_SLUG'), env('BITBUCKET_BUILD_NUMBER')];
  const step = env('BITBUCKET_STEP_UUID');
  const run = `https://bitbucket.org/${parts[0]}/${parts[1]}/pipelines/results/${parts[2]}`;
  return {
    branch: env('BITBUCKET_BRANCH'),
    prNumber: env('BITBUCKET_PR_ID'),
    jobUrl: parts.includes(undefined)
      ? undefined
      : `${run}${step === undefined ? '' : `/steps/${encodeURIComponent(step)}`}`,
    workflow: env('BITBUCKET_PIPELINE_UUID'),
    job: step,
  };
}

function readCircle(env: Env): PlatformFacts {
  return {
    branch: env('CIRCLE_BRANCH'),
    prNumber: env('CIRCLE_PR_NUMBER') ?? env('CIRCLE_PULL_REQUEST')?.split('/').at(-1),
    jobUrl: circleLink(env) ?? env('CIRCLE_BUILD_URL'),
    job: env('CIRCLE_JOB'),
  };
}

/** The build's own URL does not show its containers; this one does. */
function circleLink(env: Env): string | undefined {
  const project = /^https:\/\/circleci\.com\/gh\/([^/]+\/[^/]+)\//.exec(env('CIRCLE_BUILD_URL') ?? '')?.[1];
  const pipeline = [project, env('CIRCLE_PIPELINE_ID'), 'workflows', env('CIRCLE_WORKFLOW_ID')];
  const job = ['jobs', env('CIRCLE_BUILD_NUM'), 'parallel-runs', env('CIRCLE_NODE_INDEX')];
  const parts = [...pipeline, ...job];
  return parts.includes(undefined) ? undefined : `https://app.circleci.com/pipelines/github/${parts.join('/')}`;
}

function readBamboo(env: Env): PlatformFacts {
  return {
    branch: env('bamboo_planRepository_branch') ?? env('bamboo_planRepository_branchName'),
    prNumber: env('bamboo_repository_pr_key'),
    jobUrl: env('bamboo_buildResultsUrl') ?? env('bamboo_resultsUrl'),
    workflow: env('bamboo_planName'),
    job: env('bamboo_shortJobName'),
  };
}

function readCloudBuild(env: Env): PlatformFacts {
  const build = env('BUILD_ID');
  const project = env('PROJECT_ID');
  const link = `https://console.cloud.google.com/cloud-build/builds/${build}?project=${project}`;
  return {
    branch: env('_HEAD_BRANCH') ?? env('BRANCH_NAME'),
    prNumber: env('_PR_NUMBER'),
    jobUrl: build === undefined || project === undefined ? undefined : link,
    workflow: env('TRIGGER_NAME'),
    job: build,
  };
}

/** CI systems write `false` and the like if there is no pull request. */
export function parsePrNumber(text: string): number | null {
  return /^\d{1,9}$/.test(text) ? Number(text) : null;
}
