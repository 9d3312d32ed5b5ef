import path from 'node:path';
import { InvalidArgumentError } from 'commander';
import { present } from '../lib/present.ts';
import { SLUICE } from '../lib/sluice-command.ts';
import { collect, formatRepo, parseIntegerWithin, parseRepo, REPO_TEXT, type RepoRef } from './core/arguments.ts';
import { commandFor, type Given, type Row, row } from './core/command.ts';
import { confirm } from './core/confirm.ts';
import type { Context } from './core/context.ts';
import { CliError, usageError } from './core/exit.ts';
import { FRAMEWORK } from './core/framework.ts';
import type { AnswerOf } from './core/operations.ts';
import { formatFacts, formatRows } from './core/table.ts';
import { clean, formatTime, paint, say, write } from './core/terminal.ts';
import { PROPOSE, useProposal } from './proposed-checks.ts';
import { readFile, TRY, tryChecks } from './try-checks.ts';

interface Check {
  readonly name: string;
  readonly command: string;
}

const ADD_OPTIONS = {
  '--git <path|URL>': 'The bare repository: a path on the server, ssh://, git@host: or https://. Plain git only.',
  '--check <name=command>': ['A check that the built-in runner runs; repeat it for several.', collectCheck],
  '--no-check': 'Remove all checks: they are reported from outside.',
  '--junit <glob>': ['Test reports that the checks leave behind; repeat it for several.', collect],
  '--no-junit': 'Collect no test reports.',
  '--check-timeout <minutes>': ['Minutes after which a check is killed, 1 to 10080.', parseIntegerWithin(1, 10_080)],
  '--check-network': 'Let the checks use the network of the machine they run on.',
  '--check-user-namespaces': 'Let the checks make user namespaces, as the sandboxes of browsers and of build tools do.',
  '--check-selects <framework>': {
    text: 'What runs their tests. The commands have "$@" where arguments that select tests go.',
    ...FRAMEWORK,
  },
  '--file-checks': 'Let the checks in .sluice.yaml on the target branch choose the commands. Not with --trust-checks.',
  '--no-file-checks': 'Ignore the checks in .sluice.yaml.',
  '--grant-network': 'Let the checks in .sluice.yaml ask for the network of the machine.',
  '--grant-user-namespaces': 'Let the checks in .sluice.yaml ask for user namespaces.',
  '--grant-secret <name>': ['A secret that the checks in .sluice.yaml may name; repeat it for several.', collect],
  '--secrets-for-pull-requests': 'Pull requests get these secrets too: everybody who can push one can read them.',
  '--grant-minutes <minutes>': ['The longest timeout in .sluice.yaml (60), 1 to 10080.', parseIntegerWithin(1, 10_080)],
  '--checks-from <path>': 'The checks of this .sluice.yaml, instead of --check.',
  '--no-try': 'Propose no checks, and do not run those that are named once on the head of main.',
  '--yes': 'Try and use the checks that are proposed, without asking.',
  '--trust-checks': 'Run the checks even if nothing can keep them from the files of the server.',
  '--no-trust-checks': 'Undo --trust-checks.',
  '--run-hooks': 'Run hooks of the repository when the queue changes a branch. Only for a path.',
  '--no-run-hooks': 'Run no hooks. Default: they run if only the user of the server and root can write them.',
} as const;

const add = row({
  text: 'Register a repository, or change one. What is not named keeps its value.',
  takes: {
    '[repo]': [`${REPO_TEXT} Default: by the address in --git, else by origin of this folder.`, parseRepo],
    ...ADD_OPTIONS,
  },
  examples: [
    'sluice repo add --git /srv/git/app.git',
    'sluice repo add github.com/acme/app',
    "sluice repo add local/acme/app --git /srv/git/app.git --check test='npm test'",
    "sluice repo add local/acme/app --git git@git.acme.dev:app.git --check test='make check' --junit 'reports/*.xml'",
    "sluice repo add local/acme/app --check test='npm test' --check lint='npm run lint' --check-timeout 20",
  ],
  run: async (context, { repo: named, ...options }) => {
    const { repo, defaultBranch: branch, git } = await nameRepository(named, options.git);
    const asked = { repo, ...(git && { git }), ...readAddOptions(options) };
    const reply = await askForTrust(context, await context.act('registerRepository', asked));
    const hasQueue = context.isJson || (await findWhetherQueued(context, repo));
    const next = hasQueue ? '' : `Next: ${SLUICE} queue create ${formatRepo(repo)} ${branch ?? 'main'}`;
    const isTried = wantsTry(context, reply, options);
    const isNew = !hasQueue && !isTried && isWithoutChecks(reply, options);
    const about = `${paint('bold', formatRepo(repo))} is registered.\n${formatFacts(factsOf(reply))}`;
    context.show(reply, () => (isTried || isNew ? about : `${about}${next}`));
    if (isTried) await tryAfterAdding(context, reply, next);
    const isAgreed = options.yes === true;
    if (isNew) await useProposal(context, { repo, branch, mayGrant: !reply.trustChecks, isAgreed, next });
  },
});

function factsOf(reply: RegisteredRepository): readonly [string, string][] {
  const facts: [string, string][] = reply.git === null ? [] : [['git', clean(reply.git)]];
  for (const check of reply.checks) facts.push([`check ${clean(check.name)}`, clean(check.command)]);
  if (reply.fileChecks !== null) facts.push(['checks of .sluice.yaml', grantText(reply.fileChecks)]);
  if (reply.checksBlocked !== null) facts.push(['checks wait', clean(reply.checksBlocked)]);
  for (const glob of reply.junit) facts.push(['junit', clean(glob)]);
  if (reply.runHooks) facts.push(['hooks', 'run when the queue changes a branch']);
  for (const note of reply.notes) facts.push(['note', clean(note)]);
  return facts;
}

interface NamedRepository {
  readonly repo: RepoRef;
  readonly defaultBranch?: string | undefined;
  readonly git?: string;
}

/** Loaded late: a command that names its repository needs no git. */
async function nameRepository(repo: RepoRef | undefined, git: string | undefined): Promise<NamedRepository> {
  if (repo !== undefined) return { repo };
  const { nameByAddress, readOrigin } = await import('./core/checkout.ts');
  return git === undefined ? readOrigin() : { repo: nameByAddress(git) };
}

/** A repository of plain git that shows no sign of a CI outside either. */
function isWithoutChecks(reply: RegisteredRepository, options: Given<typeof ADD_OPTIONS>): boolean {
  return reply.git !== null && !hasChecks(reply) && options.check === undefined && options.try !== false;
}

/** A repository that has checks shows at once whether they can run. */
function wantsTry({ isJson }: Context, reply: RegisteredRepository, options: Given<typeof ADD_OPTIONS>): boolean {
  const { check, checksFrom, fileChecks } = options;
  const isAsked = Array.isArray(check) || checksFrom !== undefined || fileChecks === true;
  return isAsked && options.try !== false && !isJson && hasChecks(reply) && reply.checksBlocked === null;
}

function hasChecks({ checks, fileChecks }: RegisteredRepository): boolean {
  return checks.length > 0 || fileChecks !== null;
}

/** The repository is registered, also if its checks fail. */
async function tryAfterAdding(context: Context, { repo }: RegisteredRepository, next: string): Promise<void> {
  say('Trying its checks on the head of main (--no-try leaves that out):');
  try {
    const hasPassed = await tryChecks(context, { repo });
    if (next !== '') write(next);
    if (!hasPassed)
      say(`A queue would hold until main passes. Mend it, and try again: ${SLUICE} repo try ${formatRepo(repo)}`);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    say(`No try: ${error.message}\nTry it later: ${SLUICE} repo try ${formatRepo(repo)}`);
    if (next !== '') write(next);
  }
}

function grantText(grant: NonNullable<RegisteredRepository['fileChecks']>): string {
  const { network, userNamespaces, longestMinutes, secrets = [], secretsForPullRequests } = grant;
  const more = [
    ...(network ? ['with network'] : []),
    ...(userNamespaces ? ['with user namespaces'] : []),
    ...(secrets.length > 0
      ? [`with ${secrets.join(', ')}${secretsForPullRequests ? ' also in pull requests' : ''}`]
      : []),
  ];
  return ['run', ...more, `for at most ${longestMinutes} minutes`].join(' ');
}

/** Asks once. If the answer is no, or there is no terminal, the checks stay blocked and say so. */
async function askForTrust(context: Context, reply: RegisteredRepository): Promise<RegisteredRepository> {
  if (reply.checksBlocked === null || context.isJson || !process.stdin.isTTY || !process.stderr.isTTY) return reply;
  const warning = 'This server cannot keep checks from its own files: its tokens, its database, every repository.';
  const question = 'Run them all the same? Only where you trust everybody who can open a pull request.';
  try {
    await confirm({ warning, question });
  } catch (error) {
    if (error instanceof CliError) return reply;
    throw error;
  }
  return context.call('registerRepository', { repo: reply.repo, trustChecks: true });
}

type RegisteredRepository = AnswerOf<'registerRepository'>;

/** Only for a hint: a token that may register but not read gets no hint. */
async function findWhetherQueued(context: Context, repo: RepoRef): Promise<boolean> {
  try {
    return (await context.call('listQueues', { repo })).queues.length > 0;
  } catch (error) {
    if (error instanceof CliError) return true;
    throw error;
  }
}

const list = commandFor('listRepositories', {
  text: 'List the repositories.',
  examples: ['sluice repo list', 'sluice repo list --json'],
  show: ({ repositories }) =>
    repositories.length === 0
      ? `No repositories yet. Register one: ${SLUICE} repo add --help`
      : formatRows(repositories, [
          { title: 'REPOSITORY', cell: (one) => formatRepo(one.repo) },
          { title: 'GIT', shrinks: true, cell: ({ git }) => git ?? '-' },
          { title: 'CHECKS', shrinks: true, cell: ({ checks }) => checks.map(({ name }) => name).join(', ') || '-' },
          { title: 'HOOKS', cell: ({ runHooks }) => (runHooks ? 'run' : '-') },
          { title: 'CHANGED', cell: ({ updatedAt }) => formatTime(updatedAt) },
        ]),
});

const remove = commandFor('removeRepository', {
  text: 'Forget a repository, its tests and their history. Its queues must be deleted first.',
  takes: { '<repo>': [REPO_TEXT, parseRepo] },
  examples: ['sluice repo remove local/acme/app'],
  show: (_reply, { repo }) => `${formatRepo(repo)} is forgotten.`,
});

export const REPO: Row = {
  examples: ["sluice repo add local/acme/app --git /srv/git/app.git --check test='npm test'", 'sluice repo list'],
  rows: { add, propose: PROPOSE, try: TRY, list, remove },
};

function collectCheck(text: string, before: readonly Check[] | false | undefined): readonly Check[] {
  const split = text.indexOf('=');
  const name = text.slice(0, split).trim();
  const command = text.slice(split + 1).trim();
  if (split < 0 || name === '' || command === '')
    throw new InvalidArgumentError("Write it as NAME='shell command', such as test='npm test'.");
  return [...(before || []), { name, command }];
}

function readAddOptions(options: Given<typeof ADD_OPTIONS>) {
  const { git, check, checksFrom, junit, trustChecks, runHooks } = options;
  const { checkTimeout, checkNetwork, checkUserNamespaces, checkSelects } = options;
  const more = present({
    ...{ timeoutMinutes: checkTimeout, network: checkNetwork, userNamespaces: checkUserNamespaces },
    selects: checkSelects,
  });
  if (Object.keys(more).length > 0 && !check)
    throw usageError('--check-… is about the checks of the same command: name them with --check.');
  return {
    ...(git === undefined ? {} : { git: isUrl(git) ? git : path.resolve(git) }),
    ...(check === undefined ? {} : { checks: (check || []).map((one) => ({ ...one, ...more })) }),
    ...(checksFrom === undefined ? {} : { configuration: readFile(checksFrom) }),
    ...(junit === undefined ? {} : { junit: [...(junit || [])] }),
    ...readGrant(options),
    ...present({ trustChecks, runHooks }),
  };
}

function readGrant({ fileChecks, ...options }: Given<typeof ADD_OPTIONS>) {
  const { grantNetwork, grantUserNamespaces, grantMinutes, grantSecret, secretsForPullRequests } = options;
  const grants = [grantNetwork, grantUserNamespaces, grantMinutes, grantSecret, secretsForPullRequests];
  if (fileChecks !== true && grants.some((grant) => grant !== undefined))
    throw usageError('--grant-… says what the checks in .sluice.yaml may ask for: let them choose with --file-checks.');
  if (fileChecks === undefined) return {};
  const grant = {
    network: grantNetwork === true,
    userNamespaces: grantUserNamespaces === true,
    longestMinutes: grantMinutes ?? 60,
    ...present({ secrets: grantSecret, secretsForPullRequests }),
  };
  return { fileChecks: fileChecks ? grant : null };
}

/** A scheme, or `git@host:path`; a Windows drive is neither. */
function isUrl(git: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(git) || /^[^/\\:]{2,}:/.test(git);
}
