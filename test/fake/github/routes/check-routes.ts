import { findCommit } from '../../hosted/git.ts';
import { authorize } from '../auth.ts';
import { addStatus, type CheckFields, checksOf, createCheck, ensureSuite, latestOf, updateCheck } from '../checks.ts';
import type { Ask, Route } from '../exchange.ts';
import type { App, CheckRun, CommitStatus, Repository } from '../model.ts';
import { invalid, Refused } from '../refused.ts';
import { userView } from '../views/account-view.ts';
import { checkView, combinedStatusView, statusView, workflowRunView } from '../views/check-view.ts';
import { cancelRun } from '../workflow-runs.ts';
import { appOf } from '../world.ts';
import { type Body, type Call, created, inRepository, need, ok, pageOf, requiredText, textOf } from './call.ts';

const WRITE = need('checks', 'write');
const READ_RUNS = need('actions', 'read');
const MAX_DESCRIPTION = 140;
const MAX_OUTPUT = 65_535;

export const checkRoutes: readonly Route[] = [
  inRepository('POST /check-runs', WRITE, createRun),
  inRepository('PATCH /check-runs/{check_run_id}', WRITE, updateRun),
  inRepository('GET /commits/{ref}/check-runs', need('checks', 'read'), listChecks),
  inRepository('POST /statuses/{sha}', need('statuses', 'write'), createStatus),
  inRepository('GET /commits/{ref}/status', need('statuses', 'read'), combinedStatus),
  inRepository('GET /actions/runs', READ_RUNS, listRuns),
  inRepository('GET /actions/runs/{run_id}', READ_RUNS, getRun),
  inRepository('POST /actions/runs/{run_id}/cancel', need('actions', 'write'), cancel),
];

type Actor = Pick<Ask, 'world' | 'caller'>;

function reporterOf({ caller }: Actor): App {
  const app = appOf(caller);
  if (app === undefined) throw new Refused(403, 'You must authenticate via a GitHub App.');
  return app;
}

/** The description of the request has refused unknown words already. */
function fieldsOf(body: Body): CheckFields {
  const output = (body['output'] ?? {}) as Body;
  const instantOf = (field: string) => {
    const text = textOf(body, field);
    return text === undefined ? undefined : Date.parse(text);
  };
  const fields = {
    name: textOf(body, 'name'),
    status: textOf(body, 'status') as CheckRun['status'] | undefined,
    conclusion: textOf(body, 'conclusion') as CheckRun['conclusion'],
    externalId: textOf(body, 'external_id'),
    startedAt: instantOf('started_at'),
    completedAt: instantOf('completed_at'),
    detailsUrl: textOf(body, 'details_url'),
    title: textOf(output, 'title'),
    summary: textOf(output, 'summary'),
    text: textOf(output, 'text'),
  };
  if (fields.status === 'completed' && fields.conclusion === undefined)
    throw new Refused(422, 'Invalid request.\n\nFor completed check runs a conclusion is needed.');
  checkLength(fields.summary, 'summary', MAX_OUTPUT);
  checkLength(fields.text, 'text', MAX_OUTPUT);
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function checkLength(text: string | undefined, field: string, max: number): void {
  if (text === undefined || text.length <= max) return;
  throw invalid({ field, code: 'custom', message: `${field} is too long (maximum is ${max} characters)` });
}

async function createRun(call: Call) {
  const check = await makeRun(call.ask, call.repository, call.body());
  return created(checkView(call.world, call.repository, check));
}

/** Shared by REST and GraphQL. */
export async function makeRun(actor: Actor, repository: Repository, body: Body): Promise<CheckRun> {
  const { world, caller } = actor;
  const app = reporterOf(actor);
  authorize(caller, repository, WRITE);
  const sha = await shaOf(repository, requiredText(body, 'head_sha'));
  const fields = { name: requiredText(body, 'name'), ...fieldsOf(body) };
  return createCheck(world, repository, ensureSuite(world, repository, app, sha), fields);
}

async function shaOf({ gitDir, refs }: Repository, name: string): Promise<string> {
  const commit = await findCommit(gitDir, refs.get(`refs/heads/${name}`) ?? name);
  if (commit === undefined) throw new Refused(422, `No commit found for SHA: ${name}`);
  return commit.sha;
}

function updateRun(call: Call) {
  const check = call.pick(call.repository.checks, 'check_run_id');
  changeRun(call.ask, call.repository, { check, body: call.body() });
  return ok(checkView(call.world, call.repository, check));
}

export function changeRun(
  actor: Actor,
  repository: Repository,
  { check, body }: { readonly check: CheckRun; readonly body: Body },
): void {
  const app = reporterOf(actor);
  authorize(actor.caller, repository, WRITE);
  if (check.suite.app !== app) throw new Refused(403, 'Invalid app_id - check run can only be modified by its app.');
  updateCheck(actor.world, repository, check, fieldsOf(body));
}

async function listChecks(call: Call) {
  const { repository, ask, world } = call;
  const checks = checksOf(repository, await shaOf(repository, call.text('ref')));
  const wanted = ask.query.get('check_name');
  const shown = (ask.query.get('filter') === 'all' ? checks.toReversed() : latestOf(checks)).filter(
    ({ name }) => wanted === null || wanted === name,
  );
  return call.count('check_runs', shown, (check) => checkView(world, repository, check));
}

async function createStatus(call: Call) {
  const { repository, world, ask } = call;
  const body = call.body();
  checkLength(textOf(body, 'description'), 'description', MAX_DESCRIPTION);
  const status = addStatus(world, repository, call.actor, {
    sha: await shaOf(repository, call.text('sha')),
    state: requiredText(body, 'state') as CommitStatus['state'],
    context: textOf(body, 'context') ?? 'default',
    description: textOf(body, 'description'),
    targetUrl: textOf(body, 'target_url'),
    app: appOf(ask.caller),
  });
  return created({ ...statusView(status), creator: userView(status.creator) });
}

async function combinedStatus(call: Call) {
  const { repository, ask } = call;
  const whole = combinedStatusView(repository, await shaOf(repository, call.text('ref')));
  const { items, headers } = pageOf(ask, whole.statuses);
  return ok({ ...whole, statuses: items }, headers);
}

function listRuns(call: Call) {
  const sha = call.ask.query.get('head_sha');
  const found = call.repository.runs.filter(({ headSha }) => sha === null || headSha === sha).toReversed();
  return call.count('workflow_runs', found, (run) => workflowRunView(call.repository, run));
}

function getRun(call: Call) {
  return ok(workflowRunView(call.repository, call.pick(call.repository.runs, 'run_id')));
}

function cancel(call: Call) {
  cancelRun(call.world, call.repository, call.pick(call.repository.runs, 'run_id'), call.actor);
  return { status: 202, body: {} };
}
