import { createGit } from '../../git/create-git.ts';
import type { Timing } from '../../lib/clock.ts';
import { Fault } from '../../lib/fault.ts';
import type { Log } from '../../lib/log.ts';
import { testBranch } from '../candidate/candidate-refs.ts';
import type { Forge, ForgeRepository } from '../forge.ts';
import type { Hosting } from '../hosting.ts';
import { type ClientOptions, createGithubClient, type GithubClient } from './api/client.ts';
import { keyOf } from './api/installations.ts';
import { findBranchHead, hasCommit, isAncestor, listLine, listPullRequestHeads } from './branches.ts';
import {
  buildCandidate,
  type CandidateParts,
  checkOut,
  discardCandidate,
  focusOnLanding,
  listCandidateIds,
  publishCandidate,
} from './candidates.ts';
import { createHosting } from './create-hosting.ts';
import { findPullRequest } from './facts.ts';
import { createGitAccess, type GitAccess } from './git-access.ts';
import { describeNoContents } from './inspect/permissions.ts';
import { inspect } from './inspect.ts';
import { landOnGithub } from './land.ts';
import { createProtection, type Protection } from './protection.ts';
import { createReadDelivery } from './webhook.ts';
import { findWorkflowRun } from './workflow-run.ts';

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
  readonly hosting: Hosting;
  readonly client: GithubClient;
}

/** Pull requests, checks and merges go through the API; commits and branches go through git. */
export function createGithubForge({ testBranchPrefix = 'sluice', ...options }: GithubForgeOptions): GithubForge {
  const { directory, clock, remoteWaitMs } = options;
  const client = createGithubClient(options);
  const git = createGit({ directory, clock, ...(remoteWaitMs !== undefined && { remoteWaitMs }) });
  const access = createGitAccess(git, client);
  const protection = createProtection({ client, clock });
  const parts: CandidateParts = { access, client, protection, testBranchPrefix };
  return {
    client,
    hosting: hostingOf(options, { client, protection, testBranchPrefix }),
    findPullRequest: (query) => findPullRequest({ client, protection }, query),
    findBranchHead: (repository, branch) => findBranchHead(access, repository, branch),
    listPullRequestHeads: (repository) => listPullRequestHeads(client, repository),
    isAncestor: (question) => isAncestor(access, question),
    hasCommit: (repository, sha) => hasCommit(access, repository, sha),
    listLine: (question) => listLine(access, question),
    buildCandidate: (request) => buildCandidate(parts, request),
    testBranchOf: (branch) => testBranch(testBranchPrefix, branch),
    publishCandidate: (request) => publishCandidate(parts, request),
    checkOut: (request) => checkOut(parts, request),
    discardCandidate: (request) => discardCandidate(parts, request),
    listCandidateIds: (repository) => listCandidateIds(parts, repository),
    landCandidate: (request) =>
      access.ask(request.repository, async (opened) =>
        landOnGithub({ git: await focusOnLanding(opened, request), client, clock }, request),
      ),
    checkAccess: (repository) => checkAccess(parts, repository),
    async close() {
      client.close();
      await git.close();
    },
  };
}

interface HostingParts {
  readonly client: GithubClient;
  readonly protection: Protection;
  readonly testBranchPrefix: string;
}

function hostingOf({ connection }: GithubForgeOptions, parts: HostingParts): Hosting {
  const { client, protection } = parts;
  const { auth } = connection;
  return createHosting({
    client,
    protection,
    readDelivery: createReadDelivery({
      secret: () => client.webhookSecret(),
      onMismatch: () => client.rereadWebhookSecret(),
      ownAppId: auth.kind === 'app' ? Number(auth.appId) : undefined,
    }),
    inspect: (repository, branch, queue) => inspect(parts, repository, branch, queue),
    findWorkflowRun: (repository, runId) => findWorkflowRun(client, repository, runId),
  });
}

/** Answers a sentence when the repository cannot be used, or undefined when it can. */
// SPEC G7
export async function checkAccess(
  { client, access }: { readonly client: GithubClient; readonly access: GitAccess },
  repository: ForgeRepository,
): Promise<string | undefined> {
  client.forget(repository.owner, repository.name);
  try {
    const { fullName, isArchived, ...found } = await client.resolve(repository);
    // Webhooks carry GitHub's name for the repository. GitHub ignores case.
    if (keyOf(found) !== keyOf(repository)) return `GitHub calls this repository ${fullName}.`;
    if (isArchived) return `The repository ${fullName} is archived: nothing can be merged there.`;
    const problem = await access.findProblem(repository);
    return problem === undefined ? undefined : ((await describeMissing(client, repository)) ?? problem);
  } catch (error) {
    if (error instanceof Fault && error.code === 'FORGE_UNAVAILABLE') return error.detail;
    throw error;
  }
}

/** Git's error does not name the missing permission. */
async function describeMissing(client: GithubClient, repository: ForgeRepository): Promise<string | undefined> {
  const { isApp, permissions } = await client.installation(repository);
  return isApp ? describeNoContents(permissions) : undefined;
}
