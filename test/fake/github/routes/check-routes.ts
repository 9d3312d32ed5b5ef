import { authorize } from '../auth.ts';
import { addStatus, type CheckFields, checksOf, createCheck, ensureSuite, latestOf, updateCheck } from '../checks.ts';
import type { Ask, Route } from '../exchange.ts';
import { findCommit } from '../git.ts';
import type { App, CheckRun, CheckSuite, Repository } from '../model.ts';
import { invalid, notFound, Refused } from '../refused.ts';
import { checkView, combinedStatusView, fullStatusView, suiteView } from '../views/check-view.ts';
import { appOf } from '../world.ts';
import { findNamed } from './commit-routes.ts';
import {
  actorOf,
  type Body,
  bodyOf,
  choiceOf,
  created,
  instantOf,
  listed,
  need,
  numberOf,
  ok,
  type Params,
  pageOf,
  repositoryOf,
  requiredText,
  textOf,
} from './tools.ts';

const READ = need('checks', 'read');
const WRITE = need('checks', 'write');
const REPO = '/repos/{owner}/{repo}';

export const checkRoutes: readonly Route[] = [
  { method: 'POST', path: `${REPO}/check-runs`, handle: createRun },
  { method: 'GET', path: `${REPO}/check-runs/{check_run_id}`, handle: getRun },
  { method: 'PATCH', path: `${REPO}/check-runs/{check_run_id}`, handle: updateRun },
  { method: 'POST', path: `${REPO}/check-runs/{check_run_id}/rerequest`, handle: rerequestRun },
  { method: 'GET', path: `${REPO}/commits/{ref}/check-runs`, handle: listRuns },
  { method: 'GET', path: `${REPO}/commits/{ref}/check-suites`, handle: listSuites },
  { method: 'GET', path: `${REPO}/check-suites/{check_suite_id}`, handle: getSuite },
  { method: 'GET', path: `${REPO}/check-suites/{check_suite_id}/check-runs`, handle: listRunsOfSuite },
  { method: 'POST', path: `${REPO}/check-suites/{check_suite_id}/rerequest`, handle: rerequestSuite },
  { method: 'POST', path: `${REPO}/statuses/{sha}`, handle: createStatus },
  { method: 'GET', path: `${REPO}/commits/{ref}/statuses`, handle: listStatuses },
  { method: 'GET', path: `${REPO}/commits/{ref}/status`, handle: combinedStatus },
];

type Actor = Pick<Ask, 'world' | 'caller'>;

function reporterOf({ caller }: Actor): App {
  const app = appOf(caller);
  if (app === undefined) throw new Refused(403, 'You must authenticate via a GitHub App.');
  return app;
}

const STATUSES: readonly CheckRun['status'][] = [
  'queued',
  'in_progress',
  'completed',
  'waiting',
  'requested',
  'pending',
];
const CONCLUSIONS = [
  'success',
  'failure',
  'neutral',
  'cancelled',
  'skipped',
  'timed_out',
  'action_required',
  'stale',
] as const;

function fieldsOf(body: Body): CheckFields {
  const output = typeof body['output'] === 'object' && body['output'] !== null ? (body['output'] as Body) : {};
  const conclusion = choiceOf(body, 'conclusion', CONCLUSIONS);
  if (choiceOf(body, 'status', STATUSES) === 'completed' && conclusion === undefined)
    throw new Refused(422, 'Invalid request.\n\nFor completed check runs a conclusion is needed.');
  checkLength(textOf(output, 'summary'), 'summary', MAX_OUTPUT);
  checkLength(textOf(output, 'text'), 'text', MAX_OUTPUT);
  const fields = {
    status: choiceOf(body, 'status', STATUSES),
    conclusion,
    externalId: textOf(body, 'external_id'),
    startedAt: instantOf(body, 'started_at'),
    completedAt: instantOf(body, 'completed_at'),
    detailsUrl: textOf(body, 'details_url'),
    title: textOf(output, 'title'),
    summary: textOf(output, 'summary'),
    text: textOf(output, 'text'),
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

async function createRun(ask: Ask, params: Params) {
  reporterOf(ask);
  const repository = repositoryOf(ask, params, WRITE);
  return created(checkView(ask.world, repository, await makeRun(ask, repository, bodyOf(ask))));
}

/** Shared by REST and GraphQL. */
export async function makeRun(actor: Actor, repository: Repository, body: Body): Promise<CheckRun> {
  const { world, caller } = actor;
  const app = reporterOf(actor);
  authorize(caller, repository, WRITE);
  const sha = requiredText(body, 'head_sha');
  if ((await findCommit(repository.gitDir, sha)) === undefined)
    throw new Refused(422, `No commit found for SHA: ${sha}`);
  const fields = { name: requiredText(body, 'name'), ...fieldsOf(body) };
  return createCheck(world, repository, ensureSuite(world, repository, app, sha), fields);
}

function runOf(repository: Repository, params: Params): CheckRun {
  const check = repository.checks.find(({ id }) => id === numberOf(params, 'check_run_id'));
  if (check === undefined) throw notFound();
  return check;
}

function getRun(ask: Ask, params: Params) {
  const repository = repositoryOf(ask, params, READ);
  return ok(checkView(ask.world, repository, runOf(repository, params)));
}

function updateRun(ask: Ask, params: Params) {
  reporterOf(ask);
  const repository = repositoryOf(ask, params, WRITE);
  const check = runOf(repository, params);
  changeRun(ask, repository, { check, body: bodyOf(ask) });
  return ok(checkView(ask.world, repository, check));
}

export function changeRun(
  actor: Actor,
  repository: Repository,
  { check, body }: { readonly check: CheckRun; readonly body: Body },
): void {
  const app = reporterOf(actor);
  authorize(actor.caller, repository, WRITE);
  if (check.suite.app !== app) throw new Refused(403, 'Invalid app_id - check run can only be modified by its app.');
  const name = textOf(body, 'name');
  updateCheck(actor.world, repository, check, { ...fieldsOf(body), ...(name === undefined ? {} : { name }) });
}

function rerequestRun(ask: Ask, params: Params) {
  const repository = repositoryOf(ask, params, WRITE);
  const check = runOf(repository, params);
  ask.world.announce({ event: 'check_run', action: 'rerequested', repository, sender: actorOf(ask), check });
  return created({});
}

async function commitOf(repository: Repository, name: string): Promise<string> {
  const commit = await findNamed(repository, name);
  if (commit === undefined) throw new Refused(422, `No commit found for SHA: ${name}`);
  return commit.sha;
}

async function listRuns(ask: Ask, params: Params) {
  const repository = repositoryOf(ask, params, READ);
  return runsAnswer(ask, repository, checksOf(repository, await commitOf(repository, params['ref'] ?? '')));
}

function runsAnswer(ask: Ask, repository: Repository, checks: readonly CheckRun[]) {
  const { query, world } = ask;
  const shown = (query.get('filter') === 'all' ? checks.toReversed() : latestOf(checks))
    .filter(({ name }) => query.get('check_name') === null || query.get('check_name') === name)
    .filter(({ status }) => query.get('status') === null || query.get('status') === status)
    .filter(({ suite }) => query.get('app_id') === null || query.get('app_id') === String(suite.app.id));
  const { items, headers } = pageOf(ask, shown);
  const views = items.map((check) => checkView(world, repository, check));
  return ok({ total_count: shown.length, check_runs: views }, headers);
}

async function listSuites(ask: Ask, params: Params) {
  const repository = repositoryOf(ask, params, READ);
  const sha = await commitOf(repository, params['ref'] ?? '');
  const commit = await findCommit(repository.gitDir, sha);
  const found = repository.suites.filter((suite) => suite.sha === sha);
  const { items, headers } = pageOf(ask, found);
  const views = items.map((suite) => suiteView(ask.world, repository, suite, commit));
  return ok({ total_count: found.length, check_suites: views }, headers);
}

function suiteOf(repository: Repository, params: Params): CheckSuite {
  const suite = repository.suites.find(({ id }) => id === numberOf(params, 'check_suite_id'));
  if (suite === undefined) throw notFound();
  return suite;
}

async function getSuite(ask: Ask, params: Params) {
  const repository = repositoryOf(ask, params, READ);
  const suite = suiteOf(repository, params);
  return ok(suiteView(ask.world, repository, suite, await findCommit(repository.gitDir, suite.sha)));
}

function listRunsOfSuite(ask: Ask, params: Params) {
  const repository = repositoryOf(ask, params, READ);
  const suite = suiteOf(repository, params);
  return runsAnswer(
    ask,
    repository,
    checksOf(repository, suite.sha).filter((check) => check.suite === suite),
  );
}

function rerequestSuite(ask: Ask, params: Params) {
  const repository = repositoryOf(ask, params, WRITE);
  const suite = suiteOf(repository, params);
  ask.world.announce({ event: 'check_suite', action: 'rerequested', repository, sender: actorOf(ask), suite });
  return created({});
}

const MAX_DESCRIPTION = 140;
const MAX_OUTPUT = 65_535;

function checkLength(text: string | undefined, field: string, max: number): void {
  if (text === undefined || text.length <= max) return;
  throw invalid({ field, code: 'custom', message: `${field} is too long (maximum is ${max} characters)` });
}

async function createStatus(ask: Ask, params: Params) {
  const repository = repositoryOf(ask, params, need('statuses', 'write'));
  const sha = params['sha'] ?? '';
  if ((await findCommit(repository.gitDir, sha)) === undefined)
    throw new Refused(422, `No commit found for SHA: ${sha}`);
  const body = bodyOf(ask);
  const state = choiceOf(body, 'state', ['error', 'failure', 'pending', 'success']);
  if (state === undefined) throw new Refused(422, 'Validation Failed');
  checkLength(textOf(body, 'description'), 'description', MAX_DESCRIPTION);
  const status = addStatus(ask.world, repository, actorOf(ask), {
    sha,
    state,
    context: textOf(body, 'context') ?? 'default',
    description: textOf(body, 'description'),
    targetUrl: textOf(body, 'target_url'),
    app: appOf(ask.caller),
  });
  return created(fullStatusView(ask.world, repository, status));
}

async function listStatuses(ask: Ask, params: Params) {
  const repository = repositoryOf(ask, params, need('statuses', 'read'));
  const sha = await commitOf(repository, params['ref'] ?? '');
  const found = repository.statuses.filter((status) => status.sha === sha).toReversed();
  return listed(ask, found, (status) => fullStatusView(ask.world, repository, status));
}

async function combinedStatus(ask: Ask, params: Params) {
  const repository = repositoryOf(ask, params, need('statuses', 'read'));
  const whole = combinedStatusView(ask.world, repository, await commitOf(repository, params['ref'] ?? ''));
  const { items, headers } = pageOf(ask, whole.statuses);
  return ok({ ...whole, statuses: items }, headers);
}
