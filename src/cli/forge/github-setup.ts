import { randomBytes } from 'node:crypto';
import { checkForgeHost } from '../../config/forge-host.ts';
import { writeGithubFile } from '../../config/github-file.ts';
import { SLUICE } from '../../lib/sluice-command.ts';
import { parseIntegerWithin } from '../core/arguments.ts';
import { type Given, local } from '../core/command.ts';
import type { GlobalOptions } from '../core/context.ts';
import { CliError, EXIT, usageError } from '../core/exit.ts';
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
import { convertCode, createManifest, defaultName, type NewApp } from './manifest.ts';
import { creationUrl, parseCode, readPastedCode, receiveCode, renderSetupPage } from './receive-code.ts';

interface AppOwner extends ConnectionPlace {
  readonly apiUrl: string;
  readonly webUrl: string;
}

const OPTIONS = {
  '--host <host>': {
    text: 'The GitHub: github.com, or the name of an Enterprise host.',
    initial: 'github.com',
  },
  '--org <org>': 'The organization that owns the App. Default: you.',
  '--name <name>': 'The name of the App; unique on its GitHub, at most 34 characters.',
  '--port <port>': {
    text: 'Port of the setup page on this machine; 0 takes any free one.',
    parse: parseIntegerWithin(0, 65_535),
    initial: 0,
  },
  '--code <code>':
    'The code from the address that GitHub sent the browser to, if the browser could not open it; - reads it, or the address, from standard input. As an argument everybody on this machine can see it.',
  '--replace': 'Replace the existing connection to this host.',
  '--api-url <url>': 'Address of the REST API, for unusual installations.',
  '--web-url <url>': 'Address for people and git, for unusual installations.',
} as const;

type SetupOptions = Given<typeof OPTIONS> & GlobalOptions;

export const githubSetup = local({
  text: 'Connect GitHub: create an App there, with the permissions and events that Sluice needs, and keep its key in the data folder of the server. Run it on the machine of the server. --url (or SLUICE_URL) is the address under which GitHub reaches the server.',
  takes: OPTIONS,
  examples: [
    'sluice forge setup github --org acme --url https://sluice.acme.dev',
    'sluice forge setup github --host github.acme.dev --url https://sluice.acme.dev',
    'sluice forge setup github --code - < address.txt',
  ],
  start: (options, globals) => runSetup({ ...globals, ...options }),
});

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
    ...(app.client && { client: app.client }),
  }).catch((error: NodeJS.ErrnoException) => {
    throw new CliError(
      EXIT.unavailable,
      `The App ${clean(app.slug)} is there, and its key cannot be kept in ${place.dataFolder} (${error.code}). Delete the App, and run this as the user of the server.`,
    );
  });
  const { privateKey: _, webhookSecret: __, client: ___, ...shown } = app;
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
  const dataFolder = findDataFolder();
  return { kind: 'github', host, apiUrl: apiUrl.replace(/\/+$/, ''), webUrl: webUrl.replace(/\/+$/, ''), dataFolder };
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
      renderSetupPage(action, createManifest({ name, publicUrl, host: place.host, redirectUrl: receiver.redirectUrl })),
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
  return [`${SLUICE} forge setup github`, ...given, '--code -'].join(' ');
}

function describeEnd(app: NewApp, { host, dataFolder }: AppOwner, end: End): string {
  const { file, owner, isReplaced, hasServer: isUsed } = end;
  const repo = `${host}/${owner}/${owner === 'OWNER' ? 'REPOSITORY' : 'app'}`;
  return `${paint('green', 'Connected.')} The App ${clean(app.slug)} (${app.id}) of ${host} is kept in ${file}, which only its owner can read.
${describeServer({ kind: 'github', host, dataFolder, isReplaced, hasServer: isUsed, environment: process.env })}

Next:
  1. Install it where your repositories are: ${clean(app.htmlUrl)}/installations/new
  2. Let CI run for pushes to branches "sluice/**".
  3. Register a repository:    ${SLUICE} repo add ${repo}
  4. Create a queue:           ${SLUICE} queue create ${repo} main --required-statuses CHECK
  5. See what is missing:      ${SLUICE} forge check ${repo} main`;
}

interface End {
  readonly file: string;
  readonly owner: string;
  readonly isReplaced: boolean;
  readonly hasServer: boolean;
}
