import { nameOf, type RequiredStatus } from '../../engine/model/check.ts';
import { isReportedBy } from '../../engine/model/required.ts';
import type { ForgeRepository } from '../forge.ts';
import { findRequired } from '../hosted/inspect-required.ts';
import { encodePath } from '../hosted/rest-client.ts';
import { error, inspectStacks, noBranch, notReachable, ok, warning } from '../hosted/setup-finding.ts';
import type { CheckReport, InspectedQueue, SetupFinding } from '../hosting.ts';
import type { GiteaClient } from './api/client.ts';
import type { AccountData, HookData, RepositoryData } from './api/data.ts';
import { NEEDED_EVENTS } from './api/needed-events.ts';
import { expand, type FactsTools } from './facts.ts';
import { type BranchRules, requiredContexts } from './rules.ts';
import { readReports } from './statuses.ts';

export interface InspectOptions extends FactsTools {
  readonly testBranchPrefix: string;
}

/** Checks the setup of a queue on this branch. It only reads. */
// SPEC G169
export async function inspect(
  tools: InspectOptions,
  repository: ForgeRepository,
  branch: string,
  queue?: InspectedQueue,
): Promise<readonly SetupFinding[]> {
  const { client, rules } = tools;
  client.forget(repository.owner, repository.name);
  rules.forget();
  const place = await readPlace(client, repository).catch(notReachable);
  if ('level' in place) return [place];
  const found = await rules.read(repository, branch);
  const common = [...inspectServer(place), ...inspectRepository(place, queue)];
  if (found === undefined) return [...common, noBranch(branch)];
  const seen = await readReports(client, repository, found.branch.commit.id);
  const required = await findRequired(queue, branch, {
    readFile: (paths) => readFile(client, repository, { paths, branch }),
    readRules: () => expand(requiredContexts(found) ?? [], requiredContexts(found) === undefined ? [] : seen),
  });
  const facts = { branch, prefix: tools.testBranchPrefix, seen, isDraft: queue?.createPrsForTestingBranches === true };
  return [
    ...common,
    ...inspectTarget(found, queue),
    ...inspectStacks({
      branch,
      // Gitea dismisses approvals at a push alone.
      dismissesApprovals: false,
      deletesBranches: place.repository.default_delete_branch_after_merge === true,
    }),
    ...required.findings,
    ...(required.isNone ? [] : inspectChecks(required.statuses, facts)),
    ...(await inspectHooks(client, repository)),
  ];
}

interface Place {
  readonly own: AccountData;
  readonly version: string;
  readonly repository: RepositoryData;
}

async function readPlace(client: GiteaClient, repository: ForgeRepository): Promise<Place> {
  const own = await client.readOwn();
  const { data } = await client.request<{ readonly version: string }>({ path: '/version' });
  return { own, version: data.version, repository: await client.resolve(repository) };
}

/** Forgejo names itself before the version of Gitea that its API is compatible with. */
function inspectServer({ own, version }: Place): readonly SetupFinding[] {
  const isForgejo = version.includes('+gitea-');
  const server = `${isForgejo ? 'Forgejo' : 'Gitea'} ${version.split('+')[0]}`;
  const text = `Sluice acts as ${own.login} on ${server}.`;
  if (!isForgejo) return [ok('CONNECTED', text)];
  return [warning('FORGEJO', `${text} Forgejo has the same API, and Sluice is tested with Gitea 1.26.`)];
}

function inspectRepository({ own, repository }: Place, queue: InspectedQueue | undefined): readonly SetupFinding[] {
  const { full_name, archived, permissions } = repository;
  const findings: SetupFinding[] = [];
  if (archived === true) findings.push(error('ARCHIVED', `${full_name} is archived: nothing can land.`));
  if (repository.has_pull_requests === false)
    findings.push(error('NO_PULL_REQUESTS', `${full_name} has no pull requests: enable them in its settings.`));
  findings.push(
    permissions?.admin === true
      ? ok('ADMINISTRATOR', `${own.login} is an administrator of ${full_name}.`)
      : error(
          'NOT_ADMINISTRATOR',
          `${own.login} is no administrator of ${full_name}, so it may read neither permissions of people nor protected branches. Add it as a collaborator with the permission Administrator.`,
        ),
  );
  if (repository.allow_manual_merge === true || queue?.landingMode === 'API') return findings;
  return [
    ...findings,
    error(
      'NO_MANUAL_MERGE',
      `${full_name} does not allow to mark pull requests as manually merged, so those that land by a push would be closed instead. Set it in Settings, Repository, Pull Requests, or run: sluice forge setup gitea --repo ${full_name}`,
    ),
  ];
}

function inspectTarget(
  { branch, protection }: BranchRules,
  queue: InspectedQueue | undefined,
): readonly SetupFinding[] {
  const name = branch.name;
  const isPush = queue?.landingMode !== 'API';
  if (!branch.protected) {
    return [
      warning(
        'NOT_PROTECTED',
        `${name} is not protected, so everybody with write access can push past the queue. Protect it, and let the account of Sluice push.`,
      ),
    ];
  }
  const findings: SetupFinding[] = [];
  const isAllowed = isPush ? branch.user_can_push : branch.user_can_merge;
  findings.push(
    isAllowed
      ? ok('TARGET_ALLOWED', `The account of Sluice may ${isPush ? 'push to' : 'merge into'} ${name}.`)
      : error(
          'TARGET_NOT_ALLOWED',
          `The protection of ${name} does not let the account of Sluice ${isPush ? 'push: add it to those who may push' : 'merge: add it to those who may merge'}.`,
        ),
  );
  if (protection === undefined) return findings;
  if (isPush && protection.require_signed_commits === true)
    findings.push(
      error('SIGNATURES', `The protection of ${name} requires signed commits, which Sluice does not make.`),
    );
  if ((protection.protected_file_patterns ?? '') !== '')
    findings.push(
      warning(
        'PROTECTED_FILES',
        `The protection of ${name} has protected files: pull requests that change them cannot land.`,
      ),
    );
  if (protection.block_admin_merge_override !== true)
    findings.push(
      warning(
        'ADMIN_OVERRIDE',
        `Administrators may merge into ${name} past its checks. Sluice never does so; forbid it with "Administrators must follow branch protection rules".`,
      ),
    );
  return findings;
}

interface CheckFacts {
  readonly branch: string;
  readonly prefix: string;
  /** Statuses on the head of the target branch. */
  readonly seen: readonly CheckReport[];
  /** The queue opens a pull request for each test branch. */
  readonly isDraft: boolean;
}

function inspectChecks(required: readonly RequiredStatus[], facts: CheckFacts): readonly SetupFinding[] {
  if (required.length === 0) {
    return [
      error(
        'NO_REQUIRED_CHECKS',
        `No check is required for ${facts.branch} anywhere, so every pull request would fail to start. Name checks with the queue's requiredStatuses ([] if nothing should be tested), in .sluice.yaml, or in the protection of ${facts.branch}.`,
      ),
    ];
  }
  return required.map((status) => inspectCheck(status, facts));
}

function inspectCheck(status: RequiredStatus, { seen, prefix, isDraft }: CheckFacts): SetupFinding {
  const name = nameOf(status);
  const reports = seen.filter((report) => report.name === name);
  const by = reports[0]?.reporter;
  if (/ \(pull_request\)$/.test(name) && !isDraft) {
    const push = name.replace(/ \(pull_request\)$/, ' (push)');
    return error(
      'CHECK_OF_PULL_REQUESTS',
      `Gitea Actions reports "${name}" for pull requests, and test branches are pushed. Require "${push}" with the queue's requiredStatuses, and let the workflow run for pushes to "${prefix}/**".`,
    );
  }
  if (typeof status !== 'string') {
    const isSeen = reports.length === 0 || reports.some((report) => isReportedBy(status.app, report));
    return isSeen
      ? ok('CHECK_PINNED', `The check "${name}" counts when ${status.app} reports it.`)
      : error(
          'CHECK_OF_ANOTHER_ACCOUNT',
          `The check "${name}" must be reported by ${status.app}, and on recent commits it came from ${by}: it would be waited for in vain.`,
        );
  }
  return warning(
    'CHECK_OF_ANYBODY',
    `Every account with write access can report "${name}" until one pull request has landed, and from then on the account that reported it. Name the account of your CI: --required-statuses '${name}@${by ?? 'ACCOUNT'}'`,
  );
}

async function inspectHooks(client: GiteaClient, repository: ForgeRepository): Promise<readonly SetupFinding[]> {
  const { status, data } = await client.request<readonly HookData[] | null>({
    repository,
    path: '/hooks',
    accept: [403, 404],
  });
  if (status >= 300) return [];
  const isOurs = ({ config }: HookData) => /\/webhooks\/gitea(?:\/|$)/.test(config.url ?? '');
  const hook = (data ?? []).find(isOurs);
  const again = 'run: sluice forge setup gitea';
  if (hook === undefined || !hook.active) {
    const text = `${hook === undefined ? 'There is no webhook' : 'The webhook is not active'}: everything is found by asking, which is slower; ${again}`;
    return [warning('NO_WEBHOOK', text)];
  }
  const missing = NEEDED_EVENTS.filter((event) => !(hook.events ?? []).includes(event));
  if (missing.length > 0)
    return [warning('WEBHOOK_EVENTS', `The webhook does not tell of ${missing.join(', ')}; ${again}`)];
  if (client.connection.webhookSecret === undefined)
    return [warning('NO_WEBHOOK_SECRET', `The server has no webhook secret, so it believes no event; ${again}`)];
  return [ok('WEBHOOK', `Events are sent to ${hook.config.url}.`)];
}

async function readFile(
  client: GiteaClient,
  repository: ForgeRepository,
  { paths, branch }: { readonly paths: readonly string[]; readonly branch: string },
): Promise<{ readonly path: string; readonly text: string } | undefined> {
  for (const path of paths) {
    const { status, data } = await client.request<{ readonly content?: string | null }>({
      repository,
      path: `/contents/${encodePath(path)}`,
      query: { ref: branch },
      accept: [404],
    });
    if (status === 200 && typeof data.content === 'string') {
      return { path, text: Buffer.from(data.content, 'base64').toString('utf8') };
    }
  }
  return undefined;
}
