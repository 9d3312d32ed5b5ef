import type { PrNumber } from '../../engine/model/pull-request.ts';
import { bound } from '../../lib/bound.ts';
import type { ForgeRepository } from '../forge.ts';
import type { Hosting, RepositoryIdentity, RepositoryName } from '../hosting.ts';
import type { GithubClient, RepositoryData } from './api/client.ts';
import { writeCheck } from './check-runs.ts';
import { readChecks } from './checks.ts';
import { findOwnComment, react, readComment, writeComment } from './comments.ts';
import { type FactsTools, findPullRequests } from './facts.ts';
import { type InspectOptions, inspect } from './inspect.ts';
import { judgeForTarget } from './judge-for-target.ts';
import { changeLabels, readLabel } from './labels.ts';
import { findPermission } from './permissions.ts';
import { createGithubPoller } from './poll.ts';
import { retarget } from './retarget.ts';
import { needsSettling, settleLanded } from './settle-landed.ts';
import { createGithubDeliveryReader } from './webhook.ts';
import { findWorkflowRun } from './workflow-run.ts';
import { writePaired } from './write-paired.ts';

interface HostingParts extends FactsTools, InspectOptions {}

export function createHosting(parts: HostingParts): Required<Hosting> {
  const { client, protection } = parts;
  const { auth } = client.connection;
  const poller = createGithubPoller(parts);
  return {
    kind: 'github',
    usualLanding: 'API',
    ...createGithubDeliveryReader({
      secret: () => client.webhookSecret(),
      onMismatch: () => client.rereadWebhookSecret(),
      ownAppId: auth.kind === 'app' ? Number(auth.appId) : undefined,
    }),
    needsSettling,
    forget(owner, name) {
      client.forget(owner, name === '*' ? undefined : name);
      protection.forget();
      poller.forget();
    },
    poll: poller.poll,
    ...bound(client, {
      identify,
      readChecks,
      findPermission,
      findByBranch,
      findWorkflowRun,
      writeCheck,
      retarget,
      settleLanded,
    }),
    ...bound(parts, { findPullRequests, readComment, readLabel, writeComment, findOwnComment, react, changeLabels }),
    ...bound(parts, { inspect, judgeForTarget, writePaired }),
    /** Uses the installation of the known name: an installation sees all repositories of one owner. */
    async findById({ owner, name, forgeId }) {
      if (forgeId === undefined) return undefined;
      const { status, data } = await client.request<RepositoryData>({
        repository: { owner, name },
        route: 'GET /repositories/{id}',
        parameters: { id: forgeId },
        urgency: 'read',
        accept: [404],
      });
      return status === 404 ? undefined : { owner: data.owner.login, name: data.name, forgeId: String(data.id) };
    },
  };
}

async function findByBranch(
  client: GithubClient,
  repository: ForgeRepository,
  branch: string,
  base?: string,
): Promise<PrNumber | undefined> {
  const { data } = await client.graphql<{
    readonly repository: {
      readonly pullRequests: {
        readonly nodes: readonly (FoundByBranch | null)[] | null;
      };
    };
  }>({
    repository,
    query: `query FindByBranch($owner: String!, $name: String!, $branch: String!) { repository(owner: $owner, name: $name) {
      pullRequests(states: OPEN, headRefName: $branch, first: 100) { nodes { number baseRefName isCrossRepository } } } }`,
    variables: { branch },
    urgency: 'read',
  });
  const own = (data.repository.pullRequests.nodes ?? []).filter((pr) => pr?.isCrossRepository === false);
  return (own.find((pr) => pr?.baseRefName === base) ?? own[0])?.number;
}

interface FoundByBranch {
  readonly number: PrNumber;
  readonly baseRefName: string;
  readonly isCrossRepository: boolean;
}

/** Answers from the cache of the client. A caller that learned of a rename clears it first. */
export async function identify(client: GithubClient, repository: RepositoryName): Promise<RepositoryIdentity> {
  const { owner, name, id } = await client.resolve(repository);
  return { owner, name, forgeId: String(id) };
}
