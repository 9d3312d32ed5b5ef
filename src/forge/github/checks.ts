import type { CheckConclusion, CheckStatus } from '../../engine/model/check.ts';
import type { PrNumber } from '../../engine/model/pull-request.ts';
import type { Instant } from '../../lib/clock.ts';
import type { Sha } from '../../lib/sha.ts';
import type { ForgeRepository } from '../forge.ts';
import { instantOf, linkOf, summaryOf } from '../hosted/forge-text.ts';
import type { CheckReport } from '../hosting.ts';
import { combineReports, hasPassed, isWorse } from '../report-of-check.ts';
import type { GithubClient } from './api/client.ts';
import { chunksOf, inHalves } from './in-halves.ts';

/** `state` is not queried: beside `contexts` it gives another value. */
export interface Rollup {
  readonly contexts: {
    readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
    readonly nodes: readonly (Context | null)[] | null;
  };
}

export type Context = CheckRunNode | StatusNode;

export interface CheckRunNode {
  readonly __typename: 'CheckRun';
  readonly name: string;
  readonly status: string;
  readonly conclusion: string | null;
  readonly startedAt: string | null;
  readonly detailsUrl: string | null;
  readonly title: string | null;
  readonly isRequired?: boolean;
  readonly checkSuite: {
    readonly id: string;
    readonly app: { readonly slug: string; readonly databaseId: number | null } | null;
    readonly workflowRun: { readonly event: string; readonly workflow: { readonly id: string } } | null;
  };
}

export interface StatusNode {
  readonly __typename: 'StatusContext';
  readonly context: string;
  readonly state: string;
  readonly createdAt: string;
  readonly targetUrl: string | null;
  readonly description: string | null;
  readonly isRequired?: boolean;
  readonly creator: { readonly __typename: string; readonly login: string } | null;
}

/** A large matrix has more than a hundred checks on one commit. */
const PAGE = 100;
/** A bound against endless paging. */
const MAX_PAGES = 20;
const COMMITS_AT_ONCE = 20;

/** `required` adds a field to each context: whether a pull request requires the check. */
export function contextsText(required = '', after?: string): string {
  const from = after === undefined ? '' : `, after: ${JSON.stringify(after)}`;
  return `contexts(first: ${PAGE}${from}) { pageInfo { hasNextPage endCursor } nodes { __typename
    ... on CheckRun { name status conclusion startedAt detailsUrl title ${required}
      checkSuite { id app { slug databaseId } workflowRun { event workflow { id } } } }
    ... on StatusContext { context state createdAt targetUrl description ${required} creator { __typename login } } } }`;
}

export function isRequiredText(number: PrNumber): string {
  return `isRequired(pullRequestNumber: ${number})`;
}

export function commitText(sha: Sha, after?: string, required?: string): string {
  return `object(oid: "${sha}") { ... on Commit { statusCheckRollup { ${contextsText(required, after)} } } }`;
}

export type CommitAnswer = { readonly statusCheckRollup?: Rollup | null } | null;

/** The newest attempt of every check. Apps that report under the same name count separately. */
export async function readChecks(
  client: GithubClient,
  repository: ForgeRepository,
  commits: readonly Sha[],
): Promise<ReadonlyMap<Sha, readonly CheckReport[]>> {
  const first = new Map<Sha, CommitAnswer>();
  for (const some of chunksOf([...new Set(commits)], COMMITS_AT_ONCE)) {
    const texts = some.map((sha) => commitText(sha));
    for (const [index, answer] of (await inHalves(texts, (some) => ask(client, repository, some))).entries()) {
      first.set(some[index] as Sha, answer);
    }
  }
  return readReports(client, repository, first);
}

export async function readReports(
  client: GithubClient,
  repository: ForgeRepository,
  first: ReadonlyMap<Sha, CommitAnswer>,
): Promise<ReadonlyMap<Sha, readonly CheckReport[]>> {
  const begun = [...first].map(([sha, answer]) => ({ sha, first: answer?.statusCheckRollup }));
  const read = await readContexts(client, repository, begun);
  return new Map(begun.map(({ sha }, index) => [sha, reportsIn(read[index])]));
}

function reportsIn({ contexts, isWhole }: Contexts = NO_CONTEXTS): readonly CheckReport[] {
  const reports = reportsOfTest(contexts);
  // An unread page may contain a failure, so no check counts as passed.
  return isWhole ? reports : reports.filter((report) => !hasPassed(report));
}

export interface Contexts {
  readonly contexts: readonly Context[];
  /** False when there are more pages than the limit, or GitHub left some out. */
  readonly isWhole: boolean;
}

export const NO_CONTEXTS: Contexts = { contexts: [], isWhole: true };

/** A commit with the first page of its contexts. */
export interface Begun {
  readonly sha: Sha;
  readonly first: Rollup | null | undefined;
  readonly required?: string;
}

/** Reads the further pages. One query reads the next page of all commits; a query per commit would be too many. */
// SPEC G12
export async function readContexts(
  client: GithubClient,
  repository: ForgeRepository,
  commits: readonly Begun[],
): Promise<readonly Contexts[]> {
  const reads = commits.map(startReading);
  for (let pages = 1; pages < MAX_PAGES; pages += 1) {
    const open = reads.filter(({ page }) => hasNext(page));
    for (const some of chunksOf(open, COMMITS_AT_ONCE)) await readNextPage(client, repository, some);
  }
  return reads.map(({ contexts, page }) => ({ contexts, isWhole: page !== null && !hasNext(page) }));
}

interface Reading extends Begun {
  readonly contexts: Context[];
  /** The page that was read last. Null: GitHub did not return the requested page. */
  page: Rollup | null | undefined;
}

function startReading(begun: Begun): Reading {
  const { first } = begun;
  return { ...begun, contexts: [...contextsIn(first)], page: first ?? undefined };
}

// SPEC G85
async function readNextPage(
  client: GithubClient,
  repository: ForgeRepository,
  some: readonly Reading[],
): Promise<void> {
  const texts = some.map(({ sha, page, required }) =>
    commitText(sha, page?.contexts.pageInfo.endCursor ?? '', required),
  );
  const answers = await inHalves(texts, (some) => ask(client, repository, some));
  for (const [index, read] of some.entries()) {
    read.page = answers[index]?.statusCheckRollup ?? null;
    read.contexts.push(...contextsIn(read.page));
  }
}

function hasNext(page: Rollup | null | undefined): boolean {
  return page?.contexts.pageInfo.hasNextPage === true;
}

async function ask(
  client: GithubClient,
  repository: ForgeRepository,
  texts: readonly string[],
): Promise<readonly CommitAnswer[]> {
  const fields = texts.map((text, index) => `c${index}: ${text}`).join('\n');
  const { data } = await client.graphql<{ readonly repository: Readonly<Record<string, CommitAnswer>> }>({
    repository,
    query: `query ReadChecks($owner: String!, $name: String!) { repository(owner: $owner, name: $name) { ${fields} } }`,
    urgency: 'read',
  });
  return texts.map((_, index) => data.repository[`c${index}`] ?? null);
}

function contextsIn(rollup: Rollup | null | undefined): readonly Context[] {
  return (rollup?.contexts.nodes ?? []).flatMap((node) =>
    node?.__typename === 'CheckRun' || node?.__typename === 'StatusContext' ? [node] : [],
  );
}

/** Attempts of one check share a suite, or a workflow and event; the newest counts. Several may share a name. */
export function reportsOf(contexts: readonly Context[]): readonly CheckReport[] {
  return combine(newestOfEach(contexts, originOf).map(({ report }) => report));
}

/** A run that a fork started has no secrets, and must not hide a failure. */
// SPEC G121
export function reportsOfTest(contexts: readonly Context[]): readonly CheckReport[] {
  const newest = new Set(newestOfEach(contexts, originOf).map(({ context }) => context));
  const ofSuites = newestOfEach(contexts, suiteOf);
  const isCounted = (each: (typeof ofSuites)[number]) => newest.has(each.context) || !isCancelled(each.report);
  const passedOver = ofSuites.filter((each) => !isCounted(each)).map(({ report }) => report);
  return combine(ofSuites.filter(isCounted).map(({ report }) => report)).map((report) => {
    // Cancelled parts still count, so that the combined report does not look older than before.
    const former = passedOver.filter(
      ({ name, reporter }) => name === report.name && reporter === report.reporter,
    ).length;
    return { ...report, parts: (report.parts ?? 1) + former };
  });
}

// SPEC G13
function newestOfEach(contexts: readonly Context[], keyOf: (context: Context) => readonly string[]) {
  const newest = new Map<string, { readonly report: CheckReport; readonly context: Context }>();
  for (const context of contexts) {
    const report = reportOf(context);
    const key = JSON.stringify([report.name, keyOf(context)]);
    const known = newest.get(key);
    if (known === undefined || isNewer(report, known.report)) newest.set(key, { report, context });
  }
  return [...newest.values()];
}

function combine(reports: readonly CheckReport[]): readonly CheckReport[] {
  const byReporter = Map.groupBy(reports, ({ name, reporter }) => JSON.stringify([name, reporter]));
  return [...byReporter.values()].flatMap((ofOne) => combineReports(ofOne) ?? []);
}

function originOf(context: Context): readonly string[] {
  if (context.__typename === 'StatusContext') return suiteOf(context);
  const { workflowRun } = context.checkSuite;
  return workflowRun === null ? suiteOf(context) : ['workflow', workflowRun.workflow.id, workflowRun.event];
}

function suiteOf(context: Context): readonly string[] {
  return context.__typename === 'StatusContext' ? ['status'] : ['suite', context.checkSuite.id];
}

function isCancelled({ conclusion }: CheckReport): boolean {
  return conclusion === 'CANCELLED' || conclusion === 'STALE';
}

/** An attempt that has not started is newer than any that has. */
// SPEC G82
function isNewer(report: CheckReport, known: CheckReport): boolean {
  const [began, before] = [report, known].map(({ startedAt }) => startedAt ?? Number.POSITIVE_INFINITY);
  if (began !== before) return (began ?? 0) > (before ?? 0);
  return isCancelled(report) === isCancelled(known) ? isWorse(report, known) : isCancelled(known);
}

export function reportOf(context: Context): CheckReport {
  return context.__typename === 'CheckRun' ? checkRunReport(context) : statusReport(context);
}

function checkRunReport(run: CheckRunNode): CheckReport {
  const { app } = run.checkSuite;
  const status = CHECK_STATUS[run.status] ?? 'QUEUED';
  return {
    name: run.name,
    reporter: app?.slug,
    ...(typeof app?.databaseId === 'number' && { reporterId: String(app.databaseId) }),
    status,
    conclusion: status === 'COMPLETED' ? conclusionOf(run.conclusion) : undefined,
    startedAt: instantOf(run.startedAt),
    url: linkOf(run.detailsUrl),
    summary: summaryOf(run.title),
  };
}

/** REQUESTED, WAITING and PENDING wait for a runner or for an approval. */
const CHECK_STATUS: Readonly<Record<string, CheckStatus>> = {
  COMPLETED: 'COMPLETED',
  IN_PROGRESS: 'IN_PROGRESS',
  QUEUED: 'QUEUED',
  REQUESTED: 'QUEUED',
  WAITING: 'QUEUED',
  PENDING: 'QUEUED',
};

const CONCLUSIONS: Readonly<Record<string, CheckConclusion>> = {
  ACTION_REQUIRED: 'ACTION_REQUIRED',
  CANCELLED: 'CANCELLED',
  FAILURE: 'FAILURE',
  NEUTRAL: 'NEUTRAL',
  SKIPPED: 'SKIPPED',
  STALE: 'STALE',
  STARTUP_FAILURE: 'ERROR',
  SUCCESS: 'SUCCESS',
  TIMED_OUT: 'TIMED_OUT',
};

// SPEC G12
function conclusionOf(word: string | null): CheckConclusion {
  return CONCLUSIONS[word ?? ''] ?? 'ERROR';
}

const STATES: Readonly<Record<string, CheckConclusion | undefined>> = {
  SUCCESS: 'SUCCESS',
  FAILURE: 'FAILURE',
  ERROR: 'ERROR',
  PENDING: undefined,
  EXPECTED: undefined,
};

/** A pending one is QUEUED: it must not look like an attempt that ran. Only one that an app set has an app. */
function statusReport(node: StatusNode): CheckReport {
  const conclusion = Object.hasOwn(STATES, node.state) ? STATES[node.state] : 'ERROR';
  return {
    name: node.context,
    reporter: node.creator?.__typename === 'Bot' ? node.creator.login : undefined,
    status: conclusion === undefined ? 'QUEUED' : 'COMPLETED',
    conclusion,
    startedAt: withinSecond(instantOf(node.createdAt), conclusion),
    url: linkOf(node.targetUrl),
    summary: summaryOf(node.description),
  };
}

// SPEC G122
function withinSecond(createdAt: Instant | undefined, conclusion: CheckConclusion | undefined): Instant | undefined {
  if (createdAt === undefined || conclusion === undefined) return createdAt;
  return createdAt + (conclusion === 'SUCCESS' ? 1 : 2);
}
