import type { CheckConclusion } from '../../engine/model/check.ts';
import type { Sha } from '../../lib/sha.ts';
import type { ForgeRepository } from '../forge.ts';
import { statusOf } from '../hosted/commit-status.ts';
import { instantOf, linkOf, summaryOf } from '../hosted/forge-text.ts';
import type { CheckReport, CheckRunDraft, Written } from '../hosting.ts';
import type { GiteaClient } from './api/client.ts';
import type { StatusData } from './api/data.ts';

/** No commit has as many statuses. */
const MAX_PAGES = 20;

export async function readChecks(
  client: GiteaClient,
  repository: ForgeRepository,
  commits: readonly Sha[],
): Promise<ReadonlyMap<Sha, readonly CheckReport[]>> {
  const read = await Promise.all(commits.map((sha) => readReports(client, repository, sha)));
  return new Map(commits.map((sha, index) => [sha, read[index] ?? []]));
}

export async function readReports(
  client: GiteaClient,
  repository: ForgeRepository,
  sha: Sha,
): Promise<readonly CheckReport[]> {
  // Gitea's combined status has the newest of each context only, which another account may have set.
  const path = `/commits/${sha}/statuses`;
  return reportsOf(await client.list<StatusData>({ repository, path }, MAX_PAGES));
}

// SPEC G161
export function reportsOf(statuses: readonly StatusData[]): readonly CheckReport[] {
  const ofOne = Map.groupBy(statuses, ({ context, creator }) => JSON.stringify([context, creator?.id]));
  return [...ofOne.values()].flatMap((some) => {
    const [newest, ...older] = some.toSorted((a, b) => b.id - a.id);
    return newest === undefined ? [] : [reportOf(newest, older)];
  });
}

const STATES: Readonly<Record<string, CheckConclusion | undefined>> = {
  pending: undefined,
  success: 'SUCCESS',
  failure: 'FAILURE',
  error: 'ERROR',
  // For Gitea's own protection a warning is no success.
  warning: 'FAILURE',
  skipped: 'SKIPPED',
  cancelled: 'CANCELLED',
};

export function reportOf(status: StatusData, older: readonly StatusData[]): CheckReport {
  const conclusion = Object.hasOwn(STATES, status.status) ? STATES[status.status] : 'ERROR';
  const { creator } = status;
  return {
    name: status.context,
    reporter: creator?.login,
    ...(creator !== null && { reporterId: String(creator.id) }),
    // Each update of a status is a new one, so a pending one must not look like an attempt that ran.
    status: conclusion === undefined ? 'QUEUED' : 'COMPLETED',
    conclusion,
    startedAt: startOf(status, older),
    url: linkOf(status.target_url),
    summary: summaryOf(status.description),
  };
}

/** Gitea's instants have whole seconds. Statuses within one second are told apart by their number. */
function startOf({ created_at }: StatusData, older: readonly StatusData[]): number | undefined {
  const at = instantOf(created_at);
  if (at === undefined) return undefined;
  return at + Math.min(999, older.filter((each) => instantOf(each.created_at) === at).length);
}

/** A status has no id to write to, so each update is a new status. */
export async function writeCheck(client: GiteaClient, draft: CheckRunDraft): Promise<Written | undefined> {
  const { repository, headSha } = draft;
  const { status, data } = await client.request<StatusData>({
    repository,
    method: 'POST',
    path: `/statuses/${headSha}`,
    body: statusOf(draft),
    // The commit is gone.
    accept: [404],
  });
  return status === 404 ? undefined : { id: String(data.id) };
}
