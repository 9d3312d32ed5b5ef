import { InvalidArgumentError } from 'commander';
import { present } from '../lib/present.ts';
import { collectNames, collectRepos, formatRepo, parseInstant } from './core/arguments.ts';
import { commandFor, type Row } from './core/command.ts';
import { confirm } from './core/confirm.ts';
import type { Context } from './core/context.ts';
import { type AnswerOf, type BodyOf, CHOICES } from './core/operations.ts';
import { formatRows } from './core/table.ts';
import { clean, formatTime } from './core/terminal.ts';

type Scopes = BodyOf<'createApiToken'>['scopes'];

function collectScopes(text: string, before: readonly string[] | undefined): Scopes {
  const names = collectNames(text, before);
  if (names.length === 0 || !names.every((name) => CHOICES.scope.includes(name)))
    throw new InvalidArgumentError(`Choose among ${CHOICES.scope.join(', ')}.`);
  return names as Scopes;
}

const create = commandFor(
  'createApiToken',
  {
    text: 'Make a token. Its secret goes to standard output, and is never shown again.',
    takes: {
      '--name <name>': { text: 'What it is for: the actor of everything done with it.', isRequired: true },
      '--scope <scopes>': {
        text: 'What it may do; by commas, or repeated.',
        choices: CHOICES.scope,
        parse: collectScopes,
        isRequired: true,
      },
      '--repo <repo>': [
        'Only this repository, as host/owner/name; repeat it for several. Default: every repository.',
        collectRepos,
      ],
      '--expires <when>': [
        'When it stops working: 90d (also m, h, w, y) from now, or an instant. Default: as the token in use.',
        parseInstant('future'),
      ],
      '--service': 'For a service: it does not end with the rights of the person whose token is in use.',
      '--agent': 'For a program that writes pull requests: its submissions are shown and counted apart.',
    },
    examples: [
      'sluice token create --name ci --scope upload --expires 90d',
      '(umask 077; sluice token create --name bot --scope read,submit > bot-token)',
    ],
    about: ({ id, name }) => `Token ${id} (${clean(name)}), shown only now:`,
    show: ({ token }) => token,
    next: (_reply, { client }) => `sluice login ${client.url}  (in CI: set SLUICE_URL and SLUICE_TOKEN)`,
  },
  ({ name, scope, repo, expires, service, agent }) => ({
    ...{ name, scopes: scope },
    ...present({ repositories: repo, expiresAt: expires, service, agent }),
  }),
);

const list = commandFor('listApiTokens', {
  text: 'List the tokens, without their secrets.',
  examples: ['sluice token list', 'sluice token list --json'],
  show: ({ tokens }) => formatTokens(tokens),
});

const revoke = commandFor(
  'revokeApiToken',
  {
    text: 'Revoke a token. It stops working at once.',
    takes: {
      '<id>': 'The id of the token, as `sluice token list` shows it.',
      '--yes': 'Do not ask, even if it may be the token in use.',
      '--even-if-last': 'Revoke it also if no administrator gets in without it.',
    },
    examples: ['sluice token revoke 0d7f0a35-6ad6-4d5c-9a4f-2a4be4e4a7f1'],
    show: (_reply, { id }) => `Token ${id} is revoked.`,
  },
  async ({ id, yes, evenIfLast }, context) => ({
    id,
    ...present({ evenIfLast: yes || evenIfLast ? evenIfLast : await confirmOwn(context, id) }),
  }),
);

export const TOKEN: Row = {
  examples: ['sluice token create --name ci --scope upload --expires 90d', 'sluice token list'],
  rows: { create, list, revoke },
};

type TokenView = AnswerOf<'listApiTokens'>['tokens'][number];

function formatTokens(tokens: readonly TokenView[]): string {
  return formatRows(tokens, [
    { title: 'ID', keeps: true, cell: ({ id }) => id },
    { title: 'NAME', shrinks: true, cell: ({ name }) => name },
    { title: 'SCOPES', shrinks: true, cell: ({ scopes }) => scopes.join(',') },
    { title: 'REPOS', shrinks: true, cell: (one) => one.repositories?.map(formatRepo).join(',') ?? 'all' },
    { title: 'MADE BY', shrinks: true, cell: ({ madeBy }) => madeBy ?? '-' },
    { title: 'FOR', cell: ({ isAgent, isPersonal }) => (isAgent ? 'agent' : isPersonal ? 'person' : '-') },
    { title: 'USED', cell: ({ lastUsedAt }) => formatTime(lastUsedAt, 'never') },
    { title: 'EXPIRES', cell: (one) => (one.revokedAt === null ? formatTime(one.expiresAt, 'never') : 'revoked') },
  ]);
}

const WAY_BACK = 'Without such a token, the way back in is to restart the server with SLUICE_ADMIN_TOKEN set.';

/** The server does not say which token makes this call: any usable one is confirmed. True: revoke the only one. */
async function confirmOwn(context: Context, id: string): Promise<true | undefined> {
  const { tokens } = await context.call('listApiTokens', {});
  const able = tokens.filter(
    ({ scopes, revokedAt, expiresAt }) =>
      scopes.includes('admin') && revokedAt === null && (expiresAt === null || Date.parse(expiresAt) > Date.now()),
  );
  const token = able.find((one) => one.id === id.toLowerCase());
  if (token === undefined) return undefined;
  const isOnly = able.length === 1;
  const own = isOnly ? 'is the token in use, and the only one' : 'may be the token in use: it is one';
  const warning = `Token ${id} (${clean(token.name)}) ${own} with the scope admin. ${WAY_BACK}`;
  await confirm({ warning, question: 'Revoke it?' });
  return isOnly || undefined;
}
