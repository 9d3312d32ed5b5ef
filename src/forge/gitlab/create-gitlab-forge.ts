import type { PrNumber } from '../../engine/model/pull-request.ts';
import { bound } from '../../lib/bound.ts';
import type { Forge } from '../forge.ts';
import type { HostedAdapter, HostedRemote } from '../hosted/adapter.ts';
import { createHostedForge, type HostedOptions } from '../hosted/create-hosted-forge.ts';
import { keyOf } from '../hosted/repository-key.ts';
import type { Hosting } from '../hosting.ts';
import { GitlabClient, type GitlabClientOptions, identityOf } from './api/client.ts';
import type { MergeRequestData } from './api/data.ts';
import { cancelRuns, PIPELINE, readChecks } from './checks.ts';
import { findOwnComment, react, readComment, writeComment } from './comments.ts';
import { createTrees, findPullRequest, findPullRequests, type GitlabTools, isFork } from './facts.ts';
import { inspect } from './inspect.ts';
import { judgeForTarget } from './judge-for-target.ts';
import { changeLabels, readLabel } from './labels.ts';
import { createSettling, findOpenStates } from './landed-requests.ts';
import { findPermission } from './people.ts';
import { poll } from './poll.ts';
import { retarget } from './retarget.ts';
import { openPullRequest } from './test-branches.ts';
import { createGitlabDeliveryReader } from './webhook.ts';
import { hintsOf } from './webhook-events.ts';

export interface GitlabForgeOptions extends GitlabClientOptions, Omit<HostedOptions, 'testBranchPrefix'> {
  readonly testBranchPrefix?: string;
}

export interface GitlabForge extends Forge {
  readonly hosting: Hosting;
  readonly client: GitlabClient;
}

/** Known by number, so that a renamed or transferred project is the same one. */
export function createGitlabForge({ testBranchPrefix = 'sluice', ...options }: GitlabForgeOptions): GitlabForge {
  const client = new GitlabClient(options);
  const tools: GitlabTools = { client, clock: options.clock, trees: createTrees() };
  const hosting = createHosting(tools, testBranchPrefix);
  const adapter: HostedAdapter = {
    hosting,
    remote: remoteOf(client),
    merging: bound(tools, { findOpenStates }),
    pullRequestRef: (number: PrNumber) => `refs/merge-requests/${number}/head`,
    pinsReporters: true,
    ...bound(tools, { findPullRequest }),
    ...bound(client, { openPullRequest }),
    ...bound({ client, testBranchPrefix }, { cancelRuns }),
    async readRequiredChecks(repository) {
      const { only_allow_merge_if_pipeline_succeeds: isRequired } = await client.resolve(repository);
      return isRequired === true ? [PIPELINE] : [];
    },
    async checkRepository(repository) {
      const found = await client.resolve(repository);
      const { path_with_namespace: name } = found;
      if (keyOf(identityOf(found)) !== keyOf(repository)) return `GitLab calls this project ${name}.`;
      return found.archived === true ? `The project ${name} is archived: nothing can be merged there.` : undefined;
    },
    close: () => client.close(),
  };
  return { ...createHostedForge(adapter, { ...options, testBranchPrefix }), hosting, client };
}

function remoteOf(client: GitlabClient): HostedRemote {
  const { url, deployKeyFile } = client.connection;
  return {
    title: 'GitLab',
    webUrl: url,
    resolve: async (repository) => identityOf(await client.resolve(repository)),
    // GitLab reads the token as the password, whatever the user.
    authorize: async () => ({ user: 'sluice', token: client.token }),
    ...(deployKeyFile !== undefined && {
      async pushBy(repository) {
        const { ssh_url_to_repo: address = '' } = await client.resolve(repository);
        return { url: address, keyFile: deployKeyFile };
      },
    }),
    forget: async () => client.forget(),
  };
}

function createHosting(tools: GitlabTools, testBranchPrefix: string): Hosting {
  const { client, clock } = tools;
  const checks = { client, testBranchPrefix };
  return {
    kind: 'gitlab',
    usualLanding: 'PUSH',
    ...createGitlabDeliveryReader((_event, payload) => hintsOf(payload, client.ownId), {
      secret: () => client.connection.webhookSecret,
      now: () => clock.now(),
    }),
    forget: () => client.forget(),
    identify: async (repository) => identityOf(await client.resolve(repository, { isAsked: true })),
    async findById({ forgeId }) {
      const path = `/projects/${encodeURIComponent(forgeId ?? '')}`;
      const found = forgeId && (await client.find<Parameters<typeof identityOf>[0]>({ path }));
      return found ? identityOf(found) : undefined;
    },
    ...bound(checks, { poll, readChecks }),
    ...bound(client, { findPermission, retarget }),
    async findByBranch(repository, branch) {
      const query = { state: 'opened', source_branch: branch };
      const { items } = await client.readPage<MergeRequestData>({ repository, path: '/merge_requests', query });
      return items.find((request) => !isFork(request))?.iid;
    },
    ...bound(tools, { findPullRequests, judgeForTarget, readComment, readLabel }),
    ...bound(tools, { writeComment, findOwnComment, react, changeLabels }),
    needsSettling: () => true,
    settleLanded: createSettling(tools),
    ...bound(checks, { inspect }),
  };
}
