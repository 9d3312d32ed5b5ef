import type { RequiredStatus } from '../../engine/model/check.ts';
import type { ForgeRepository } from '../forge.ts';
import { findRequired } from '../hosted/inspect-required.ts';
import { error, noBranch, notReachable, ok, warning } from '../hosted/setup-finding.ts';
import type { InspectedQueue, SetupFinding } from '../hosting.ts';
import type { GithubClient } from './api/client.ts';
import type { Installation } from './api/installations.ts';
import { inspectChecks } from './inspect/checks.ts';
import { inspectPermissions } from './inspect/permissions.ts';
import { GithubReader } from './inspect/read.ts';
import { type BranchRules, inspectTarget, inspectTestBranches } from './inspect/rules.ts';
import { inspectWebhook } from './inspect/webhook.ts';

export interface InspectOptions {
  readonly client: GithubClient;
  readonly testBranchPrefix: string;
}

/** Checks the setup of a queue on this branch. It only reads, at the lowest urgency, so landings go first. */
// SPEC G69
export async function inspect(
  { client, testBranchPrefix }: InspectOptions,
  repository: ForgeRepository,
  branch: string,
  queue?: InspectedQueue,
): Promise<readonly SetupFinding[]> {
  client.forget(repository.owner, repository.name);
  const installation = await client.installation(repository).catch(notReachable);
  if ('level' in installation) return [installation];
  const reader = new GithubReader(client, repository);
  const present = await reader.readRepository();
  if (present === undefined) return [gone(repository)];
  if (!(await reader.hasBranch(branch))) return [...describeIdentity(installation), noBranch(branch)];
  const us = { ...installation, appId: appIdOf(client) };
  const way = queue?.landingMode === 'PUSH' ? 'push' : 'merge';
  const rules = await readRules(reader, { ...us, way }, branch);
  const testBranch = `${testBranchPrefix}/pr-1/00000000-0000-0000-0000-000000000000`;
  const testRules = await readRules(reader, { ...us, way: 'push' }, testBranch);
  const required = await findRequired(queue, branch, {
    readFile: (paths) => reader.readFile(paths, branch),
    readRules: () => fromRules(rules),
  });
  const facts = { branch, testBranch, prefix: testBranchPrefix, required: required.statuses };
  const [workflows, seen] = await Promise.all([reader.readWorkflows(branch), reader.readSeenChecks(branch)]);
  const hasDraftPullRequests = queue?.createPrsForTestingBranches === true;
  return [
    ...describeIdentity(installation),
    ...(present.archived === true ? [archived(repository)] : []),
    ...inspectTarget(rules, present, queue),
    ...inspectTestBranches(testRules, testBranchPrefix),
    ...required.findings,
    ...(required.isNone ? [] : inspectChecks({ ...facts, workflows, seen, hasDraftPullRequests })),
    ...(await inspectWebhook(client)),
  ];
}

function describeIdentity(installation: Installation): readonly SetupFinding[] {
  if (installation.isApp) {
    const text = `The app ${installation.login} is installed.`;
    return [ok('INSTALLED', text), ...inspectPermissions(installation.permissions)];
  }
  const text = `Sluice acts as ${installation.login || 'a person'}, by a personal access token: fine for a trial. An App ("sluice forge setup github") has its own name, limits and permissions.`;
  return [warning('PERSONAL_TOKEN', text)];
}

type Us = Pick<BranchRules, 'login' | 'isApp' | 'appId' | 'way'>;

async function readRules(reader: GithubReader, us: Us, branch: string): Promise<BranchRules> {
  const { login, isApp, appId, way } = us;
  const [protection, rules] = await Promise.all([reader.readProtection(branch), reader.readRules(branch)]);
  return { branch, protection, rules, rulesets: await reader.readRulesets(rules), login, isApp, appId, way };
}

/** A client id also identifies an app, but it is not the app's number. */
function appIdOf({ connection: { auth } }: GithubClient): number | undefined {
  return auth.kind === 'app' && /^\d+$/.test(auth.appId) ? Number(auth.appId) : undefined;
}

function fromRules({ protection, rules }: BranchRules): readonly RequiredStatus[] {
  const { checks = [], contexts = [] } = protection?.required_status_checks ?? {};
  const classic = checks.length > 0 ? checks.map(({ context, app_id }) => toStatus(context, app_id)) : contexts;
  const ruled = rules
    .filter(({ type }) => type === 'required_status_checks')
    .flatMap(({ parameters }) => (parameters?.['required_status_checks'] ?? []) as readonly RuledCheck[])
    .map(({ context, integration_id }) => toStatus(context, integration_id));
  const names = new Set<string>();
  return [...classic, ...ruled].filter((status) => {
    const name = typeof status === 'string' ? status : status.name;
    return !names.has(name) && names.add(name);
  });
}

interface RuledCheck {
  readonly context: string;
  readonly integration_id?: number | null;
}

/** GitHub writes -1 for any app. */
function toStatus(name: string, app: number | null | undefined): RequiredStatus {
  return app === undefined || app === null || app < 0 ? name : { name, app: String(app) };
}

function gone({ owner, name }: ForgeRepository): SetupFinding {
  const text = `${owner}/${name} is not there, or the app is not installed on it.`;
  return error('REPOSITORY_NOT_FOUND', text);
}

function archived({ owner, name }: ForgeRepository): SetupFinding {
  return error('ARCHIVED', `${owner}/${name} is archived: nothing can land.`);
}
