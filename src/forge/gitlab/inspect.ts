import { nameOf, type RequiredStatus } from '../../engine/model/check.ts';
import type { ForgeRepository } from '../forge.ts';
import { findRequired } from '../hosted/inspect-required.ts';
import { error, inspectStacks, noBranch, notReachable, ok, warning } from '../hosted/setup-finding.ts';
import type { InspectedQueue, SetupFinding } from '../hosting.ts';
import type { GitlabClient } from './api/client.ts';
import type { DeployKeyData, HookData, ProjectData, ProtectedBranchData, UserData } from './api/data.ts';
import { HOOK_EVENTS } from './api/needed-events.ts';
import { type ChecksTools, EXTERNAL, PIPELINE } from './checks.ts';
import { findHead } from './facts.ts';

const DAY_MS = 86_400_000;
const SOON_MS = 14 * DAY_MS;
const MAX_PAGES = 10;
const MAINTAINER = 40;

interface Place {
  readonly own: UserData;
  readonly version: string;
  readonly project: ProjectData;
  readonly expiresAt: string | null;
}

/** Checks the setup of a queue on this branch. It only reads. */
// SPEC G190
export async function inspect(
  { client, testBranchPrefix }: ChecksTools,
  repository: ForgeRepository,
  branch: string,
  queue?: InspectedQueue,
): Promise<readonly SetupFinding[]> {
  client.forget();
  const place = await readPlace(client, repository).catch(notReachable);
  if ('level' in place) return [place];
  const common = [...inspectAccount(place), ...inspectProject(place, queue)];
  if ((await findHead(client, repository, branch)) === undefined) return [...common, noBranch(branch)];
  const { project } = place;
  const required = await findRequired(queue, branch, {
    readFile: (paths) => readFile(client, repository, { paths, branch }),
    readRules: () => (project.only_allow_merge_if_pipeline_succeeds === true ? [PIPELINE] : []),
  });
  return [
    ...common,
    ...(await inspectTarget(client, repository, branch)),
    ...inspectStacks({ branch, dismissesApprovals: false, deletesBranches: false }),
    ...required.findings,
    ...(required.isNone ? [] : inspectChecks(required.statuses, { branch, prefix: testBranchPrefix })),
    ...(await inspectHooks(client, repository)),
  ];
}

async function readPlace(client: GitlabClient, repository: ForgeRepository): Promise<Place> {
  const own = await client.readOwn();
  const { data } = await client.request<{ readonly version: string }>({ path: '/metadata' });
  const token = await client.find<{ readonly expires_at?: string | null }>({ path: '/personal_access_tokens/self' });
  const project = await client.resolve(repository, { isAsked: true });
  return { own, version: data.version, project, expiresAt: token?.expires_at ?? null };
}

function inspectAccount({ own, version, expiresAt }: Place): readonly SetupFinding[] {
  const findings = [
    ok('CONNECTED', `Sluice acts as ${own.username} on GitLab ${version}.`),
    warning('PREVIEW', 'GitLab is a preview: this version of Sluice has not met a real GitLab before yours.'),
  ];
  if (expiresAt === null) return findings;
  const isSoon = Date.parse(expiresAt) < Date.now() + SOON_MS;
  const text = `The token expires on ${expiresAt}.`;
  return [
    ...findings,
    isSoon ? warning('TOKEN_EXPIRES', `${text} Rotate it before, or nothing lands.`) : ok('TOKEN', text),
  ];
}

function inspectProject({ own, project }: Place, queue: InspectedQueue | undefined): readonly SetupFinding[] {
  const { path_with_namespace: name, permissions, merge_method: method, archived } = project;
  const findings: SetupFinding[] = [];
  if (archived === true) findings.push(error('ARCHIVED', `${name} is archived: nothing can land.`));
  if (project.merge_requests_access_level === 'disabled')
    findings.push(error('NO_MERGE_REQUESTS', `${name} has no merge requests: enable them in its settings.`));
  const level = Math.max(permissions?.project_access?.access_level ?? 0, permissions?.group_access?.access_level ?? 0);
  findings.push(
    level >= MAINTAINER
      ? ok('MAINTAINER', `${own.username} is a maintainer of ${name}.`)
      : error('NOT_MAINTAINER', `${own.username} is no maintainer of ${name}: give the token the role Maintainer.`),
  );
  if (queue?.landingMode === 'API')
    findings.push(error('LANDING_MODE', 'Sluice lands on GitLab by PUSH alone: set landingMode to PUSH.'));
  if (method === 'ff' && queue?.mergeMethod === 'MERGE_COMMIT')
    findings.push(
      warning(
        'MERGE_METHOD',
        `${name} allows fast-forward merges alone, and this queue makes merge commits (mergeMethod).`,
      ),
    );
  return findings;
}

async function inspectTarget(
  client: GitlabClient,
  repository: ForgeRepository,
  branch: string,
): Promise<readonly SetupFinding[]> {
  const { deployKeyFile } = client.connection;
  const asked = { repository, path: '/protected_branches' };
  const [rules, keys] = await Promise.all([
    client.list<ProtectedBranchData>(asked, MAX_PAGES).catch(() => []),
    client.list<DeployKeyData>({ repository, path: '/deploy_keys' }, MAX_PAGES).catch(() => []),
  ]);
  const rule = rules.find(({ name }) => name === branch);
  if (rule === undefined)
    return [
      warning(
        'NOT_PROTECTED',
        `${branch} is not protected by its name, so others may push past the queue. Protect it.`,
      ),
    ];
  const writers = new Set(keys.flatMap(({ id, can_push: mayWrite }) => (mayWrite ? [id] : [])));
  const isKeyed = rule.push_access_levels.some(({ deploy_key_id: id }) => typeof id === 'number' && writers.has(id));
  const people = rule.push_access_levels.filter(
    ({ access_level: level, deploy_key_id: id }) => !id && (level ?? 0) > 0,
  );
  const findings: SetupFinding[] = [];
  if (people.length > 0)
    findings.push(
      warning(
        'OTHERS_PUSH',
        `Others may push to ${branch} past the queue: set "Allowed to push" to the deploy key alone.`,
      ),
    );
  if (deployKeyFile === undefined) {
    const text = `No deploy key is configured, so the token pushes, which ${branch} must allow: sluice forge setup gitlab makes a key.`;
    return [...findings, people.length > 0 ? warning('NO_DEPLOY_KEY', text) : error('NO_DEPLOY_KEY', text)];
  }
  const text = isKeyed
    ? ok('TARGET_ALLOWED', `A deploy key with write access may push to ${branch}.`)
    : error(
        'KEY_NOT_ALLOWED',
        `No deploy key with write access may push to ${branch}: in Settings, Repository, Protected branches, add Sluice's deploy key to "Allowed to push and merge".`,
      );
  return [...findings, text];
}

interface CheckFacts {
  readonly branch: string;
  readonly prefix: string;
}

function inspectChecks(required: readonly RequiredStatus[], { branch, prefix }: CheckFacts): readonly SetupFinding[] {
  if (required.length === 0)
    return [
      error(
        'NO_REQUIRED_CHECKS',
        `No check is required for ${branch} anywhere, so every merge request would fail to start. Name checks with the queue's requiredStatuses: ${PIPELINE}, names of jobs, or ${EXTERNAL}NAME; or let merge requests require a pipeline in the settings of the project.`,
      ),
    ];
  return required.map((status) => {
    const name = nameOf(status);
    if (!name.startsWith(EXTERNAL))
      return ok(
        'CHECK',
        `"${name}" counts where the push of a branch ${prefix}/… started the pipeline: let its rules run there.`,
      );
    return typeof status === 'string'
      ? warning(
          'CHECK_OF_ANYBODY',
          `Every developer can report "${name}" until one merge request has landed: name the account, ${name}@ACCOUNT.`,
        )
      : ok('CHECK_PINNED', `"${name}" counts when ${status.app} reports it.`);
  });
}

async function inspectHooks(client: GitlabClient, repository: ForgeRepository): Promise<readonly SetupFinding[]> {
  const hooks = await client.list<HookData>({ repository, path: '/hooks' }, MAX_PAGES).catch(() => undefined);
  const hook = hooks?.find(({ url }) => /\/webhooks\/gitlab(?:\/|$)/.test(url));
  const again = 'run: sluice forge setup gitlab';
  if (hook === undefined)
    return [warning('NO_WEBHOOK', `There is no webhook: everything is found by asking, which is slower; ${again}`)];
  if (typeof hook.disabled_until === 'string')
    return [
      warning(
        'WEBHOOK_DISABLED',
        `GitLab disabled the webhook until ${hook.disabled_until}, because deliveries failed.`,
      ),
    ];
  const missing = HOOK_EVENTS.filter((event) => hook[event] !== true);
  if (missing.length > 0)
    return [warning('WEBHOOK_EVENTS', `The webhook does not tell of ${missing.join(', ')}; ${again}`)];
  if (client.connection.webhookSecret === undefined)
    return [warning('NO_WEBHOOK_SECRET', `The server has no webhook secret, so it believes no event; ${again}`)];
  return [ok('WEBHOOK', `Events are sent to ${hook.url}.`)];
}

async function readFile(
  client: GitlabClient,
  repository: ForgeRepository,
  { paths, branch }: { readonly paths: readonly string[]; readonly branch: string },
): Promise<{ readonly path: string; readonly text: string } | undefined> {
  for (const path of paths) {
    const asked = { repository, path: `/repository/files/${encodeURIComponent(path)}`, query: { ref: branch } };
    const found = await client.find<{ readonly content?: string }>(asked);
    if (typeof found?.content === 'string')
      return { path, text: Buffer.from(found.content, 'base64').toString('utf8') };
  }
  return undefined;
}
