import { randomBytes } from 'node:crypto';
import { access, constants, mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import { checkForgeHost } from '../../config/forge-host.ts';
import { githubFileOf, writeGithubFile } from '../../config/github-file.ts';
import { addExamples, parseIntegerWithin } from '../core/arguments.ts';
import type { GlobalOptions } from '../core/context.ts';
import { CliError, EXIT, usageError } from '../core/exit.ts';
import { clean, paint, say, write } from '../core/terminal.ts';
import { convertCode, createManifest, defaultName, isReachable, type NewApp } from './manifest.ts';
import { creationUrl, parseCode, readPastedCode, receiveCode, renderSetupPage } from './receive-code.ts';

interface SetupOptions extends GlobalOptions {
  readonly host: string;
  readonly org?: string;
  readonly name?: string;
  readonly port: number;
  readonly code?: string;
  readonly apiUrl?: string;
  readonly webUrl?: string;
  readonly replace?: true;
}

interface AppOwner {
  readonly host: string;
  readonly apiUrl: string;
  readonly webUrl: string;
  readonly dataFolder: string;
}

export function defineSetup(github: Command): void {
  const command = github
    .command('setup')
    .description(
      'Connect GitHub: create an App there, with the permissions and events that Sluice needs, and keep its key in the data folder of the server. Run it on the machine of the server. --url (or SLUICE_URL) is the address under which GitHub reaches the server.',
    )
    .option('--host <host>', 'The GitHub: github.com, or the name of an Enterprise host.', 'github.com')
    .option('--org <org>', 'The organization that owns the App. Default: you.')
    .option('--name <name>', 'The name of the App; unique on its GitHub, at most 34 characters.')
    .option(
      '--port <port>',
      'Port of the setup page on this machine; 0 takes any free one.',
      parseIntegerWithin(0, 65_535),
      0,
    )
    .option(
      '--code <code>',
      'The code from the address that GitHub sent the browser to, if the browser could not open it; - reads it, or the address, from standard input. As an argument everybody on this machine can see it.',
    )
    .option('--replace', 'Replace the existing connection to this host.')
    .option('--api-url <url>', 'Address of the REST API, for unusual installations.')
    .option('--web-url <url>', 'Address for people and git, for unusual installations.')
    .action(async (_options: unknown, self: Command) => runSetup(self.optsWithGlobals<SetupOptions>()));
  addExamples(command, [
    'sluice github setup --org acme --url https://sluice.acme.dev',
    'sluice github setup --host github.acme.dev --url https://sluice.acme.dev',
    'sluice github setup --code - < address.txt',
  ]);
}

async function runSetup(options: SetupOptions): Promise<void> {
  const place = placeOf(options);
  const isReplaced = await refuseReplacing(place, options);
  await refuseUnwritable(place);
  const code = options.code === undefined ? await createInBrowser(place, options) : await codeOf(options.code);
  say('Fetching the key of the App ...');
  const app = await convertCode(place.apiUrl, code);
  const { webhookSecret } = app;
  const file = await writeGithubFile(place.dataFolder, {
    host: place.host,
    apiUrl: options.apiUrl,
    webUrl: options.webUrl,
    auth: {
      kind: 'app',
      appId: app.id,
      privateKey: app.privateKey,
      ...(webhookSecret === undefined ? {} : { webhookSecret }),
    },
  }).catch((error: NodeJS.ErrnoException) => {
    throw new CliError(
      EXIT.unavailable,
      `The App ${clean(app.slug)} is there, and its key cannot be kept in ${place.dataFolder} (${error.code}). Delete the App, and run this as the user of the server.`,
    );
  });
  const { privateKey: _, webhookSecret: __, ...shown } = app;
  write(
    options.json
      ? JSON.stringify({ ...shown, host: place.host, file }, null, 2)
      : describeEnd(app, place, { file, owner: options.org ?? 'OWNER', isReplaced, hasServer: await hasServer(place) }),
  );
}

function placeOf(options: SetupOptions): AppOwner {
  const host = options.host.toLowerCase();
  const problem = checkForgeHost(host);
  if (problem !== undefined) throw usageError(`--host ${problem}.`);
  const isCloud = host === 'github.com';
  const apiUrl = options.apiUrl ?? (isCloud ? 'https://api.github.com' : `https://${host}/api/v3`);
  const webUrl = options.webUrl ?? `https://${host}`;
  for (const url of [apiUrl, webUrl]) {
    if (!/^https?:\/\/[^\s/@]+(?:\/|$)/.test(url) || !URL.canParse(url)) {
      throw usageError(`"${url}" is no address: it begins with https://, and holds no user or password.`);
    }
  }
  if (options.org !== undefined && !/^[A-Za-z0-9][A-Za-z0-9-]{0,99}$/.test(options.org)) {
    throw usageError('--org is the name of an organization as its address has it, such as acme.');
  }
  const dataFolder = path.resolve(process.env['SLUICE_DATA'] || 'data');
  return { host, apiUrl: apiUrl.replace(/\/+$/, ''), webUrl: webUrl.replace(/\/+$/, ''), dataFolder };
}

/** Returns true if there is a connection to replace. */
// SPEC G95
async function refuseReplacing({ dataFolder, host }: AppOwner, { replace }: SetupOptions): Promise<boolean> {
  const file = githubFileOf(dataFolder, host);
  const isThere = await isAccessible(file);
  if (isThere && !replace)
    throw new CliError(EXIT.refused, `${host} is connected already (${file}). Add --replace to connect it anew.`);
  return isThere;
}

/** Checked first: an App whose key cannot be stored would have to be deleted by hand. */
async function refuseUnwritable({ dataFolder, host }: AppOwner): Promise<void> {
  const folder = path.dirname(githubFileOf(dataFolder, host));
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await access(folder, constants.W_OK);
  } catch (error) {
    throw new CliError(
      EXIT.refused,
      `The key of the App could not be kept in ${folder} (${(error as NodeJS.ErrnoException).code}). Run this as the user of the server, with its SLUICE_DATA.`,
    );
  }
}

/** Every server writes its id into its data folder. */
function hasServer({ dataFolder }: AppOwner): Promise<boolean> {
  return isAccessible(path.join(dataFolder, 'server-id'));
}

function isAccessible(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

async function codeOf(given: string): Promise<string> {
  const code = given === '-' ? await readCode() : parseCode(given);
  if (code === undefined) throw usageError(NO_CODE);
  return code;
}

async function readCode(): Promise<string | undefined> {
  const pasted = readPastedCode(process.stdin, () => say(NO_CODE));
  try {
    return await pasted.code.catch(() => undefined);
  } finally {
    pasted.close();
  }
}

const NO_CODE = 'That is no code: it is what stands behind "code=" in the address, up to the next "&".';

/** Shows the page, and returns the code that GitHub redirects back with. */
async function createInBrowser(place: AppOwner, options: SetupOptions): Promise<string> {
  const publicUrl = publicUrlOf(options);
  const state = randomBytes(16).toString('hex');
  const receiver = await receiveCode({ port: options.port, state });
  const pasted = process.stdin.isTTY ? readPastedCode(process.stdin, () => say(NO_CODE)) : undefined;
  try {
    const name = options.name ?? defaultName(options.org, randomBytes(3).toString('hex'));
    const action = creationUrl(place.webUrl, options.org, state);
    receiver.show(
      renderSetupPage(action, createManifest({ name, publicUrl, redirectUrl: receiver.redirectUrl })),
      action,
    );
    say(describeBeginning({ place, name, publicUrl, url: receiver.url, options }));
    // If standard input is closed, the browser can still deliver the code.
    return await Promise.race([receiver.code, pasted?.code.catch(() => receiver.code) ?? receiver.code]);
  } finally {
    receiver.close();
    pasted?.close();
  }
}

function publicUrlOf({ url }: SetupOptions): string | undefined {
  const given = url ?? (process.env['SLUICE_URL'] || undefined);
  if (given === undefined) return undefined;
  if (!URL.canParse(given))
    throw usageError(`"${given}" is not the address of a server. Set --url to one such as https://sluice.acme.dev.`);
  return isReachable(given) ? given.replace(/\/+$/, '').replace(/\/v1$/, '') : undefined;
}

function describeBeginning(of: {
  readonly place: AppOwner;
  readonly name: string;
  readonly publicUrl: string | undefined;
  readonly url: string;
  readonly options: SetupOptions;
}): string {
  const { port } = new URL(of.url);
  const hook =
    of.publicUrl === undefined
      ? `No --url that ${of.place.host} could reach was given: the App gets no webhook, and Sluice finds everything by asking, which is slower.\n`
      : `Events will be sent to ${of.publicUrl}/webhooks/github.\n`;
  return `An App "${of.name}" will be made on ${of.place.host}. ${hook}
${paint('bold', 'Open this in a browser:')} ${of.url}

No browser on this machine? From yours: ssh -L ${port}:127.0.0.1:${port} <this machine>, and open the same address.
Or save the page here (curl -s ${of.url} > sluice.html) and open that file on your machine. GitHub then sends
the browser to an address that it cannot open: copy that one, and ${
    process.stdin.isTTY ? 'paste it here.' : `give it to: ${codeCommand(of.options)}`
  }

Waiting for the App ...`;
}

/** The command that continues the setup if the browser is on another machine. */
function codeCommand({ host, apiUrl, webUrl, replace }: SetupOptions): string {
  const given = [
    ...(host === 'github.com' ? [] : ['--host', host]),
    ...(apiUrl === undefined ? [] : ['--api-url', apiUrl]),
    ...(webUrl === undefined ? [] : ['--web-url', webUrl]),
    ...(replace ? ['--replace'] : []),
  ];
  return ['sluice github setup', ...given, '--code -'].join(' ');
}

function describeEnd(app: NewApp, { host, dataFolder }: AppOwner, end: End): string {
  const { file, owner, isReplaced, hasServer: isUsed } = end;
  const repo = `${host}/${owner}/${owner === 'OWNER' ? 'REPOSITORY' : 'app'}`;
  return `${paint('green', 'Connected.')} The App ${clean(app.slug)} (${app.id}) of ${host} is kept in ${file}, which only its owner can read.
${describeServer({ host, dataFolder, isReplaced, hasServer: isUsed, environment: process.env })}

Next:
  1. Install it where your repositories are: ${clean(app.htmlUrl)}/installations/new
  2. Let CI run for pushes to branches "sluice/**".
  3. Register a repository:    sluice repo add ${repo}
  4. Create a queue:           sluice queue create ${repo} main --required-statuses CHECK
  5. See what is missing:      sluice github check ${repo} main`;
}

interface End {
  readonly file: string;
  readonly owner: string;
  readonly isReplaced: boolean;
  readonly hasServer: boolean;
}

/** A new connection, with the local facts that decide how a server picks it up. */
export interface NewConnection {
  readonly host: string;
  readonly dataFolder: string;
  readonly isReplaced: boolean;
  /** A server has used this data folder. */
  readonly hasServer: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Tells whether the operator must act before a server uses the connection. */
export function describeServer(connection: NewConnection): string {
  const { host, environment } = connection;
  if (isOf(host, environment)) {
    return `SLUICE_GITHUB_* in the environment connect ${host} too, and win over this file. To use the file, unset them for the server, and start it again.`;
  }
  // Each server on one database has its own data folder.
  const others = environment['SLUICE_DATABASE_URL']
    ? '\nEvery other server on the database needs a copy of the file in its own data folder.'
    : '';
  return `${describeThis(connection)}${others}`;
}

function describeThis({ host, dataFolder, isReplaced, hasServer }: NewConnection): string {
  if (!hasServer) {
    return `No server has used ${dataFolder} yet: start one with SLUICE_DATA=${dataFolder}. If yours has another data folder, move the file there.`;
  }
  return isReplaced
    ? 'Start the server again: until then it acts as the former App.'
    : `A running server detects it within seconds. Restart a server that was connected to ${host} before.`;
}

function isOf(host: string, environment: NewConnection['environment']): boolean {
  const isConnected = Boolean(environment['SLUICE_GITHUB_APP_ID'] || environment['SLUICE_GITHUB_TOKEN']);
  return isConnected && (environment['SLUICE_GITHUB_HOST'] || 'github.com').toLowerCase() === host;
}
