import type { PrNumber } from '../../engine/model/pull-request.ts';
import { createGit } from '../../git/create-git.ts';
import { bound } from '../../lib/bound.ts';
import type { Timing } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { Sha } from '../../lib/sha.ts';
import { pullRequestRef } from '../candidate/pull-request-ref.ts';
import type { Forge, ForgeRepository } from '../forge.ts';
import type { HostedAdapter, HostedRemote } from '../hosted/adapter.ts';
import { createHostedForge } from '../hosted/create-hosted-forge.ts';
import { keyOf } from '../hosted/repository-key.ts';
import type { Hosting, WorkflowRunFacts } from '../hosting.ts';
import { type ClientOptions, GithubClient } from './api/client.ts';
import { createHosting, identify } from './create-hosting.ts';
import { findPullRequest } from './facts.ts';
import { describeNoContents } from './inspect/permissions.ts';
import { inspect } from './inspect.ts';
import { createMerging } from './merging.ts';
import { createProtection, type Protection } from './protection.ts';
import { cancelRuns, openDraft } from './test-branches.ts';
import { createReadGithubDelivery } from './webhook.ts';

export interface GithubForgeOptions extends ClientOptions {
  /** Folder for the local copies of repositories. */
  readonly directory: string;
  readonly testBranchPrefix?: string;
  readonly clock: Timing;
  readonly log: Log;
  /** How long a caller waits for a git fetch before it gets an error. */
  readonly remoteWaitMs?: number;
}

export interface GithubForge extends Forge {
  readonly hosting: Required<Hosting>;
  readonly client: GithubClient;
}

export function createGithubForge({ testBranchPrefix = 'sluice', ...options }: GithubForgeOptions): GithubForge {
  const { directory, clock, remoteWaitMs } = options;
  const client = new GithubClient(options);
  const protection = createProtection({ client, clock });
  const hosting = hostingOf(options, { client, protection, testBranchPrefix });
  const adapter: HostedAdapter = {
    hosting,
    remote: remoteOf(client),
    merging: createMerging({ client, clock }),
    pullRequestRef,
    readRequiredChecks: async (repository, branch) => (await protection.readRules(repository, branch)).checks,
    ...bound({ client, protection }, { findPullRequest }),
    ...bound(client, { openDraft, cancelRuns, checkRepository, explainNoAccess }),
    close: () => client.close(),
  };
  const git = createGit({ directory, clock, remoteWaitMs });
  return { ...createHostedForge(adapter, { git, clock, testBranchPrefix }), hosting, client };
}

export function remoteOf(client: GithubClient): HostedRemote {
  return {
    title: 'GitHub',
    webUrl: client.connection.webUrl,
    resolve: (repository) => identify(client, repository),
    authorize: async (repository) => ({
      user: 'x-access-token',
      token: await client.installationToken(repository),
    }),
    async forget(repository, token) {
      try {
        if (token !== undefined) await client.dropToken(repository, token);
      } finally {
        client.forget(repository.owner, repository.name);
      }
    },
  };
}

interface HostingParts {
  readonly client: GithubClient;
  readonly protection: Protection;
  readonly testBranchPrefix: string;
}

function hostingOf({ connection }: GithubForgeOptions, parts: HostingParts): Required<Hosting> {
  const { client, protection } = parts;
  const { auth } = connection;
  return createHosting({
    client,
    protection,
    readDelivery: createReadGithubDelivery({
      secret: () => client.webhookSecret(),
      onMismatch: () => client.rereadWebhookSecret(),
      ownAppId: auth.kind === 'app' ? Number(auth.appId) : undefined,
    }),
    inspect: (repository, branch, queue) => inspect(parts, repository, branch, queue),
    findWorkflowRun: (repository, runId) => findWorkflowRun(client, repository, runId),
  });
}

async function checkRepository(client: GithubClient, repository: ForgeRepository): Promise<string | undefined> {
  const { fullName, isArchived, ...found } = await client.resolve(repository);
  // Webhooks carry GitHub's name for the repository. GitHub ignores case.
  if (keyOf(found) !== keyOf(repository)) return `GitHub calls this repository ${fullName}.`;
  return isArchived ? `The repository ${fullName} is archived: nothing can be merged there.` : undefined;
}

async function explainNoAccess(client: GithubClient, repository: ForgeRepository): Promise<string | undefined> {
  const { isApp, permissions } = await client.installation(repository);
  return isApp ? describeNoContents(permissions) : undefined;
}

interface Run {
  readonly event?: string;
  readonly status?: string | null;
  readonly head_sha?: string;
  readonly head_branch?: string | null;
  readonly head_repository?: { readonly id?: number; readonly owner?: { readonly login?: string } | null } | null;
}

interface Pull {
  readonly number: number;
  readonly head?: { readonly sha?: string; readonly ref?: string; readonly repo?: { readonly id?: number } | null };
}

/** Reads the run now. Undefined when this repository has no such run. */
export async function findWorkflowRun(
  client: GithubClient,
  repository: ForgeRepository,
  runId: string,
): Promise<WorkflowRunFacts | undefined> {
  const { status, data: run } = await client.request<Run>({
    repository,
    route: 'GET /repos/{owner}/{repo}/actions/runs/{run_id}',
    parameters: { run_id: runId },
    urgency: 'page',
    accept: [404],
  });
  if (status === 404 || run.event === undefined || run.head_sha === undefined) return undefined;
  const isLive = run.status !== 'completed';
  return {
    event: run.event,
    isLive,
    headSha: run.head_sha as Sha,
    // Further reads are needed only for a run that can be a proof.
    prNumbers: isLive && run.event === 'pull_request' ? await findPullRequests(client, repository, run) : [],
  };
}

/** GitHub does not list pull requests of forks on a run, so they are found by their head. */
async function findPullRequests(
  client: GithubClient,
  repository: ForgeRepository,
  { head_sha, head_branch, head_repository }: Run,
): Promise<readonly PrNumber[]> {
  const owner = head_repository?.owner?.login;
  if (owner === undefined || !head_branch) return [];
  const { data } = await client.request<readonly Pull[]>({
    repository,
    route: 'GET /repos/{owner}/{repo}/pulls',
    parameters: { state: 'open', head: `${owner}:${head_branch}`, per_page: 100 },
    urgency: 'page',
  });
  return data
    .filter(({ head }) => head?.sha === head_sha && head?.ref === head_branch && head?.repo?.id === head_repository?.id)
    .map(({ number }) => number as PrNumber);
}
