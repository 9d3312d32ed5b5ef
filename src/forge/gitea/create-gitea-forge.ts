import type { PrNumber } from '../../engine/model/pull-request.ts';
import { createGit } from '../../git/create-git.ts';
import { bound } from '../../lib/bound.ts';
import { pullRequestRef } from '../candidate/pull-request-ref.ts';
import type { Forge, ForgeRepository } from '../forge.ts';
import type { HostedAdapter, HostedRemote } from '../hosted/adapter.ts';
import { createHostedForge } from '../hosted/create-hosted-forge.ts';
import { createReadDelivery } from '../hosted/read-delivery.ts';
import { keyOf } from '../hosted/repository-key.ts';
import type { Hosting } from '../hosting.ts';
import { GiteaClient, type GiteaClientOptions } from './api/client.ts';
import type { PullData } from './api/data.ts';
import { findOwnComment, react, readComment, writeComment } from './comments.ts';
import { createConflictMemory } from './conflicts.ts';
import { createTrees, expand, type FactsTools, findPullRequest, findPullRequests } from './facts.ts';
import { findById, identityOf } from './identity.ts';
import { inspect } from './inspect.ts';
import { changeLabels, readLabel } from './labels.ts';
import { createLandedPulls, type LandedPulls } from './landed-pulls.ts';
import { createMerging } from './merging.ts';
import { findPermission } from './people.ts';
import { createGiteaPoller } from './poll.ts';
import { createRules, requiredContexts } from './rules.ts';
import { settleLanded } from './settle-landed.ts';
import { readChecks, readReports, writeCheck } from './statuses.ts';
import { openDraft } from './test-branches.ts';
import { hintsOf } from './webhook-events.ts';

export interface GiteaForgeOptions extends GiteaClientOptions {
  /** Folder for the local copies of repositories. */
  readonly directory: string;
  readonly testBranchPrefix?: string;
  /** How long a caller waits for a git fetch before it gets an error. */
  readonly remoteWaitMs?: number;
}

export interface GiteaForge extends Forge {
  readonly hosting: Hosting;
  readonly client: GiteaClient;
}

/** Open pull requests of a large repository. */
const MAX_PULL_PAGES = 200;

export function createGiteaForge({ testBranchPrefix = 'sluice', ...options }: GiteaForgeOptions): GiteaForge {
  const { directory, clock, remoteWaitMs } = options;
  const client = new GiteaClient(options);
  const tools: FactsTools = {
    client,
    clock,
    rules: createRules({ client, clock }),
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
    ...bound(tools, { findPullRequest, readRequiredChecks }),
    ...bound(client, { openDraft, checkRepository }),
    close: () => client.close(),
  };
  const git = createGit({ directory, clock, remoteWaitMs });
  return { ...createHostedForge(adapter, { git, clock, testBranchPrefix }), hosting, client };
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
    proofHeader: 'x-gitea-signature',
    readDelivery: createReadDelivery(
      {
        findSignature: (headers) => headers['x-gitea-signature'],
        eventHeader: 'x-gitea-event',
        hintsOf: (event, payload) => {
          const hints = hintsOf(event, payload, client.ownId);
          for (const hint of hints) landed.observe(hint);
          return hints;
        },
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
    ...bound(client, { findById, readChecks, findPermission, findByBranch, writeCheck }),
    ...bound(tools, { findPullRequests, readComment, readLabel, writeComment, findOwnComment, react, changeLabels }),
    // Gitea notices one pull request of a push, and not what was squashed or rebased.
    needsSettling: () => true,
    ...bound({ client, landed }, { settleLanded }),
    ...bound({ ...tools, testBranchPrefix }, { inspect }),
  };
}

/** Contexts are patterns. They are read as the names that the head of the branch has. */
async function readRequiredChecks({ client, rules }: FactsTools, repository: ForgeRepository, branch: string) {
  const found = await rules.read(repository, branch);
  const contexts = found && requiredContexts(found);
  if (found === undefined || contexts === undefined) return [];
  const hasPattern = contexts.length === 0 || contexts.some((context) => /[*?]/.test(context));
  return hasPattern ? expand(contexts, await readReports(client, repository, found.branch.commit.id)) : contexts;
}

async function findByBranch(
  client: GiteaClient,
  repository: ForgeRepository,
  branch: string,
): Promise<PrNumber | undefined> {
  const pulls = await client.list<PullData>({ repository, path: '/pulls', query: { state: 'open' } }, MAX_PULL_PAGES);
  return pulls.find(({ head, base }) => head.ref === branch && head.repo_id === base.repo_id)?.number;
}

async function checkRepository(client: GiteaClient, repository: ForgeRepository): Promise<string | undefined> {
  const found = await client.resolve(repository);
  // Webhooks carry Gitea's name for the repository. Gitea ignores case.
  if (keyOf(identityOf(found)) !== keyOf(repository)) return `Gitea calls this repository ${found.full_name}.`;
  return found.archived === true
    ? `The repository ${found.full_name} is archived: nothing can be merged there.`
    : undefined;
}
