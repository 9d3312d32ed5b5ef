import type { CheckConclusion, CheckStatus } from '../../engine/model/check.ts';
import type { Sha } from '../../lib/sha.ts';
import type { ForgeRepository } from '../forge.ts';
import { instantOf, linkOf, summaryOf } from '../hosted/forge-text.ts';
import type { CheckReport } from '../hosting.ts';
import type { GitlabClient } from './api/client.ts';
import type { JobData, PipelineData, StatusData } from './api/data.ts';

/** The whole pipeline, as a check. */
export const PIPELINE = 'pipeline';
/** The reporter of pipelines and of their jobs. */
export const PIPELINES = 'gitlab-ci';
/** Begins the names of checks that are statuses of another CI, so that none of them passes for a job. */
export const EXTERNAL = 'external:';

const MAX_PAGES = 20;

export interface ChecksTools {
  readonly client: GitlabClient;
  readonly testBranchPrefix: string;
}

/** With `names`, only those kinds of checks are read that have one of them. */
// SPEC G183
export async function readChecks(
  tools: ChecksTools,
  repository: ForgeRepository,
  commits: readonly Sha[],
  names?: readonly string[],
): Promise<ReadonlyMap<Sha, readonly CheckReport[]>> {
  const listed = await listPipelines(tools.client, repository, commits);
  const read = await Promise.all(
    commits.map((sha) => readOne(tools, repository, { sha, pipelines: listed.get(sha) ?? [], names })),
  );
  return new Map(commits.map((sha, index) => [sha, read[index] ?? []]));
}

/** The newest pipelines of the project are usually those of the commits under test. */
async function listPipelines(
  client: GitlabClient,
  repository: ForgeRepository,
  commits: readonly Sha[],
): Promise<ReadonlyMap<Sha, readonly PipelineData[]>> {
  const path = '/pipelines';
  const recent =
    commits.length < 2
      ? []
      : (await client.readPage<PipelineData>({ repository, path, query: { order_by: 'id' } })).items;
  const found = await Promise.all(
    commits.map(async (sha) => {
      const here = recent.filter((pipeline) => pipeline.sha === sha);
      if (here.length > 0) return [sha, here] as const;
      return [sha, (await client.readPage<PipelineData>({ repository, path, query: { sha } })).items] as const;
    }),
  );
  return new Map(found);
}

interface OfCommit {
  readonly sha: Sha;
  readonly pipelines: readonly PipelineData[];
  readonly names: readonly string[] | undefined;
}

/** A pipeline counts that the push of a test branch started. Anybody may start one of another source. */
async function readOne(
  { client, testBranchPrefix }: ChecksTools,
  repository: ForgeRepository,
  { sha, pipelines, names }: OfCommit,
): Promise<readonly CheckReport[]> {
  const ofPush = pipelines.filter(
    ({ source, ref, sha: of }) => of === sha && source === 'push' && ref.startsWith(`${testBranchPrefix}/`),
  );
  const newest = ofPush.toSorted((a, b) => b.id - a.id)[0];
  const isWanted = (isKind: (name: string) => boolean) => names === undefined || names.some(isKind);
  const wantsExternal = isWanted((name) => name.startsWith(EXTERNAL));
  const wantsJobs = isWanted((name) => name !== PIPELINE && !name.startsWith(EXTERNAL));
  const jobs = newest !== undefined && wantsJobs ? await listJobs(client, repository, newest) : [];
  return [
    ...(newest === undefined ? [] : [reportOfPipeline(newest)]),
    ...jobs.map(reportOfJob),
    ...(wantsExternal ? await readExternal(client, repository, sha, pipelines) : []),
  ];
}

function listJobs(
  client: GitlabClient,
  repository: ForgeRepository,
  { id }: PipelineData,
): Promise<readonly JobData[]> {
  return client.list<JobData>({ repository, path: `/pipelines/${id}/jobs` }, MAX_PAGES);
}

/** GitLab lists jobs and statuses of others together, and does not say which is which. */
async function readExternal(
  client: GitlabClient,
  repository: ForgeRepository,
  sha: Sha,
  pipelines: readonly PipelineData[],
): Promise<readonly CheckReport[]> {
  const path = `/repository/commits/${sha}/statuses`;
  const [statuses, ...jobs] = await Promise.all([
    client.list<StatusData>({ repository, path, query: { all: 'true' } }, MAX_PAGES),
    ...pipelines.filter(({ source }) => source !== 'external').map((each) => listJobs(client, repository, each)),
  ]);
  const known = new Set(jobs.flat().map(({ id }) => id));
  const external = (statuses ?? []).filter(({ id }) => !known.has(id));
  const ofOne = Map.groupBy(external, ({ name, author }) => JSON.stringify([name, author?.id]));
  return [...ofOne.values()].flatMap((some) =>
    some
      .toSorted((a, b) => b.id - a.id)
      .slice(0, 1)
      .map(reportOfStatus),
  );
}

const STATES: Readonly<Record<string, CheckStatus | CheckConclusion>> = {
  created: 'QUEUED',
  waiting_for_resource: 'QUEUED',
  preparing: 'QUEUED',
  waiting_for_callback: 'QUEUED',
  pending: 'QUEUED',
  scheduled: 'QUEUED',
  running: 'IN_PROGRESS',
  canceling: 'IN_PROGRESS',
  // Somebody has to start its job.
  manual: 'IN_PROGRESS',
  success: 'SUCCESS',
  failed: 'FAILURE',
  canceled: 'CANCELLED',
  // It ran nothing, so it proves nothing.
  skipped: 'ERROR',
};

/** An unknown state counts as running. */
function stateOf(state: string): Pick<CheckReport, 'status' | 'conclusion'> {
  const found = Object.hasOwn(STATES, state) ? (STATES[state] ?? 'IN_PROGRESS') : 'IN_PROGRESS';
  if (found === 'QUEUED' || found === 'IN_PROGRESS') return { status: found, conclusion: undefined };
  return { status: 'COMPLETED', conclusion: found as CheckConclusion };
}

function reportOfPipeline({ status, created_at, web_url }: PipelineData): CheckReport {
  const why = 'GitLab skipped the pipeline: no job ran. Does the title say [skip ci]?';
  return {
    name: PIPELINE,
    reporter: PIPELINES,
    ...stateOf(status),
    startedAt: instantOf(created_at),
    url: linkOf(web_url),
    summary: status === 'skipped' ? why : undefined,
  };
}

export function reportOfJob({ name, status, created_at, web_url, failure_reason }: Omit<JobData, 'id'>): CheckReport {
  const why = 'GitLab skipped the job: one before it failed, or nobody started it.';
  return {
    name,
    reporter: PIPELINES,
    ...stateOf(status),
    startedAt: instantOf(created_at),
    url: linkOf(web_url),
    summary: status === 'skipped' ? why : summaryOf(failure_reason ?? null),
  };
}

function reportOfStatus({ name, status, description, target_url, created_at, author }: StatusData): CheckReport {
  return {
    name: `${EXTERNAL}${name}`,
    reporter: author?.username,
    ...(author !== null && { reporterId: String(author.id) }),
    ...stateOf(status),
    startedAt: instantOf(created_at),
    url: linkOf(target_url),
    summary: summaryOf(description),
  };
}

/** Machine time is saved where the result is not waited for. */
export async function cancelRuns({ client }: ChecksTools, repository: ForgeRepository, sha: Sha): Promise<void> {
  const { items } = await client.readPage<PipelineData>({ repository, path: '/pipelines', query: { sha } });
  const open = items.filter(({ status, source }) => source === 'push' && stateOf(status).conclusion === undefined);
  for (const { id } of open) {
    const path = `/pipelines/${id}/cancel`;
    await client.request({ repository, method: 'POST', path, accept: [400, 403, 404] });
  }
}
