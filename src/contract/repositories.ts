import { Type } from 'typebox';
import { FRAMEWORKS } from '../checks/selects/select-tests.ts';
import { Empty, EXAMPLE_REPO, queueRef, Repo } from './common.ts';
import { operationsOf } from './operation.ts';
import {
  boolean,
  fixedEnum,
  instant,
  list,
  nameText,
  nullable,
  object,
  optional,
  outputEnum,
  record,
  text,
} from './schema.ts';

const operation = operationsOf('Repositories');

const checkFields = {
  name: nameText(255, 'Name of the check.'),
  command: Type.String({ minLength: 1, maxLength: 10_000, description: 'What a shell runs in the work tree.' }),
};

const cacheFields = {
  key: list(Type.String(), 'Globs of the files that it follows from.'),
  paths: list(Type.String(), 'Its paths: `~/…` in the home of the check, any other in its work tree.'),
  verified: boolean('Whether one of another key stands in for it.'),
  result: boolean('Whether `prepare` is skipped where it is there.'),
};

const Check = record('RunnerCheck', 'A check of the built-in runner.', {
  ...checkFields,
  timeoutMinutes: nullable('integer', 'When it is killed; null for the default.'),
  network: boolean("Whether it may use the network of the server's machine."),
  userNamespaces: boolean('Whether it may make user namespaces, as the sandboxes of browsers do.'),
  prepare: nullable('string', 'What runs before the command, in the same place.'),
  tools: list(Type.String(), 'Programs that it needs.'),
  cache: Type.Union([Type.Object(cacheFields), Type.Null()], {
    description: 'What it finds as an earlier run left it; null: nothing.',
  }),
  selects: nullable('string', 'What runs its tests, so that a probe runs some of them; null: not known.'),
});

const grantFields = {
  network: boolean("Whether they may use the network of the server's machine."),
  userNamespaces: boolean('Whether they may make user namespaces.'),
  longestMinutes: Type.Integer({ minimum: 1, maximum: 10080, description: 'The longest timeout of a check.' }),
  ...optional({
    secrets: Type.Array(nameText(100, 'The name of a secret.'), {
      maxItems: 100,
      description: 'The secrets that they may name; none unless said, and `*` for all.',
    }),
    secretsForPullRequests: boolean(
      'Whether runs of pull requests get them too: then everybody who can push a pull request can read them. False unless said.',
    ),
  }),
};

const repositoryFields = {
  repo: Repo,
  git: nullable('string', 'Plain git: path or URL of the bare repository.'),
  checks: list(Check, 'Checks of the built-in runner.'),
  junit: list(Type.String(), 'Globs of the test reports that the checks leave behind.'),
  fileChecks: Type.Union([Type.Object(grantFields), Type.Null()], {
    description: 'What the checks in the `.sluice.yaml` of the target branch may ask for; null: they are ignored.',
  }),
  trustChecks: boolean('Whether its checks also run where nothing can keep them from the files of the server.'),
  checksBlocked: nullable(
    'string',
    'Why this server does not run its checks, and what to do; null where it does, or there are none.',
  ),
  runHooks: boolean(
    'Plain git by a path: whether its hooks run when the queue changes a branch. False elsewhere: hooks of a repository with a URL run at the remote.',
  ),
  createdAt: instant('When it was registered.'),
  updatedAt: instant('When it was changed last.'),
};

const Repository = record('Repository', 'A repository that Sluice knows.', repositoryFields);

const EXAMPLE = {
  repo: EXAMPLE_REPO,
  git: '/srv/git/app.git',
  checks: [
    {
      ...{ name: 'test', command: 'npm test', timeoutMinutes: null, network: false, userNamespaces: false },
      ...{ prepare: null, tools: [], cache: null, selects: null },
    },
  ],
  junit: ['reports/*.xml'],
  fileChecks: null,
  trustChecks: false,
  checksBlocked: null,
  runHooks: true,
  createdAt: '2026-09-17T10:16:02.000Z',
  updatedAt: '2026-09-17T10:16:02.000Z',
};

export const registerRepository = operation('registerRepository', {
  scope: 'admin',
  summary: 'Register a repository, or change one',
  description:
    'Of a connected forge such as github.com, which must let Sluice in: `repo` is enough. For the host `local`: `git` is a path of the server or a URL (ssh://, git@host:, https://). A path, its hooks, runner commands and `trustChecks` need the scope `instance`. What is absent stays as it is. Hooks of a repository that is registered by a path run from then on if nobody but the user of the server and root can write them; otherwise `notes` says why not.',
  isIdempotent: true,
  body: Type.Object({
    repo: Repo,
    ...optional({
      git: nameText(4096, 'Path or URL of the bare repository; plain git only.'),
      checks: Type.Array(
        object('A check of the built-in runner.', {
          ...checkFields,
          ...optional({
            timeoutMinutes: Type.Union([Type.Integer({ minimum: 1, maximum: 10080 }), Type.Null()], {
              description: 'When it is killed.',
              'x-sluice-message': 'must be a whole number from 1 to 10080, or null',
            }),
            network: boolean("Whether it may use the network of the server's machine; false unless said."),
            userNamespaces: boolean('Whether it may make user namespaces; false unless said.'),
            selects: fixedEnum(
              FRAMEWORKS,
              'What runs its tests. The command has "$@", in quotes, where arguments that select tests go.',
            ),
          }),
        }),
        { maxItems: 100, description: 'Checks of the built-in runner.' },
      ),
      configuration: Type.String({
        maxLength: 65_536,
        description: 'The checks as the text of a `.sluice.yaml`, instead of `checks`. They may ask for everything.',
      }),
      junit: Type.Array(nameText(250, 'A glob: * ? [a-z] {a,b}, and ** for any folders, with at most 10 stars.'), {
        maxItems: 100,
        description: 'Globs of the test reports.',
      }),
      fileChecks: Type.Union([object('How much they may ask for.', grantFields), Type.Null()], {
        description:
          'Let the `checks` of `.sluice.yaml` on the target branch choose the commands. Null: they are ignored. Not with trustChecks.',
      }),
      trustChecks: boolean('Run its checks also where nothing can keep them from the files of the server.'),
      runHooks: boolean('Plain git by a path: whether its hooks run when the queue changes a branch.'),
    }),
  }),
  reply: Type.Object({
    ...repositoryFields,
    notes: list(Type.String(), 'What whoever registers it should know.'),
  }),
  errors: ['FORGE_UNAVAILABLE'],
  example: {
    body: {
      repo: EXAMPLE_REPO,
      git: EXAMPLE.git,
      checks: [{ name: 'test', command: 'npm test' }],
      junit: EXAMPLE.junit,
    },
    reply: { ...EXAMPLE, notes: [] },
  },
});

export const listRepositories = operation('listRepositories', {
  scope: 'read',
  summary: 'List the repositories of the organization',
  description: 'Those that the token may see, ordered by host, owner and name.',
  body: Type.Object({}),
  reply: Type.Object({ repositories: list(Repository, 'The repositories.') }),
  errors: [],
  example: { body: {}, reply: { repositories: [EXAMPLE] } },
});

export const removeRepository = operation('removeRepository', {
  scope: 'admin',
  summary: 'Forget a repository',
  description: 'Its queues must be deleted first. Its tests and their history go with it.',
  body: Type.Object({ repo: Repo }),
  reply: Empty,
  errors: ['REPOSITORY_NOT_FOUND', 'REPOSITORY_HAS_QUEUES'],
  example: { body: { repo: EXAMPLE_REPO }, reply: {} },
});

export const inspectRepository = operation('inspectRepository', {
  scope: 'admin',
  summary: 'Say what is missing before a queue on a branch can work',
  description:
    'Asks the forge whether the app is installed and has its permissions, whether rules of the branch keep the queue from landing or let others go around it, whether the required checks can appear on test branches, and whether events arrive. The queue need not exist yet. It takes some seconds.',
  body: Type.Object(queueRef),
  reply: Type.Object({
    findings: list(
      record('Finding', 'Something that was looked at.', {
        level: outputEnum(['OK', 'WARNING', 'ERROR'], 'An ERROR keeps the queue from working.'),
        code: text('What it is about, such as TARGET_OPEN.'),
        text: text('What was found and what to do, in words.'),
      }),
      'Everything that was looked at.',
    ),
  }),
  errors: ['REPOSITORY_NOT_FOUND', 'FORGE_UNAVAILABLE'],
  example: {
    body: { repo: EXAMPLE_REPO, targetBranch: 'main' },
    reply: {
      findings: [{ level: 'OK', code: 'REACHABLE', text: 'The repository can be read, and has the branch main.' }],
    },
  },
});
