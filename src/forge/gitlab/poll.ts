import type { PrNumber, PullRequestFacts } from '../../engine/model/pull-request.ts';
import { formatInstant, type Instant } from '../../lib/clock.ts';
import { present } from '../../lib/present.ts';
import { instantOf, mayCommand } from '../hosted/forge-text.ts';
import type { ChangedPullRequest, ForgeSnapshot, SnapshotQuery } from '../hosting.ts';
import { type GitlabClient, identityOf, type ProjectName } from './api/client.ts';
import type { MergeRequestData, NoteData } from './api/data.ts';
import { type ChecksTools, readChecks } from './checks.ts';
import { factsOf, findHead, listRequests } from './facts.ts';

/** After an outage of hours hundreds may have changed, and one of them may carry a command. */
const MAX_PAGES = 20;
const DAY_MS = 86_400_000;

/** The project, the target branches and the merge requests that changed last; more only if there is a reason. */
// SPEC G185
export async function poll(tools: ChecksTools, question: SnapshotQuery): Promise<ForgeSnapshot> {
  const { client } = tools;
  const { repository, branches, entries, commits, since, checkNames } = question;
  const identity = identityOf(await client.resolve(repository, { isAsked: true }));
  const open = await readOpen(client, repository, since);
  const missing = entries.filter((number) => !open.has(number));
  const [heads, checks, others] = await Promise.all([
    Promise.all(branches.map((branch) => findHead(client, repository, branch))),
    readChecks(tools, repository, commits, checkNames),
    listRequests(client, repository, missing),
  ]);
  const factsFor = (number: PrNumber): PullRequestFacts | undefined => {
    const request = open.get(number) ?? others.get(number);
    return request && factsOf(request);
  };
  return {
    identity,
    heads: new Map(branches.map((branch, index) => [branch, heads[index]])),
    pullRequests: new Map(entries.map((number) => [number, factsFor(number)])),
    checks,
    changed: await withComments(client, repository, since, [...open.values()]),
  };
}

/** Those that changed last first, until all are read that changed after `since`. */
async function readOpen(
  client: GitlabClient,
  repository: ProjectName,
  since: Instant,
): Promise<ReadonlyMap<PrNumber, MergeRequestData>> {
  const found = new Map<PrNumber, MergeRequestData>();
  const query = { state: 'opened', order_by: 'updated_at', sort: 'desc' };
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const asked = { repository, path: '/merge_requests', query };
    const { items, next } = await client.readPage<MergeRequestData>(asked, page);
    for (const request of items) found.set(request.iid, request);
    const isFresh = (instantOf(items.at(-1)?.updated_at) ?? 0) > since;
    if (!next || !isFresh) break;
  }
  return found;
}

// SPEC G87
async function withComments(
  client: GitlabClient,
  repository: ProjectName,
  since: Instant,
  open: readonly MergeRequestData[],
): Promise<readonly ChangedPullRequest[]> {
  const changed = open.filter(({ updated_at, sha }) => sha !== null && (instantOf(updated_at) ?? 0) > since);
  if (changed.length === 0) return [];
  const comments = Map.groupBy(await readCommands(client, repository, since), ({ noteable_iid }) => noteable_iid);
  return changed.flatMap(({ iid, sha, target_branch, updated_at, labels }) => {
    if (sha === null) return [];
    return {
      ...{ number: iid, headSha: sha, baseBranch: target_branch, labels },
      updatedAt: instantOf(updated_at) ?? since,
      comments: (comments.get(iid) ?? []).map(({ id, created_at, author }) => ({
        id: String(id),
        createdAt: instantOf(created_at) ?? since,
        ...present({ author: author?.username }),
      })),
    };
  });
}

/** Notes of all merge requests in one list, newest first. GitLab cuts it by days. */
async function readCommands(
  client: GitlabClient,
  repository: ProjectName,
  since: Instant,
): Promise<readonly NoteData[]> {
  const own = await client.readOwn();
  const after = formatInstant(Math.max(0, since - DAY_MS)).slice(0, 10);
  const asked = {
    repository,
    path: '/events',
    query: { action: 'commented', target_type: 'note', after, sort: 'desc' },
  };
  const notes: NoteData[] = [];
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const { items, next } = await client.readPage<{ readonly note?: NoteData }>(asked, page);
    notes.push(...items.flatMap(({ note }) => note ?? []));
    const isFresh = (instantOf(notes.at(-1)?.created_at) ?? 0) > since;
    if (!next || !isFresh) break;
  }
  return notes.filter(
    ({ noteable_type, created_at, author, body }) =>
      noteable_type === 'MergeRequest' &&
      (instantOf(created_at) ?? 0) > since &&
      author?.id !== own.id &&
      mayCommand(body),
  );
}
