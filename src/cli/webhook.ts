import type { Command } from 'commander';
import type { Static } from 'typebox';
import type { listWebhookDeliveries, listWebhooks } from '../contract/webhooks.ts';
import { present } from '../lib/present.ts';
import {
  addExamples,
  choiceOption,
  collectNames,
  formatRepo,
  parseInstant,
  parseRepo,
  type RepoRef,
} from './core/arguments.ts';
import { confirm } from './core/confirm.ts';
import { type Context, withContext } from './core/context.ts';
import { CliError, EXIT } from './core/exit.ts';
import { formatFacts, formatRows } from './core/table.ts';
import { clean, formatNextPage, formatTime, say } from './core/terminal.ts';

type WebhookView = Static<typeof listWebhooks.reply>['webhooks'][number];
type DeliveryView = Static<typeof listWebhookDeliveries.reply>['deliveries'][number];

const FORMATS = ['STANDARD', 'SLACK', 'TEAMS'] as const;
const STATES = ['PENDING', 'DELIVERED', 'FAILED'] as const;

interface Wishes {
  readonly name?: string;
  readonly types?: readonly string[];
  readonly repo?: readonly RepoRef[];
}

// SPEC X53
export function defineWebhook(webhook: Command): void {
  addExamples(webhook, [
    'sluice webhook create https://deploys.example.com/sluice --name deploys --types pull_request.merged',
    'sluice webhook deliveries deploys --state FAILED',
  ]);
  defineList(webhook);
  defineCreate(webhook);
  defineShow(webhook);
  defineUpdate(webhook);
  defineDelete(webhook);
  defineRotate(webhook);
  defineTest(webhook);
  defineDeliveries(webhook);
  defineReplay(webhook);
}

function defineList(webhook: Command): void {
  const command = webhook
    .command('list')
    .description('List the webhooks, with masked addresses.')
    .action(
      withContext(async (context) => {
        const reply = await context.call('listWebhooks', {});
        context.show(reply, () => formatWebhooks(reply.webhooks));
      }),
    );
  addExamples(command, ['sluice webhook list']);
}

function formatWebhooks(webhooks: readonly WebhookView[]): string {
  if (webhooks.length === 0) return 'No webhooks.\n';
  const isNamed = new Set(webhooks.map(({ name }) => name)).size === webhooks.length;
  return formatRows(webhooks, [
    { title: 'NAME', shrinks: true, cell: ({ name }) => name },
    { title: 'FORMAT', cell: ({ format }) => format },
    { title: 'TYPES', wraps: true, cell: ({ types }) => types.join(', ') },
    { title: 'ADDRESS', shrinks: true, cell: ({ url }) => url },
    { title: 'STATE', cell: (webhook) => stateOf(webhook).word },
    // An id fills half a line, and names the webhook only where its name does not.
    ...(isNamed ? [] : [{ title: 'ID', keeps: true, cell: ({ id }: WebhookView) => id } as const]),
  ]);
}

function stateOf({ disabledAt, failingSince, hasOtherKey }: WebhookView): { word: string; since?: string } {
  if (hasOtherKey) return { word: 'other key' };
  if (disabledAt !== null) return { word: 'disabled', since: disabledAt };
  return failingSince === null ? { word: 'ok' } : { word: 'failing', since: failingSince };
}

function addWishes(command: Command): Command {
  return command
    .option('--types <types>', 'Types and families of events; by commas, or repeated.', collectNames)
    .option(
      '--repo <repo>',
      'Only this repository, as host/owner/name; repeat it for several.',
      (text: string, before: readonly RepoRef[] | undefined) => [...(before ?? []), parseRepo(text)],
    );
}

function defineCreate(webhook: Command): void {
  const command = addWishes(webhook.command('create'))
    .description('Tell an endpoint of events. The secret goes to standard output, and is never shown again.')
    .argument('<address>', 'Where messages are posted.')
    .requiredOption('--name <name>', 'What it is for.')
    .addOption(choiceOption('--format <format>', 'For programs, or for people.', FORMATS).default('STANDARD'))
    .action(
      withContext(async (context, url: string, options: Wishes & { format: (typeof FORMATS)[number] }) => {
        const { name = '', format, types = ['pull_request.*'], repo } = options;
        const wishes = { name, url, format, types: [...types], ...present({ repositories: repo && [...repo] }) };
        const reply = await context.call('createWebhook', wishes);
        if (!context.isJson) say(`Webhook ${reply.id} (${clean(reply.name)}). Its secret, shown only now:`);
        context.show(reply, () => reply.secret);
        if (!context.isJson) say(`Next: sluice webhook test ${reply.id}`);
      }),
    );
  addExamples(command, [
    'sluice webhook create https://deploys.example.com/sluice --name deploys --types pull_request.merged',
    'sluice webhook create "$SLACK_URL" --name chat --format SLACK --types pull_request.failed,queue.held',
  ]);
}

const WEBHOOK = 'The id or the name of the webhook.';

/** Names are for people: several webhooks may have the same one. */
async function findOne(context: Context, given: string): Promise<WebhookView> {
  const { webhooks } = await context.call('listWebhooks', {});
  const byId = webhooks.filter(({ id }) => id === given.toLowerCase());
  const found = byId.length > 0 ? byId : webhooks.filter(({ name }) => name === given);
  const [first] = found;
  if (first !== undefined && found.length === 1) return first;
  const problem = first === undefined ? 'There is no webhook' : `There are ${found.length} webhooks`;
  throw new CliError(EXIT.refused, `${problem} "${given}". "sluice webhook list" shows their ids.`);
}

function defineShow(webhook: Command): void {
  const command = webhook
    .command('show')
    .description('Show a webhook.')
    .argument('<webhook>', WEBHOOK)
    .action(
      withContext(async (context, given: string) => {
        const found = await findOne(context, given);
        context.show(found, () => formatWebhook(found));
      }),
    );
  addExamples(command, ['sluice webhook show deploys']);
}

function formatWebhook(webhook: WebhookView): string {
  const { id, name, format, types, url, repositories, createdBy, createdAt, previousSecretUntil } = webhook;
  const { word, since } = stateOf(webhook);
  const rotation: [string, string][] =
    previousSecretUntil === null ? [] : [['former secret', `valid until ${formatTime(previousSecretUntil)}`]];
  return formatFacts([
    ['name', clean(name)],
    ['id', id],
    ['address', clean(url)],
    ['format', format],
    ['types', types.join(', ')],
    ['repositories', repositories?.map(formatRepo).join(', ') ?? 'all'],
    ['state', since === undefined ? word : `${word} since ${formatTime(since)}`],
    ['made', `${formatTime(createdAt)} by ${clean(createdBy)}`],
    ...rotation,
  ]);
}

function defineUpdate(webhook: Command): void {
  const command = addWishes(webhook.command('update'))
    .description('Change a webhook.')
    .argument('<webhook>', WEBHOOK)
    .option('--name <name>', 'What it is for.')
    .option('--address <url>', 'Where messages are posted.')
    .option('--enable', 'Begin again with the next event.')
    .option('--disable', 'Stop all deliveries.')
    .action(
      withContext(async (context, given: string, options: Wishes & UpdateFlags) => {
        const { id } = await findOne(context, given);
        const { name, address: url, types, repo, enable, disable } = options;
        const enabled = enable ? true : disable ? false : undefined;
        const lists = { types: types && [...types], repositories: repo && [...repo] };
        const reply = await context.call('updateWebhook', { id, ...present({ name, url, enabled, ...lists }) });
        context.show(reply, () => formatWebhook(reply));
      }),
    );
  addExamples(command, [
    'sluice webhook update deploys --types pull_request.*',
    'sluice webhook update deploys --enable',
  ]);
}

interface UpdateFlags {
  readonly address?: string;
  readonly enable?: true;
  readonly disable?: true;
}

function defineDelete(webhook: Command): void {
  const command = webhook
    .command('delete')
    .description('Delete a webhook, with the record of its deliveries.')
    .argument('<webhook>', WEBHOOK)
    .option('--yes', 'Do not ask.')
    .action(
      withContext(async (context, given: string, options: { yes?: true }) => {
        const { id, name, url } = await findOne(context, given);
        const warning = `The webhook "${clean(name)}" to ${clean(url)} gets no more messages.`;
        if (!options.yes) await confirm({ warning, question: 'Delete it?' });
        const reply = await context.call('deleteWebhook', { id });
        context.show(reply, () => `Webhook "${clean(name)}" is deleted.`);
      }),
    );
  addExamples(command, ['sluice webhook delete deploys --yes']);
}

function defineRotate(webhook: Command): void {
  const command = webhook
    .command('rotate')
    .description('Replace the secret. For 24 hours messages are signed with both.')
    .argument('<webhook>', WEBHOOK)
    .action(
      withContext(async (context, given: string) => {
        const { id } = await findOne(context, given);
        const reply = await context.call('rotateWebhookSecret', { id });
        const until = formatTime(reply.previousSecretUntil);
        if (!context.isJson) say(`The former secret is valid until ${until}. The new one, shown only now:`);
        context.show(reply, () => reply.secret);
      }),
    );
  addExamples(command, ['sluice webhook rotate deploys']);
}

function defineTest(webhook: Command): void {
  const command = webhook
    .command('test')
    .description('Send a test message now.')
    .argument('<webhook>', WEBHOOK)
    .action(
      withContext(async (context, given: string) => {
        const { id, name } = await findOne(context, given);
        const reply = await context.call('testWebhook', { id });
        const outcome = reply.status === undefined ? reply.problem : `status ${reply.status}`;
        if (reply.delivered || context.isJson) context.show(reply, () => `Delivered: ${outcome}.`);
        if (reply.delivered) return;
        throw new CliError(EXIT.refused, `The endpoint of "${clean(name)}" did not take the message: ${outcome}.`);
      }),
    );
  addExamples(command, ['sluice webhook test deploys']);
}

interface DeliveryOptions {
  readonly state?: (typeof STATES)[number];
  readonly cursor?: string;
}

function defineDeliveries(webhook: Command): void {
  const command = webhook
    .command('deliveries')
    .description('List the deliveries of a webhook, newest first.')
    .argument('<webhook>', WEBHOOK)
    .addOption(choiceOption('--state <state>', 'Only deliveries in this state.', STATES))
    .option('--cursor <cursor>', 'The next page, as the page before names it.')
    .action(
      withContext(async (context, given: string, options: DeliveryOptions) => {
        const { id } = await findOne(context, given);
        const { state, cursor } = options;
        const reply = await context.call('listWebhookDeliveries', { id, ...present({ state, cursor }) });
        context.show(reply, () => `${formatDeliveries(reply.deliveries)}${formatNextPage(reply.nextCursor)}`);
      }),
    );
  addExamples(command, ['sluice webhook deliveries deploys --state FAILED']);
}

function formatDeliveries(deliveries: readonly DeliveryView[]): string {
  if (deliveries.length === 0) return 'No deliveries.\n';
  return formatRows(deliveries, [
    { title: 'MADE', cell: ({ createdAt }) => formatTime(createdAt) },
    { title: 'TYPE', shrinks: true, cell: ({ type }) => type },
    { title: 'STATE', wraps: true, cell: describeState },
    { title: 'ID', keeps: true, cell: ({ id }) => id },
  ]);
}

/** `PENDING: 500 after 2 attempts, again in 4 min` */
function describeState({ state, attempts, lastStatus, lastProblem, nextAttemptAt }: DeliveryView): string {
  if (attempts === 0) return state;
  const tried = attempts === 1 ? '1 attempt' : `${attempts} attempts`;
  const again = nextAttemptAt === null ? '' : `, again ${formatTime(nextAttemptAt)}`;
  return `${state}: ${lastStatus ?? lastProblem} after ${tried}${again}`;
}

function defineReplay(webhook: Command): void {
  const command = webhook
    .command('replay')
    .description('Send one delivery, or everything since an instant, again.')
    .argument('<webhook>', WEBHOOK)
    .argument('[delivery]', 'The id of the delivery.')
    .option('--after <when>', 'Everything since then: 2h (also m, d, w) ago, or an instant.', parseInstant('past'))
    .action(
      withContext(async (context, given: string, deliveryId: string | undefined, options: { after?: string }) => {
        const { after } = options;
        if ((deliveryId === undefined) === (after === undefined)) {
          throw new CliError(EXIT.usage, 'Name one delivery, or say --after.');
        }
        const { id, name } = await findOne(context, given);
        const reply =
          deliveryId === undefined
            ? await context.call('replayWebhook', { id, after: after ?? '' })
            : await context.call('replayWebhookDelivery', { id, deliveryId });
        context.show(reply, () => `Sending again to "${clean(name)}".`);
      }),
    );
  addExamples(command, [
    'sluice webhook replay deploys --after 2h',
    'sluice webhook replay deploys msg_5e0d3f0c9a1b4c2d8e7f6a5b4c3d2e1f',
  ]);
}
