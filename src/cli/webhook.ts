import { present } from '../lib/present.ts';
import { collectNames, collectRepos, formatRepo, parseInstant } from './core/arguments.ts';
import { choice, commandFor, type Row, row, type Subject } from './core/command.ts';
import { confirm } from './core/confirm.ts';
import { CliError, EXIT } from './core/exit.ts';
import type { AnswerOf } from './core/operations.ts';
import { formatFacts, formatRows } from './core/table.ts';
import { clean, formatNextPage, formatTime } from './core/terminal.ts';

type WebhookView = AnswerOf<'listWebhooks'>['webhooks'][number];
type DeliveryView = AnswerOf<'listWebhookDeliveries'>['deliveries'][number];

const WEBHOOK: Subject<{ readonly id: string; readonly webhook: WebhookView }> = {
  takes: { '<webhook>': 'The id or the name of the webhook.' },
  find: async (context, [given = '']) => {
    const { webhooks } = await context.call('listWebhooks', {});
    const byId = webhooks.filter(({ id }) => id === given.toLowerCase());
    // Names are for people: several webhooks may have the same one.
    const found = byId.length > 0 ? byId : webhooks.filter(({ name }) => name === given);
    const [first] = found;
    if (first !== undefined && found.length === 1) return { id: first.id, webhook: first };
    const problem = first === undefined ? 'There is no webhook' : `There are ${found.length} webhooks`;
    throw new CliError(EXIT.refused, `${problem} "${given}". "sluice webhook list" shows their ids.`);
  },
};

const WISHES = {
  '--types <types>': ['Types and families of events; by commas, or repeated.', collectNames],
  '--repo <repo>': ['Only this repository, as host/owner/name; repeat it for several.', collectRepos],
} as const;

const list = commandFor('listWebhooks', {
  text: 'List the webhooks, with masked addresses.',
  examples: ['sluice webhook list'],
  show: ({ webhooks }) => formatWebhooks(webhooks),
});

const create = commandFor(
  'createWebhook',
  {
    text: 'Tell an endpoint of events. The secret goes to standard output, and is never shown again.',
    takes: {
      '<address>': 'Where messages are posted.',
      ...WISHES,
      '--name <name>': { text: 'What it is for.', isRequired: true },
      '--format <format>': {
        ...choice('For programs, or for people.', ['STANDARD', 'SLACK', 'TEAMS']),
        initial: 'STANDARD',
      },
    },
    examples: [
      'sluice webhook create https://deploys.example.com/sluice --name deploys --types pull_request.merged',
      'sluice webhook create "$SLACK_URL" --name chat --format SLACK --types pull_request.failed,queue.held',
    ],
    about: ({ id, name }) => `Webhook ${id} (${clean(name)}). Its secret, shown only now:`,
    show: ({ secret }) => secret,
    next: ({ id }) => `sluice webhook test ${id}`,
  },
  ({ address: url, name, format, types = ['pull_request.*'], repo }) => ({
    ...{ name, url, format, types },
    ...present({ repositories: repo }),
  }),
);

const show = row({
  on: WEBHOOK,
  text: 'Show a webhook.',
  examples: ['sluice webhook show deploys'],
  run: (context, { webhook }) => context.show(webhook, () => formatWebhook(webhook)),
});

const update = commandFor(
  'updateWebhook',
  {
    on: WEBHOOK,
    text: 'Change a webhook.',
    takes: {
      ...WISHES,
      '--name <name>': 'What it is for.',
      '--address <url>': 'Where messages are posted.',
      '--enable': 'Begin again with the next event.',
      '--disable': 'Stop all deliveries.',
    },
    examples: ['sluice webhook update deploys --types pull_request.*', 'sluice webhook update deploys --enable'],
    show: formatWebhook,
  },
  ({ id, name, address: url, types, repo: repositories, enable, disable }) => ({
    id,
    ...present({ name, url, types, repositories, enabled: enable ?? (disable && false) }),
  }),
);

const remove = commandFor(
  'deleteWebhook',
  {
    on: WEBHOOK,
    text: 'Delete a webhook, with the record of its deliveries.',
    takes: { '--yes': 'Do not ask.' },
    examples: ['sluice webhook delete deploys --yes'],
    show: (_reply, { webhook }) => `Webhook "${clean(webhook.name)}" is deleted.`,
  },
  async ({ id, webhook: { name, url }, yes }) => {
    const warning = `The webhook "${clean(name)}" to ${clean(url)} gets no more messages.`;
    if (!yes) await confirm({ warning, question: 'Delete it?' });
    return { id };
  },
);

const rotate = commandFor(
  'rotateWebhookSecret',
  {
    on: WEBHOOK,
    text: 'Replace the secret. For 24 hours messages are signed with both.',
    examples: ['sluice webhook rotate deploys'],
    about: ({ previousSecretUntil }) =>
      `The former secret is valid until ${formatTime(previousSecretUntil)}. The new one, shown only now:`,
    show: ({ secret }) => secret,
  },
  ({ id }) => ({ id }),
);

const test = row({
  on: WEBHOOK,
  text: 'Send a test message now.',
  examples: ['sluice webhook test deploys'],
  run: async (context, { id, webhook }) => {
    const reply = await context.act('testWebhook', { id });
    const outcome = reply.status === undefined ? reply.problem : `status ${reply.status}`;
    if (reply.delivered || context.isJson) context.show(reply, () => `Delivered: ${outcome}.`);
    if (reply.delivered) return;
    throw new CliError(EXIT.refused, `The endpoint of "${clean(webhook.name)}" did not take the message: ${outcome}.`);
  },
});

const deliveries = commandFor(
  'listWebhookDeliveries',
  {
    on: WEBHOOK,
    text: 'List the deliveries of a webhook, newest first.',
    takes: {
      '--state <state>': choice('Only deliveries in this state.', ['PENDING', 'DELIVERED', 'FAILED']),
      '--cursor <cursor>': 'The next page, as the page before names it.',
    },
    examples: ['sluice webhook deliveries deploys --state FAILED'],
    show: (reply) => `${formatDeliveries(reply.deliveries)}${formatNextPage(reply.nextCursor)}`,
  },
  ({ id, state, cursor }) => ({ id, ...present({ state, cursor }) }),
);

const replay = row({
  on: WEBHOOK,
  text: 'Send one delivery, or everything since an instant, again.',
  takes: {
    '[delivery]': 'The id of the delivery.',
    '--after <when>': ['Everything since then: 2h (also m, d, w) ago, or an instant.', parseInstant('past')],
  },
  examples: [
    'sluice webhook replay deploys --after 2h',
    'sluice webhook replay deploys msg_5e0d3f0c9a1b4c2d8e7f6a5b4c3d2e1f',
  ],
  check: ({ delivery, after }) =>
    (delivery === undefined) === (after === undefined) ? 'Name one delivery, or say --after.' : undefined,
  run: async (context, { id, webhook, delivery: deliveryId, after = '' }) => {
    const reply =
      deliveryId === undefined
        ? await context.act('replayWebhook', { id, after })
        : await context.act('replayWebhookDelivery', { id, deliveryId });
    context.show(reply, () => `Sending again to "${clean(webhook.name)}".`);
  },
});

// SPEC X53
export const WEBHOOKS: Row = {
  examples: [
    'sluice webhook create https://deploys.example.com/sluice --name deploys --types pull_request.merged',
    'sluice webhook deliveries deploys --state FAILED',
  ],
  rows: { list, create, show, update, delete: remove, rotate, test, deliveries, replay },
};

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

function formatWebhook(webhook: WebhookView): string {
  const { id, name, format, types, url, repositories, createdBy, createdAt, previousSecretUntil } = webhook;
  const { word, since } = stateOf(webhook);
  return formatFacts([
    ['name', clean(name)],
    ['id', id],
    ['address', clean(url)],
    ['format', format],
    ['types', types.join(', ')],
    ['repositories', repositories?.map(formatRepo).join(', ') ?? 'all'],
    ['state', since === undefined ? word : `${word} since ${formatTime(since)}`],
    ['made', `${formatTime(createdAt)} by ${clean(createdBy)}`],
    ['former secret', previousSecretUntil === null ? undefined : `valid until ${formatTime(previousSecretUntil)}`],
  ]);
}

export function formatDeliveries(deliveries: readonly DeliveryView[]): string {
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
