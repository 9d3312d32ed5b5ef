import { formatInstant } from '../../lib/clock.ts';
import { present } from '../../lib/present.ts';
import { statusOf } from '../hosted/commit-status.ts';
import type { CheckRunDraft, Written } from '../hosting.ts';
import type { GithubClient } from './api/client.ts';

const MAX_TITLE = 250;
const MAX_SUMMARY = 60_000;

interface CheckRunData {
  readonly id: number;
  readonly node_id: string;
  readonly external_id: string | null;
}

/** Only apps can write check runs. With a token, each update is a new commit status, without an id. */
export async function writeCheck(client: GithubClient, draft: CheckRunDraft): Promise<Written | undefined> {
  const { isApp } = await client.installation(draft.repository);
  if (!isApp) return writeStatus(client, draft);
  const id = draft.id ?? (draft.mayExist === false ? undefined : await findOwn(client, draft));
  return id === undefined ? create(client, draft) : change(client, draft, id);
}

// SPEC G105
async function findOwn(
  client: GithubClient,
  { repository, headSha, name, externalId }: CheckRunDraft,
): Promise<string | undefined> {
  const { data } = await client.request<{ readonly check_runs?: readonly CheckRunData[] }>({
    repository,
    route: 'GET /repos/{owner}/{repo}/commits/{ref}/check-runs',
    parameters: { ref: headSha, check_name: name, filter: 'all', per_page: 100 },
    urgency: 'page',
    accept: [404, 422],
  });
  const own = data.check_runs?.find(({ external_id }) => external_id === externalId);
  return own === undefined ? undefined : String(own.id);
}

async function create(client: GithubClient, draft: CheckRunDraft): Promise<Written> {
  const { data } = await client.request<CheckRunData>({
    repository: draft.repository,
    route: 'POST /repos/{owner}/{repo}/check-runs',
    parameters: { head_sha: draft.headSha, ...bodyOf(draft) },
    urgency: 'page',
  });
  return { id: String(data.id), nodeId: data.node_id };
}

async function change(client: GithubClient, draft: CheckRunDraft, id: string): Promise<Written | undefined> {
  const { status, data } = await client.request<CheckRunData>({
    repository: draft.repository,
    route: 'PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}',
    parameters: { check_run_id: id, ...bodyOf(draft) },
    urgency: 'page',
    accept: [404],
  });
  return status === 404 ? undefined : { id, nodeId: data.node_id };
}

function bodyOf(draft: CheckRunDraft): Readonly<Record<string, unknown>> {
  const { externalId, status, conclusion, startedAt, completedAt, detailsUrl, ...same } = checkInputOf(draft);
  return {
    ...same,
    external_id: externalId,
    status: status.toLowerCase(),
    ...(conclusion !== undefined && { conclusion: conclusion.toLowerCase() }),
    started_at: startedAt,
    ...present({ completed_at: completedAt, details_url: detailsUrl }),
  };
}

export function checkInputOf(draft: CheckRunDraft) {
  const { name, externalId, status, conclusion, title, summary, url, startedAt, completedAt } = draft;
  return {
    name,
    externalId,
    status,
    conclusion: status === 'COMPLETED' ? (conclusion ?? 'NEUTRAL') : undefined,
    startedAt: formatInstant(startedAt),
    completedAt: completedAt === undefined ? undefined : formatInstant(completedAt),
    detailsUrl: url,
    output: { title: title.slice(0, MAX_TITLE), summary: summary.slice(0, MAX_SUMMARY) },
  };
}

async function writeStatus(client: GithubClient, draft: CheckRunDraft): Promise<Written> {
  const { repository, headSha } = draft;
  await client.request({
    repository,
    route: 'POST /repos/{owner}/{repo}/statuses/{sha}',
    parameters: { sha: headSha, ...statusOf(draft) },
    urgency: 'page',
  });
  return { id: 'status' };
}
