import type { Env } from '../../flaky/identity/ci-platforms.ts';

/** Variables that name the commit, and what the facts of the server leave to the checkout; the first that is set counts. */
interface CommitVariables {
  readonly sha: readonly string[];
  readonly branch?: readonly string[];
  /** Where a pull request of a fork runs for the repository it is to land in, that one. */
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

export interface CiCommit {
  readonly sha: string | undefined;
  readonly branch: string | undefined;
  readonly repoUrl: string | undefined;
  /** The commit is one that the forge made of a pull request and its target, for this run alone. */
  readonly isMerge: boolean;
}

export function readCiCommit(platform: string | null, env: Env): CiCommit {
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

/** Some systems write HEAD where they do not know it yet. */
function isSha(text: string | undefined): boolean {
  return /^[0-9a-f]{7,64}$/i.test(text ?? '');
}

interface Side {
  readonly sha?: unknown;
  readonly repo?: { readonly full_name?: unknown } | null;
}

export interface PullRequestEvent {
  readonly headSha: string | undefined;
  /** The pull request comes from another repository; one that is gone is another one too. */
  readonly isFork: boolean;
}

/** From the file in which GitHub Actions describes what it runs for; its variables do not say these things. */
export function readEvent(text: string): PullRequestEvent {
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
