import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Static } from 'typebox';
import type { createApiToken, listApiTokens } from '../contract/access.ts';
import { present } from '../lib/present.ts';
import { addExamples, collectNames, formatRepo, parseInstant, parseRepo, type RepoRef } from './core/arguments.ts';
import { confirm } from './core/confirm.ts';
import { type Context, withContext } from './core/context.ts';
import { CHOICES } from './core/operations.ts';
import { formatRows } from './core/table.ts';
import { clean, formatTime, say } from './core/terminal.ts';

interface CreateOptions {
  readonly name: string;
  readonly scope: readonly string[];
  readonly repo?: readonly RepoRef[];
  readonly expires?: string;
  readonly service?: true;
}

type Scopes = Static<typeof createApiToken.body>['scopes'];

export function defineToken(token: Command): void {
  addExamples(token, ['sluice token create --name ci --scope upload --expires 90d', 'sluice token list']);
  defineCreate(token);
  defineList(token);
  defineRevoke(token);
}

function defineCreate(token: Command): void {
  const command = token
    .command('create')
    .description('Make a token. Its secret goes to standard output, and is never shown again.')
    .requiredOption('--name <name>', 'What it is for: the actor of everything done with it.')
    .addOption(scopeOption())
    .option(
      '--repo <repo>',
      'Only this repository, as host/owner/name; repeat it for several. Default: every repository.',
      collectRepo,
    )
    .option(
      '--expires <when>',
      'When it stops working: 90d (also m, h, w, y) from now, or an instant. Default: as the token in use.',
      parseInstant('future'),
    )
    .option('--service', 'For a service: it does not end with the rights of the person whose token is in use.')
    .action(
      withContext(async (context, options: CreateOptions) => {
        const reply = await context.call('createApiToken', {
          name: options.name,
          scopes: [...options.scope] as Scopes,
          ...present({
            repositories: options.repo && [...options.repo],
            expiresAt: options.expires,
            service: options.service,
          }),
        });
        if (!context.isJson) say(`Token ${reply.id} (${clean(reply.name)}), shown only now:`);
        context.show(reply, () => reply.token);
        if (!context.isJson) say(`Next: sluice login ${context.client.url}  (in CI: set SLUICE_URL and SLUICE_TOKEN)`);
      }),
    );
  addExamples(command, [
    'sluice token create --name ci --scope upload --expires 90d',
    '(umask 077; sluice token create --name bot --scope read,submit > bot-token)',
  ]);
}

function scopeOption(): Option {
  const scopes = CHOICES.scope;
  return new Option('--scope <scopes>', 'What it may do; by commas, or repeated.')
    .choices(scopes)
    .argParser((given: string, before: readonly string[] | undefined) => {
      const names = collectNames(given, before);
      if (names.length === 0 || !names.every((name) => scopes.includes(name)))
        throw new InvalidArgumentError(`Choose among ${scopes.join(', ')}.`);
      return names;
    })
    .makeOptionMandatory();
}

function defineList(token: Command): void {
  const command = token
    .command('list')
    .description('List the tokens, without their secrets.')
    .action(
      withContext(async (context) => {
        const reply = await context.call('listApiTokens', {});
        context.show(reply, () => formatTokens(reply.tokens));
      }),
    );
  addExamples(command, ['sluice token list', 'sluice token list --json']);
}

type TokenView = Static<typeof listApiTokens.reply>['tokens'][number];

function formatTokens(tokens: readonly TokenView[]): string {
  return formatRows(tokens, [
    { title: 'ID', keeps: true, cell: ({ id }) => id },
    { title: 'NAME', shrinks: true, cell: ({ name }) => name },
    { title: 'SCOPES', shrinks: true, cell: ({ scopes }) => scopes.join(',') },
    { title: 'REPOS', shrinks: true, cell: (one) => one.repositories?.map(formatRepo).join(',') ?? 'all' },
    { title: 'MADE BY', shrinks: true, cell: ({ madeBy }) => madeBy ?? '-' },
    { title: 'USED', cell: ({ lastUsedAt }) => formatTime(lastUsedAt, 'never') },
    { title: 'EXPIRES', cell: (one) => (one.revokedAt === null ? formatTime(one.expiresAt, 'never') : 'revoked') },
  ]);
}

function defineRevoke(token: Command): void {
  const command = token
    .command('revoke')
    .description('Revoke a token. It stops working at once.')
    .argument('<id>', 'The id of the token, as `sluice token list` shows it.')
    .option('--yes', 'Do not ask, even if it may be the token in use.')
    .option('--even-if-last', 'Revoke it also if no administrator gets in without it.')
    .action(
      withContext(async (context, id: string, options: { yes?: true; evenIfLast?: true }) => {
        const isAsked = !options.yes && !options.evenIfLast;
        const evenIfLast = isAsked ? await confirmOwn(context, id) : options.evenIfLast;
        const reply = await context.call('revokeApiToken', { id, ...present({ evenIfLast }) });
        context.show(reply, () => `Token ${id} is revoked.`);
      }),
    );
  addExamples(command, ['sluice token revoke 0d7f0a35-6ad6-4d5c-9a4f-2a4be4e4a7f1']);
}

const WAY_BACK = 'Without such a token, the way back in is to restart the server with SLUICE_ADMIN_TOKEN set.';

/**
 * Revoking needs the scope admin, but the server does not say which token makes this call. So every usable admin token
 * needs a confirmation. True: the user wants to revoke the only one.
 */
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

function collectRepo(text: string, before: readonly RepoRef[] | undefined): readonly RepoRef[] {
  return [...(before ?? []), parseRepo(text)];
}
