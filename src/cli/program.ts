import { Command, Option } from 'commander';
import { readVersion } from '../lib/version.ts';
import { addExamples } from './core/arguments.ts';
import type { Row } from './core/command.ts';
import { EXIT_CODES_TEXT, usageError } from './core/exit.ts';

/** A row of the table, or a function for a command that calls no operation. */
type Branch = Row | ((command: Command) => void);

export interface Program {
  readonly program: Command;
  /** Loads all branches; a normal run needs only one. */
  loadEverything(): Promise<void>;
}

/** Each first word loads its branch on use: no command pays for another. */
export function createProgram(): Program {
  const program = createRoot();
  const loaders = new Map<string, () => Promise<Branch>>();
  const add = (name: string, summary: string, load: () => Promise<Branch>): void => {
    program.command(name).summary(summary).description(`${summary}.`);
    loaders.set(name, load);
  };
  const load = async (command: Command): Promise<void> => {
    const loader = loaders.get(command.name());
    loaders.delete(command.name());
    if (loader === undefined) return;
    const branch = await loader();
    if (typeof branch === 'function') branch(command);
    // Loaded late: the help of the program needs none of it.
    else (await import('./core/command.ts')).define(command, branch);
    if (ACT_FOR_ORGANIZATIONS.has(command.name())) addOrgOption(command);
  };
  const loadEverything = async (): Promise<void> => {
    for (const command of program.commands) await load(command);
  };
  program.hook('preSubcommand', (_program, command) => load(command));

  for (const [name, [summary, load]] of Object.entries(BRANCHES)) add(name, summary, load);
  add('completion', 'Print a script that completes commands in a shell', async () => {
    const { defineCompletion } = await import('./completion.ts');
    return (command) => defineCompletion(command, { program, loadEverything });
  });
  return { program, loadEverything };
}

/** By the first word: the summary, and the branch. */
const BRANCHES: Readonly<Record<string, readonly [summary: string, load: () => Promise<Branch>]>> = {
  serve: ['Run the server', async () => (await import('./serve.ts')).SERVE],
  demo: ['Show a queue at work, on a repository made for it', async () => (await import('./demo.ts')).DEMO],
  status: ['Show the state of the server and of its queues', async () => (await import('./status.ts')).STATUS],
  open: ['Open the dashboard, signed in', async () => (await import('./open.ts')).OPEN],
  forge: [
    'Connect GitHub, Gitea, Forgejo or GitLab, and check what is missing',
    async () => (await import('./forge/forge.ts')).FORGE,
  ],
  github: ['The same as forge, for GitHub', async () => (await import('./forge/forge.ts')).GITHUB],
  repo: ['Register repositories', async () => (await import('./repo.ts')).REPO],
  secret: ['Set secrets that checks get as variables', async () => (await import('./secret.ts')).SECRET],
  cache: ['List and clear the caches of checks', async () => (await import('./cache.ts')).CACHE],
  queue: ['Create, show and steer queues', async () => (await import('./queue.ts')).QUEUES],
  pr: ['Submit pull requests and see where they stand', async () => (await import('./pr/pr.ts')).PR],
  land: ['Land the commits of this clone, or say why not', async () => (await import('./pr/land.ts')).LAND],
  revert: ['Take back what landed, by a pull request', async () => (await import('./revert.ts')).REVERT],
  breakage: ['Say what broke the target branch', async () => (await import('./revert.ts')).BREAKAGE],
  watch: ['Watch a queue live', async () => (await import('./watch/watch.ts')).WATCH],
  logs: ['Print the output of checks', async () => (await import('./logs.ts')).LOGS],
  upload: [
    'Upload test reports; fail only for tests that are not quarantined',
    async () => (await import('./upload/upload.ts')).UPLOAD,
  ],
  ci: ['Know in a job of CI what it tests, and stop with it', async () => (await import('./ci/ci.ts')).CI],
  tests: ['Find flaky tests, and quarantine them', async () => (await import('./tests/tests.ts')).TESTS],
  simulate: [
    'Compare settings on simulated pull requests',
    async () => (await import('./simulate/command.ts')).defineSimulate,
  ],
  mcp: ['Answer coding agents (Model Context Protocol)', async () => (await import('./mcp/mcp.ts')).MCP],
  events: ['Show what happened, and follow what happens', async () => (await import('./events.ts')).EVENTS],
  audit: ['Export and verify the records that never change', async () => (await import('./events.ts')).AUDIT],
  login: ['Keep the address of a server and a token', async () => (await import('./login.ts')).LOGIN],
  logout: ['Forget a token that is kept', async () => (await import('./login.ts')).LOGOUT],
  token: ['Create and revoke tokens', async () => (await import('./token.ts')).TOKEN],
  session: ['List and end the sessions of people', async () => (await import('./session.ts')).SESSION],
  notify: ['Send people messages about their pull requests', async () => (await import('./notify.ts')).NOTIFY],
  webhook: ['Tell endpoints of events', async () => (await import('./webhook.ts')).WEBHOOKS],
  org: ['Create organizations', async () => (await import('./org.ts')).ORG],
  backup: ['Copy the store to a file', async () => (await import('./backup.ts')).BACKUP],
  restore: ['Replace the embedded store by a backup', async () => (await import('./backup.ts')).RESTORE],
  move: ['Copy the embedded store into an empty PostgreSQL', async () => (await import('./move.ts')).MOVE],
  version: [
    'Print the version, and compare it with that of the server',
    async () => (await import('./version.ts')).VERSION,
  ],
};

/** Commands on an organization's objects. The commands about tests have their own --org option. */
const ACT_FOR_ORGANIZATIONS = new Set([
  'status',
  'repo',
  'cache',
  'queue',
  'pr',
  'land',
  'revert',
  'breakage',
  'watch',
  'logs',
  'ci',
  'mcp',
  'token',
  'session',
  'notify',
  'webhook',
]);

function addOrgOption(command: Command): void {
  for (const below of command.commands) addOrgOption(below);
  if (command.commands.length > 0) return;
  command.option(
    '--org <slug>',
    'The organization to act for; needs a token with the scope instance. Default: that of the token.',
  );
}

/** The parser takes no value, so that a word behind it stays an argument; `splitJsonFields` reads the fields. */
function jsonOption(): Option {
  const option = new Option(
    '--json',
    "Print the server's JSON instead of words; with names of fields (a,b), only these.",
  );
  option.flags = '--json [fields]';
  return option;
}

function createRoot(): Command {
  const program = new Command('sluice')
    .description('A self-hosted merge queue and flaky-test service: what lands is what was tested.')
    .version(readVersion(), '-V, --version', 'Print the version.')
    .helpOption('-h, --help', 'Explain a command.')
    .helpCommand('help [command]', 'Explain a command')
    .option(
      '--url <url>',
      'The address of the server. Default: SLUICE_URL, then the server of the data folder here, then that of the last login, then http://127.0.0.1:8080.',
    )
    .option(
      '--token-file <file>',
      'A file with the token; - is standard input. Default: SLUICE_TOKEN, then the token of a login at the server, then the file admin-token in SLUICE_DATA or ./data.',
    )
    .addOption(jsonOption())
    .addOption(new Option('--json-fields <fields>').hideHelp())
    .exitOverride()
    .showHelpAfterError('Add --help to see how it is used.')
    .configureOutput({ outputError: (text, writeError) => writeError(text.replace(/^error:/, 'sluice:')) })
    .configureHelp({ showGlobalOptions: true, minWidthToWrap: 20 })
    .on('option:token', refuseBareToken);
  program.addOption(program.createOption('--token [token]').hideHelp());
  addExamples(program, [
    'sluice forge setup github --org acme --url https://sluice.acme.dev',
    "sluice repo add local/acme/app --git /srv/git/app.git --check test='npm test'",
    'sluice queue create local/acme/app main',
    'sluice pr submit local/acme/app main 7',
    'sluice pr status local/acme/app main 7',
    "sluice upload 'reports/**/*.xml'",
  ]);
  return program.addHelpText('after', `\n${TOKEN_TEXT}\n\n${EXIT_CODES_TEXT}`);
}

const TOKEN_TEXT = `A token is read from a file or from SLUICE_TOKEN and is never an argument:
everybody on the machine could read it in the list of processes.`;

function refuseBareToken(): never {
  throw usageError(
    'A token is never an argument: everybody on the machine could read it in the list of processes. ' +
      'Set SLUICE_TOKEN, or name a file with --token-file. If this was a real token, revoke it.',
  );
}
