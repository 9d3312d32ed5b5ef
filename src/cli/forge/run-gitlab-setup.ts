import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { access, mkdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import {
  ACCOUNT_TOKEN,
  type AccountSettings,
  accountFileOf,
  accountFiles,
  checkAccountUrl,
  placeOf,
  writeAccountFile,
} from '../../config/account-forge.ts';
import { loadFiles } from '../../config/connection-file.ts';
import { GitlabClient, type GitlabRequest } from '../../forge/gitlab/api/client.ts';
import type { DeployKeyData, HookData, ProtectedBranchData } from '../../forge/gitlab/api/data.ts';
import { HOOK_EVENTS } from '../../forge/gitlab/api/needed-events.ts';
import { systemClock } from '../../lib/clock.ts';
import { Fault } from '../../lib/fault.ts';
import { succeeds } from '../../lib/succeeds.ts';
import { CliError, EXIT, usageError } from '../core/exit.ts';
import { readInput } from '../core/read-input.ts';
import { clean, paint, say, write } from '../core/terminal.ts';
import {
  type ConnectionPlace,
  describeServer,
  findDataFolder,
  hasServer,
  publicUrlOf,
  refuseReplacing,
  refuseUnwritable,
} from './connection-place.ts';
import { agree, type GiteaSetupOptions, type RepositoryName, SILENT } from './run-gitea-setup.ts';

export interface GitlabSetupOptions extends Omit<GiteaSetupOptions, 'giteaTokenFile'> {
  readonly gitlabTokenFile?: string;
}

interface Step {
  readonly text: string;
  /** A step may need the number of the deploy key, which an earlier one made. */
  readonly request: (key: number) => GitlabRequest;
  readonly isOfKey?: true;
}

const MAX_PAGES = 20;

export async function runGitlabSetup(address: string, options: GitlabSetupOptions): Promise<void> {
  await runSetup(address, options).catch((error: unknown) => {
    throw error instanceof Fault ? new CliError(EXIT.unavailable, error.detail) : error;
  });
}

// SPEC G192
async function runSetup(address: string, options: GitlabSetupOptions): Promise<void> {
  const problem = checkAccountUrl(address);
  if (problem !== undefined) throw usageError(`The address ${problem}.`);
  const { host, url } = placeOf(address);
  const place: ConnectionPlace = { kind: 'gitlab', host, dataFolder: findDataFolder() };
  const { files } = await loadFiles(accountFiles('gitlab'), place.dataFolder, new Set());
  const known = options.replace ? undefined : files.find(({ settings }) => settings.host === host)?.settings;
  const isNew = known === undefined;
  // A known connection is only used, to set up further projects.
  if (!isNew && options.repo.length === 0) await refuseReplacing(place, options);
  const isReplaced = isNew && (await refuseReplacing(place, options));
  if (isNew) await refuseUnwritable(place);
  const file = accountFileOf('gitlab', place.dataFolder, host);
  const deployKeyFile = known?.deployKeyFile ?? file.replace(/\.json$/, '.key');
  const fresh = { host, url, webhookSecret: randomBytes(24).toString('hex'), deployKeyFile };
  const settings: AccountSettings = known ?? { ...fresh, token: readToken(options) };
  const client = new GitlabClient({ connection: settings, clock: systemClock, log: SILENT });
  try {
    const own = await client.readOwn();
    say(`Sluice acts as ${clean(own.username)} on ${host}.`);
    const publicKey = await ensureKey(deployKeyFile);
    for (const name of options.repo) await setUp(client, { name, settings, publicKey }, options);
    if (isNew) await writeAccountFile('gitlab', place.dataFolder, settings);
    const connection = { ...place, isReplaced, hasServer: await hasServer(place), environment: process.env };
    const server = isNew ? describeServer(connection) : undefined;
    write(
      options.json ? JSON.stringify({ host, login: own.username, file }, null, 2) : describeEnd(host, options, server),
    );
  } finally {
    client.close();
  }
}

function readToken({ gitlabTokenFile }: GitlabSetupOptions): string {
  const given = gitlabTokenFile === undefined ? process.env['SLUICE_GITLAB_TOKEN'] : readInput(gitlabTokenFile).text;
  const token = given?.trim() ?? '';
  if (token === '')
    throw usageError(
      'An access token is needed. Make it in the project or group (Settings, Access tokens) with the role Maintainer and the scopes api and read_repository, and give it with --gitlab-token-file, or - for standard input.',
    );
  if (!ACCOUNT_TOKEN.test(token))
    throw usageError('That is no access token: it has 10 to 200 characters without spaces.');
  return token;
}

/** Answers the public half. A key that is there is used again, for every project of the host. */
async function ensureKey(file: string): Promise<string> {
  if (!(await succeeds(access(file)))) {
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    await rm(`${file}.pub`, { force: true });
    const args = ['-q', '-t', 'ed25519', '-N', '', '-C', 'sluice', '-f', file];
    await promisify(execFile)('ssh-keygen', args).catch(() => {
      throw new CliError(EXIT.refused, 'The deploy key could not be made: ssh-keygen (OpenSSH) is needed.');
    });
  }
  const text = await readFile(`${file}.pub`, 'utf8').catch(() => '');
  if (text === '') throw new CliError(EXIT.refused, `${file}.pub is missing: ssh-keygen -y -f ${file} writes it.`);
  return text.trim();
}

interface Project {
  readonly name: RepositoryName;
  readonly settings: AccountSettings;
  readonly publicKey: string;
}

async function setUp(client: GitlabClient, project: Project, options: GitlabSetupOptions): Promise<void> {
  const found = await client.resolve(project.name);
  const fullName = found.path_with_namespace;
  const repository = { ...project.name, forgeId: String(found.id) };
  const list = <Item>(place: string) => client.list<Item>({ repository, path: place }, MAX_PAGES);
  const [keys, rules, hooks, labels] = await Promise.all([
    list<DeployKeyData>('/deploy_keys'),
    list<ProtectedBranchData>('/protected_branches'),
    list<HookData>('/hooks'),
    list<{ readonly name: string }>('/labels'),
  ]);
  const ours = project.publicKey.split(' ').slice(0, 2).join(' ');
  const known = keys.find(({ key, can_push: mayWrite }) => mayWrite && key.startsWith(ours));
  const branch = options.branch ?? found.default_branch ?? 'main';
  const rule = rules.find(({ name }) => name === branch);
  const steps = [
    ...(known === undefined ? [keyStep(project.publicKey)] : []),
    ...branchSteps(branch, rule, known?.id),
    ...hookSteps(hooks, hookUrlOf(options, project.settings.host), project.settings.webhookSecret ?? ''),
    ...(labels.some(({ name }) => name === options.label) ? [] : [labelStep(options.label)]),
  ].map((step) => ({ ...step, text: `${fullName}: ${step.text}` }));
  if (steps.length === 0) return;
  await agree(steps, options);
  let key = known?.id ?? 0;
  for (const { text, request, isOfKey } of steps) {
    const { status, data } = await client.request<{ readonly id?: number }>({
      repository,
      ...request(key),
      // A Community Edition before 18.10 takes deploy keys on its page alone.
      accept: text.includes(' push to ') ? [400, 403, 404, 422] : [],
    });
    if (isOfKey) key = data.id ?? 0;
    say(
      status < 300
        ? `${paint('green', 'Done:')} ${text}`
        : `By hand, in Settings, Repository, Protected branches: ${text}`,
    );
  }
}

function keyStep(key: string): Step {
  const body = { title: 'sluice', key, can_push: true };
  const text = 'add the deploy key of Sluice, with write access';
  return { text, isOfKey: true, request: () => ({ method: 'POST', path: '/deploy_keys', body }) };
}

function branchSteps(branch: string, rule: ProtectedBranchData | undefined, key: number | undefined): readonly Step[] {
  const isThere = rule?.push_access_levels.some(({ deploy_key_id: id }) => typeof id === 'number' && id === key);
  if (isThere === true) return [];
  const text = `let the deploy key push to ${branch}${rule === undefined ? ', and nobody else' : ''}`;
  const allowed = (id: number) => ({ allowed_to_push: [{ deploy_key_id: id }] });
  if (rule !== undefined) {
    const place = `/protected_branches/${encodeURIComponent(branch)}`;
    return [{ text, request: (id) => ({ method: 'PATCH', path: place, body: allowed(id) }) }];
  }
  const body = (id: number) => ({ name: branch, push_access_level: 0, ...allowed(id) });
  return [{ text, request: (id) => ({ method: 'POST', path: '/protected_branches', body: body(id) }) }];
}

function hookUrlOf(options: GitlabSetupOptions, host: string): string | undefined {
  const publicUrl = publicUrlOf(options);
  if (publicUrl !== undefined) return `${publicUrl}/webhooks/gitlab/${encodeURIComponent(host)}`;
  say(
    `No --url that ${host} could reach was given: there is no webhook, and Sluice finds everything by asking, which is slower.`,
  );
  return undefined;
}

/** The token of a webhook cannot be read, so one that is there gets this server's. */
function hookSteps(hooks: readonly HookData[], url: string | undefined, token: string): readonly Step[] {
  if (url === undefined) return [];
  const events = Object.fromEntries(HOOK_EVENTS.map((event) => [event, true]));
  const body = { url, token, enable_ssl_verification: true, ...events };
  const known = hooks.find((hook) => hook.url === url);
  const text =
    known === undefined
      ? `send events to ${url}`
      : `complete the events that are sent to ${url}, with the token of this connection`;
  const place =
    known === undefined
      ? ({ method: 'POST', path: '/hooks' } as const)
      : ({ method: 'PUT', path: `/hooks/${known.id}` } as const);
  return [{ text, request: () => ({ ...place, body }) }];
}

function labelStep(name: string): Step {
  const body = { name, color: '#2da44e', description: 'Submits a merge request to the merge queue' };
  const text = `make the label "${name}", which submits a merge request`;
  return { text, request: () => ({ method: 'POST', path: '/labels', body }) };
}

function describeEnd(host: string, { repo }: GitlabSetupOptions, server: string | undefined): string {
  const [first] = repo;
  const name = first === undefined ? `${host}/GROUP/PROJECT` : `${host}/${first.owner}/${first.name}`;
  const kept =
    server === undefined
      ? []
      : ['The token and the deploy key are kept in the data folder, for its owner alone.', server];
  return [
    `${paint('green', 'Connected.')} ${kept.join('\n')}`.trim(),
    '',
    'Next:',
    '  1. Let pipelines run for branches "sluice/": docs/gitlab.md has the rules.',
    `  2. Register the project:  sluice repo add ${name}`,
    `  3. Create a queue:        sluice queue create ${name} main --required-statuses pipeline`,
    `  4. See what is missing:   sluice forge check ${name} main`,
  ].join('\n');
}
