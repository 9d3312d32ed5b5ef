import type { PrNumber, PullRequestFacts } from '../../engine/pull-request.ts';
import { BoundedCache } from '../../git/bounded-cache.ts';
import { formatInstant, type Instant } from '../../lib/clock.ts';
import type { ForgeRepository } from '../forge.ts';
import { instantOf, mayCommand } from '../hosted/forge-text.ts';
import type { ChangedPullRequest, ForgeSnapshot, SnapshotQuery } from '../hosting.ts';
import { type GiteaClient, PAGE } from './api/client.ts';
import type { CommentData, PullData } from './api/data.ts';
import { numberOf } from './comments.ts';
import { type FactsTools, findPull, pollFacts } from './facts.ts';
import { identityOf } from './identity.ts';
import { readChecks } from './statuses.ts';

/** After an outage of hours hundreds of pull requests may have changed, and one of them may carry a command. */
const MAX_PULL_PAGES = 40;
const MAX_COMMENT_PAGES = 40;
/** A status on the head of a ready pull request changes nothing that the queue needs at once, and a webhook tells it. */
const READY_MS = 5 * 60_000;
const MAX_KNOWN = 10_000;

interface Known {
  /** These fields change when readiness may have changed, statuses aside. */
  readonly signs: string;
  readonly at: Instant;
  readonly facts: PullRequestFacts;
}

export interface GiteaPoller {
  poll(question: SnapshotQuery): Promise<ForgeSnapshot>;
  forget(): void;
}

/** Reads the repository, the branches, and one page of pull requests if nothing else happened. */
export function createGiteaPoller(tools: FactsTools): GiteaPoller {
  let known = new BoundedCache<string, Known>(MAX_KNOWN);
  const { client, clock } = tools;

  async function factsWith(repository: ForgeRepository, pull: PullData): Promise<PullRequestFacts> {
    const key = `${repository.id} ${pull.number}`;
    const signs = JSON.stringify([pull.head.sha, pull.updated_at, pull.mergeable, pull.state, pull.base.ref]);
    const last = known.find(key);
    const isReady = last?.facts.mergeability === 'MERGEABLE';
    if (last !== undefined && isReady && last.signs === signs && clock.now() - last.at < READY_MS) return last.facts;
    const facts = await pollFacts(tools, repository, pull);
    known.set(key, { signs, at: clock.now(), facts });
    return facts;
  }

  return {
    async poll({ repository, branches, entries, commits, since }) {
      const identity = identityOf(await client.resolve(repository, { isAsked: true }));
      if (repository.forgeId !== undefined && repository.forgeId !== identity.forgeId) return { identity, ...NOTHING };
      const [pulls, heads, checks] = await Promise.all([
        readChanged(client, repository, since),
        Promise.all(branches.map(async (name) => (await tools.rules.readBranch(repository, name))?.commit.id)),
        readChecks(client, repository, commits),
      ]);
      const listed = new Map(pulls.map((pull) => [pull.number, pull]));
      const facts = async (number: PrNumber) => {
        const pull = listed.get(number) ?? (await findPull(client, repository, number));
        return [number, pull && (await factsWith(repository, pull))] as const;
      };
      return {
        identity,
        heads: new Map(branches.map((branch, index) => [branch, heads[index]])),
        pullRequests: new Map(await Promise.all(entries.map(facts))),
        checks,
        changed: await withComments(client, repository, since, pulls),
      };
    },
    forget() {
      known = new BoundedCache(MAX_KNOWN);
    },
  };
}

const NOTHING = { heads: new Map(), pullRequests: new Map(), checks: new Map(), changed: [] };

/** Open pull requests, those that changed last first: all that changed after `since`, and the rest of their page. */
async function readChanged(
  client: GiteaClient,
  repository: ForgeRepository,
  since: Instant,
): Promise<readonly PullData[]> {
  const pulls: PullData[] = [];
  for (let page = 1; page <= MAX_PULL_PAGES; page += 1) {
    const query = { state: 'open', sort: 'recentupdate', page, limit: PAGE };
    const { data } = await client.request<readonly PullData[] | null>({ repository, path: '/pulls', query });
    const some = data ?? [];
    pulls.push(...some);
    const last = some.at(-1);
    if (some.length < PAGE || last === undefined || (instantOf(last.updated_at) ?? 0) <= since) break;
  }
  return pulls;
}

// SPEC G87
async function withComments(
  client: GiteaClient,
  repository: ForgeRepository,
  since: Instant,
  pulls: readonly PullData[],
): Promise<readonly ChangedPullRequest[]> {
  const changed = pulls.filter(({ updated_at }) => (instantOf(updated_at) ?? 0) > since);
  if (changed.length === 0) return [];
  const comments = Map.groupBy(await readCommands(client, repository, since), numberOf);
  return changed.map((pull) => ({
    number: pull.number,
    headSha: pull.head.sha,
    baseBranch: pull.base.ref,
    updatedAt: instantOf(pull.updated_at) ?? since,
    labels: (pull.labels ?? []).map(({ name }) => name),
    comments: (comments.get(pull.number) ?? []).map(({ id, created_at, user }) => ({
      id: String(id),
      createdAt: instantOf(created_at) ?? since,
      ...(user !== null && { author: user.login }),
    })),
  }));
}

/** Comments of all pull requests in one list. */
async function readCommands(
  client: GiteaClient,
  repository: ForgeRepository,
  since: Instant,
): Promise<readonly CommentData[]> {
  const own = await client.readOwn();
  const query = { since: formatInstant(Math.max(0, since)) };
  const read = await client.list<CommentData>({ repository, path: '/issues/comments', query }, MAX_COMMENT_PAGES);
  return read.filter(
    ({ created_at, user, body }) => (instantOf(created_at) ?? 0) > since && user?.id !== own.id && mayCommand(body),
  );
}
