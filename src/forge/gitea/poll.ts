import type { PrNumber, PullRequestFacts } from '../../engine/model/pull-request.ts';
import { BoundedCache } from '../../lib/bounded-cache.ts';
import { formatInstant, type Instant } from '../../lib/clock.ts';
import type { ForgeRepository } from '../forge.ts';
import { instantOf, mayCommand } from '../hosted/forge-text.ts';
import type { ChangedPullRequest, ForgeSnapshot, RepositoryIdentity, SnapshotQuery } from '../hosting.ts';
import type { GiteaClient } from './api/client.ts';
import type { CommentData, PullData } from './api/data.ts';
import { numberOf } from './comments.ts';
import { type FactsTools, findPull, pollFacts } from './facts.ts';
import { identityOf } from './identity.ts';
import { readChecks } from './statuses.ts';

/** After an outage of hours hundreds of pull requests may have changed, and one of them may carry a command. */
const MAX_PULL_PAGES = 40;
const MAX_COMMENT_PAGES = 40;
/** For fewer entries than this, another page of the list costs more. */
const WORTH_A_PAGE = 3;
/** A webhook tells of statuses, which change no field of a pull request. The poll looks for lost ones in turn. */
const KEPT_MS = 5 * 60_000;
const READ_AGAIN = 1;
const READ_AGAIN_WITHOUT_WEBHOOKS = 20;
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

/** Reads the branches and the pull requests that changed last. The rest is asked for when there is a reason. */
// SPEC G165
export function createGiteaPoller(tools: FactsTools): GiteaPoller {
  let known = new BoundedCache<string, Known>(MAX_KNOWN);
  const { client, clock, rules, conflicts } = tools;
  const atOnce = client.connection.webhookSecret === undefined ? READ_AGAIN_WITHOUT_WEBHOOKS : READ_AGAIN;

  async function readFacts(
    repository: ForgeRepository,
    pulls: ReadonlyMap<PrNumber, PullData>,
  ): Promise<ReadonlyMap<PrNumber, PullRequestFacts>> {
    const told = [...pulls.values()].map((pull) => ({ pull, last: known.find(keyOf(repository, pull.number)) }));
    const again = new Set(
      told
        .filter(({ last }) => last !== undefined && isWaitingForChecks(last.facts))
        .toSorted((a, b) => (a.last?.at ?? 0) - (b.last?.at ?? 0))
        .slice(0, atOnce)
        .map(({ pull }) => pull.number),
    );
    const facts = told.map(async ({ pull, last }) => {
      const { number } = pull;
      const isOld = last === undefined || clock.now() - last.at > KEPT_MS || last.signs !== signsOf(pull);
      if (!isOld && !again.has(number) && isDecided(pull, last.facts)) return [number, last.facts] as const;
      const read = await pollFacts(tools, repository, pull);
      known.set(keyOf(repository, number), { signs: signsOf(pull), at: clock.now(), facts: read });
      return [number, read] as const;
    });
    return new Map(await Promise.all(facts));
  }

  return {
    async poll({ repository, branches, entries, commits, since }) {
      const pulls = await readPulls(client, repository, { since, entries });
      // One that is submitted while Gitea computes is known to have been mergeable.
      for (const pull of pulls.values()) conflicts.judge(repository, pull);
      const identity = await readIdentity(client, repository, pulls);
      if (repository.forgeId !== undefined && repository.forgeId !== identity.forgeId) return { identity, ...NOTHING };
      const [heads, checks, single] = await Promise.all([
        Promise.all(branches.map(async (name) => (await rules.readBranch(repository, name))?.commit.id)),
        readChecks(client, repository, commits),
        Promise.all(
          entries.filter((number) => !pulls.has(number)).map((number) => findPull(client, repository, number)),
        ),
      ]);
      const found = new Map(single.flatMap((pull) => (pull === undefined ? [] : [[pull.number, pull] as const])));
      const wanted = new Set(entries);
      const facts = await readFacts(repository, new Map([...pulls, ...found].filter(([number]) => wanted.has(number))));
      return {
        identity,
        heads: new Map(branches.map((branch, index) => [branch, heads[index]])),
        pullRequests: new Map(entries.map((number) => [number, facts.get(number)])),
        checks,
        changed: await withComments(client, repository, since, [...pulls.values()]),
      };
    },
    forget() {
      known = new BoundedCache(MAX_KNOWN);
    },
  };
}

const NOTHING = { heads: new Map(), pullRequests: new Map(), checks: new Map(), changed: [] };

function keyOf({ id }: ForgeRepository, number: PrNumber): string {
  return `${id} ${number}`;
}

function signsOf({ head, base, state, mergeable, title, updated_at }: PullData): string {
  return JSON.stringify([head.sha, base.ref, state, mergeable, title, updated_at]);
}

/** False while Gitea computes whether it can be merged. */
function isDecided({ mergeable }: PullData, { blockReasons }: PullRequestFacts): boolean {
  return mergeable !== false || blockReasons.includes('conflict');
}

function isWaitingForChecks({ blockReasons }: PullRequestFacts): boolean {
  return blockReasons.some((reason) => reason === 'awaitingCheck' || reason === 'failingCheck');
}

async function readIdentity(
  client: GiteaClient,
  repository: ForgeRepository,
  pulls: ReadonlyMap<PrNumber, PullData>,
): Promise<RepositoryIdentity> {
  const [first] = pulls.values();
  const { repo } = first?.base ?? {};
  return identityOf(repo ?? (await client.resolve(repository, { isAsked: true })));
}

interface WantedPulls {
  readonly since: Instant;
  readonly entries: readonly PrNumber[];
}

/** Open pull requests, those that changed last first, until all are read that changed after `since` and most entries. */
async function readPulls(
  client: GiteaClient,
  repository: ForgeRepository,
  { since, entries }: WantedPulls,
): Promise<ReadonlyMap<PrNumber, PullData>> {
  const pulls = new Map<PrNumber, PullData>();
  const limit = await client.readPageSize();
  for (let page = 1; page <= MAX_PULL_PAGES; page += 1) {
    const query = { state: 'open', sort: 'recentupdate', page, limit };
    const { data } = await client.request<readonly PullData[] | null>({ repository, path: '/pulls', query });
    const some = data ?? [];
    for (const pull of some) pulls.set(pull.number, pull);
    const isFresh = (instantOf(some.at(-1)?.updated_at) ?? 0) > since;
    const missing = entries.filter((number) => !pulls.has(number)).length;
    if (some.length < limit || (!isFresh && missing < WORTH_A_PAGE)) break;
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
