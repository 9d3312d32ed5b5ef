import { bound } from '../../lib/bound.ts';
import { pullRequestRef } from '../candidate/pull-request-ref.ts';
import type { Forge } from '../forge.ts';
import type { HostedAdapter, HostedRemote } from '../hosted/adapter.ts';
import { createHostedForge, type HostedOptions } from '../hosted/create-hosted-forge.ts';
import { keyOf } from '../hosted/repository-key.ts';
import type { Hosting } from '../hosting.ts';
import { type ClientOptions, GithubClient } from './api/client.ts';
import { createHosting, identify } from './create-hosting.ts';
import { findPullRequest } from './facts.ts';
import { describeNoContents } from './inspect/permissions.ts';
import { createMerging } from './merging.ts';
import { createProtection } from './protection.ts';
import { cancelRuns, openPullRequest } from './test-branches.ts';

export interface GithubForgeOptions extends ClientOptions, Omit<HostedOptions, 'testBranchPrefix'> {
  readonly testBranchPrefix?: string;
}

export interface GithubForge extends Forge {
  readonly hosting: Required<Hosting>;
  readonly client: GithubClient;
}

export function createGithubForge({ testBranchPrefix = 'sluice', ...options }: GithubForgeOptions): GithubForge {
  const { clock } = options;
  const client = new GithubClient(options);
  const protection = createProtection({ client, clock });
  const hosting = createHosting({ client, protection, testBranchPrefix });
  const adapter: HostedAdapter = {
    hosting,
    remote: remoteOf(client),
    merging: createMerging({ client, clock }),
    pullRequestRef,
    readRequiredChecks: async (repository, branch) => (await protection.readRules(repository, branch)).checks,
    ...bound({ client, protection }, { findPullRequest }),
    ...bound(client, { openPullRequest, cancelRuns }),
    async checkRepository(repository) {
      const { fullName, isArchived, ...found } = await client.resolve(repository);
      // Webhooks carry GitHub's name for the repository. GitHub ignores case.
      if (keyOf(found) !== keyOf(repository)) return `GitHub calls this repository ${fullName}.`;
      return isArchived ? `The repository ${fullName} is archived: nothing can be merged there.` : undefined;
    },
    async explainNoAccess(repository) {
      const { isApp, permissions } = await client.installation(repository);
      return isApp ? describeNoContents(permissions) : undefined;
    },
    close: () => client.close(),
  };
  return { ...createHostedForge(adapter, { ...options, testBranchPrefix }), hosting, client };
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
