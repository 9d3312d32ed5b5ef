import { randomBytes } from 'node:crypto';
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
import { GiteaClient } from '../../forge/gitea/api/client.ts';
import type { BranchData, HookData, LabelData, ProtectionData } from '../../forge/gitea/api/data.ts';
import { encodePath } from '../../forge/hosted/rest-client.ts';
import { systemClock } from '../../lib/clock.ts';
import { Fault } from '../../lib/fault.ts';
import { SLUICE } from '../../lib/sluice-command.ts';
import { confirm } from '../core/confirm.ts';
import type { GlobalOptions } from '../core/context.ts';
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
import { type FoundRepository, planSteps, type Step } from './gitea-plan.ts';

export interface GiteaSetupOptions extends GlobalOptions {
  readonly giteaTokenFile?: string;
  readonly repo: readonly RepositoryName[];
  readonly branch?: string;
  readonly label: string;
  readonly yes?: true;
  readonly replace?: true;
}

export interface RepositoryName {
  readonly owner: string;
  readonly name: string;
}

const MAX_PAGES = 20;

function explain(error: unknown): never {
  if (error instanceof Fault) throw new CliError(EXIT.unavailable, error.detail);
  throw error;
}

export async function runGiteaSetup(address: string, options: GiteaSetupOptions): Promise<void> {
  await runSetup(address, options).catch(explain);
}

async function runSetup(address: string, options: GiteaSetupOptions): Promise<void> {
  const problem = checkAccountUrl(address);
  if (problem !== undefined) throw usageError(`The address ${problem}.`);
  const { host, url } = placeOf(address);
  const place: ConnectionPlace = { kind: 'gitea', host, dataFolder: findDataFolder() };
  const known = options.replace ? undefined : await findConnection(place);
  const isNew = known === undefined;
  // A known connection is only used, to set up further repositories.
  if (!isNew && options.repo.length === 0) await refuseReplacing(place, options);
  const isReplaced = isNew && (await refuseReplacing(place, options));
  if (isNew) await refuseUnwritable(place);
  const settings = known ?? { host, url, token: readToken(options), webhookSecret: randomBytes(24).toString('hex') };
  const client = new GiteaClient({ connection: settings, clock: systemClock, log: SILENT });
  try {
    const own = await client.readOwn();
    say(`Sluice acts as ${clean(own.login)} on ${host}.`);
    const steps = await planAll(client, settings, options);
    if (steps.length > 0) await agree(steps, options);
    // The file comes first: a webhook that is signed with a lost secret would never be believed.
    const file = isNew
      ? await writeAccountFile('gitea', place.dataFolder, settings)
      : accountFileOf('gitea', place.dataFolder, host);
    for (const { text, request } of steps) {
      await client.request(request);
      say(`${paint('green', 'Done:')} ${text}`);
    }
    const connection = { ...place, isReplaced, hasServer: await hasServer(place), environment: process.env };
    write(
      options.json
        ? JSON.stringify({ host, login: own.login, file, done: steps.map(({ text }) => text) }, null, 2)
        : describeEnd({ file, host, repo: options.repo[0], server: isNew ? describeServer(connection) : undefined }),
    );
  } finally {
    client.close();
  }
}

export const SILENT = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

async function findConnection({ dataFolder, host }: ConnectionPlace): Promise<AccountSettings | undefined> {
  const { files } = await loadFiles(accountFiles('gitea'), dataFolder, new Set());
  return files.find(({ settings }) => settings.host === host)?.settings;
}

function readToken({ giteaTokenFile }: GiteaSetupOptions): string {
  const given = giteaTokenFile === undefined ? process.env['SLUICE_GITEA_TOKEN'] : readInput(giteaTokenFile).text;
  const token = given?.trim() ?? '';
  if (token === '') {
    throw usageError(
      'An access token of the account is needed. Make it in Gitea (Settings, Applications) with the scopes repository and issue (read and write) and user (read), and give it with --gitea-token-file, or - for standard input.',
    );
  }
  if (!ACCOUNT_TOKEN.test(token))
    throw usageError('That is no access token: it has 10 to 200 characters without spaces.');
  return token;
}

async function planAll(
  client: GiteaClient,
  { host, webhookSecret }: AccountSettings,
  options: GiteaSetupOptions,
): Promise<readonly Step[]> {
  const publicUrl = publicUrlOf(options);
  const hookUrl = publicUrl === undefined ? undefined : `${publicUrl}/webhooks/gitea/${encodeURIComponent(host)}`;
  if (hookUrl === undefined && options.repo.length > 0) {
    say(
      `No --url that ${host} could reach was given: there is no webhook, and Sluice finds everything by asking, which is slower.`,
    );
  }
  const steps: Step[] = [];
  for (const repository of options.repo) {
    const found = await readRepository(client, repository, options.branch);
    const named = planSteps(found, { hookUrl, secret: webhookSecret ?? '', label: options.label });
    steps.push(...named.map(({ text, request }) => ({ text: `${found.repository.full_name}: ${text}`, request })));
  }
  return steps;
}

async function readRepository(
  client: GiteaClient,
  name: RepositoryName,
  wantedBranch: string | undefined,
): Promise<FoundRepository> {
  const own = await client.readOwn();
  const repository = await client.resolve(name);
  if (repository.permissions?.admin !== true) {
    throw new CliError(
      EXIT.refused,
      `${own.login} is no administrator of ${repository.full_name}. Add it as a collaborator with the permission Administrator, and run this again.`,
    );
  }
  const place = { owner: repository.owner.login, name: repository.name };
  const path = `/branches/${encodePath(wantedBranch ?? repository.default_branch ?? 'main')}`;
  const { status, data: branch } = await client.request<BranchData>({ repository: place, path, accept: [404] });
  const rule = status === 404 ? '' : branch.effective_branch_protection_name;
  const protection =
    rule === ''
      ? undefined
      : await client.request<ProtectionData>({
          repository: place,
          path: `/branch_protections/${encodeURIComponent(rule)}`,
        });
  return {
    own,
    repository,
    branch: status === 404 ? undefined : branch,
    protection: protection?.data,
    hooks: await client.list<HookData>({ repository: place, path: '/hooks' }, MAX_PAGES),
    labels: await client.list<LabelData>({ repository: place, path: '/labels' }, MAX_PAGES),
  };
}

export async function agree(
  steps: readonly Pick<Step, 'text'>[],
  { yes }: Pick<GiteaSetupOptions, 'yes'>,
): Promise<void> {
  const list = steps.map(({ text }) => `  - ${clean(text)}`).join('\n');
  if (yes) say(`Will be done:\n${list}`);
  else await confirm({ warning: `Will be done:\n${list}`, question: 'Do it?' });
}

interface End {
  readonly file: string;
  readonly host: string;
  readonly repo: RepositoryName | undefined;
  /** Undefined when the connection was there before. */
  readonly server: string | undefined;
}

function describeEnd({ file, host, repo, server }: End): string {
  const name = repo === undefined ? `${host}/OWNER/REPOSITORY` : `${host}/${repo.owner}/${repo.name}`;
  const kept =
    server === undefined ? [] : [`The connection is kept in ${file}, which only its owner can read.`, server];
  return [
    `${paint('green', 'Connected.')} ${kept.join('\n')}`.trim(),
    '',
    'Next:',
    '  1. Let CI run for pushes to branches "sluice/**".',
    `  2. Register the repository:  ${SLUICE} repo add ${name}`,
    `  3. Create a queue:           ${SLUICE} queue create ${name} main --required-statuses CHECK@ACCOUNT`,
    `  4. See what is missing:      ${SLUICE} forge check ${name} main`,
  ].join('\n');
}
