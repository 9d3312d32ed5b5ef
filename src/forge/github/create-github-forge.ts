import { createGit } from '../../git/create-git.ts';
import type { Timing } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { testBranch } from '../candidate/candidate-refs.ts';
import type { Forge } from '../forge.ts';
import type { Hosting } from '../hosting.ts';
import { type ClientOptions, createGithubClient, type GithubClient } from './api/client.ts';
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
import { checkAccess } from './check-access.ts';
import { createHosting } from './create-hosting.ts';
import { findPullRequest } from './facts.ts';
import { createGitAccess } from './git-access.ts';
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
