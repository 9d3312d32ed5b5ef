import { bound } from '../../lib/bound.ts';
import { pullRequestRef } from '../candidate/pull-request-ref.ts';
import type { Forge } from '../forge.ts';
import type { HostedAdapter, HostedRemote } from '../hosted/adapter.ts';
import { createHostedForge, type HostedOptions } from '../hosted/create-hosted-forge.ts';
import { keyOf } from '../hosted/repository-key.ts';
import type { Hosting } from '../hosting.ts';
import { GiteaClient, type GiteaClientOptions } from './api/client.ts';
import type { PullData } from './api/data.ts';
import { findOwnComment, react, readComment, writeComment } from './comments.ts';
import { createConflictMemory } from './conflicts.ts';
import { createTrees, expand, type FactsTools, findPullRequest, findPullRequests } from './facts.ts';
import { findById, identityOf } from './identity.ts';
import { inspect } from './inspect.ts';
import { judgeForTarget } from './judge-for-target.ts';
import { changeLabels, readLabel } from './labels.ts';
import { createLandedPulls, type LandedPulls } from './landed-pulls.ts';
import { createMerging } from './merging.ts';
import { findPermission } from './people.ts';
import { createGiteaPoller } from './poll.ts';
import { retarget } from './retarget.ts';
import { createRules, requiredContexts } from './rules.ts';
import { settleLanded } from './settle-landed.ts';
import { readChecks, readReports, writeCheck } from './statuses.ts';
import { openPullRequest } from './test-branches.ts';
import { createGiteaDeliveryReader } from './webhook.ts';
import { hintsOf } from './webhook-events.ts';

export interface GiteaForgeOptions extends GiteaClientOptions, Omit<HostedOptions, 'testBranchPrefix'> {
  readonly testBranchPrefix?: string;
}

export interface GiteaForge extends Forge {
  readonly hosting: Hosting;
  readonly client: GiteaClient;
}

/** Open pull requests of a large repository. */
const MAX_PULL_PAGES = 200;

export function createGiteaForge({ testBranchPrefix = 'sluice', ...options }: GiteaForgeOptions): GiteaForge {
  const { clock } = options;
  const client = new GiteaClient(options);
  const rules = createRules({ client, clock });
  const tools: FactsTools = {
    client,
    clock,
    rules,
    conflicts: createConflictMemory(clock),
    trees: createTrees(),
  };
  const landed = createLandedPulls(tools);
  const hosting = createHosting(tools, landed, testBranchPrefix);
  const adapter: HostedAdapter = {
    hosting,
    remote: remoteOf(client),
    merging: createMerging({ ...tools, landed }),
    pullRequestRef,
    pinsReporters: true,
    ...bound(tools, { findPullRequest }),
    ...bound(client, { openPullRequest }),
    /** Contexts are patterns. They are read as the names that the head of the branch has. */
    async readRequiredChecks(repository, branch) {
      const found = await rules.read(repository, branch);
      const contexts = found && requiredContexts(found);
      if (found === undefined || contexts === undefined) return [];
      const hasPattern = contexts.length === 0 || contexts.some((context) => /[*?]/.test(context));
      return hasPattern ? expand(contexts, await readReports(client, repository, found.branch.commit.id)) : contexts;
    },
    async checkRepository(repository) {
      const found = await client.resolve(repository);
      // Webhooks carry Gitea's name for the repository. Gitea ignores case.
      if (keyOf(identityOf(found)) !== keyOf(repository)) return `Gitea calls this repository ${found.full_name}.`;
      return found.archived === true
        ? `The repository ${found.full_name} is archived: nothing can be merged there.`
        : undefined;
    },
    close: () => client.close(),
  };
  return { ...createHostedForge(adapter, { ...options, testBranchPrefix }), hosting, client };
}

function remoteOf(client: GiteaClient): HostedRemote {
  return {
    title: 'Gitea',
    webUrl: client.connection.url,
    resolve: async (repository) => identityOf(await client.resolve(repository)),
    // Gitea reads the token as the password, whatever the user.
    authorize: async () => ({ user: 'sluice', token: client.token }),
    forget: async ({ owner, name }) => client.forget(owner, name),
  };
}

function createHosting(tools: FactsTools, landed: LandedPulls, testBranchPrefix: string): Hosting {
  const { client, rules } = tools;
  const poller = createGiteaPoller(tools);
  return {
    kind: 'gitea',
    usualLanding: 'PUSH',
    ...createGiteaDeliveryReader(
      (event, payload) => {
        const hints = hintsOf(event, payload, client.ownId);
        for (const hint of hints) landed.observe(hint);
        return hints;
      },
      { secret: () => client.connection.webhookSecret },
    ),
    forget(owner, name) {
      client.forget(owner, name === '*' ? undefined : name);
      rules.forget();
      poller.forget();
    },

    identify: async (repository) => identityOf(await client.resolve(repository)),
    poll: poller.poll,
    ...bound(client, { findById, readChecks, findPermission, writeCheck, retarget }),
    async findByBranch(repository, branch, wanted) {
      const asked = { repository, path: '/pulls', query: { state: 'open' } };
      const pulls = await client.list<PullData>(asked, MAX_PULL_PAGES);
      const own = pulls.filter(({ head, base }) => head.ref === branch && head.repo_id === base.repo_id);
      return (own.find(({ base }) => base.ref === wanted) ?? own[0])?.number;
    },
    ...bound(tools, {
      findPullRequests,
      judgeForTarget,
      readComment,
      readLabel,
      writeComment,
      findOwnComment,
      react,
      changeLabels,
    }),
    // Gitea notices one pull request of a push, and not what was squashed or rebased.
    needsSettling: () => true,
    ...bound({ client, landed }, { settleLanded }),
    ...bound({ ...tools, testBranchPrefix }, { inspect }),
  };
}
