import { collectNames, collectRepos } from './core/arguments.ts';
import { choice, commandFor, type Row } from './core/command.ts';
import { usageError } from './core/exit.ts';
import type { AnswerOf } from './core/operations.ts';
import { formatRows } from './core/table.ts';
import { clean } from './core/terminal.ts';
import { formatDeliveries } from './webhook.ts';

type Notification = AnswerOf<'listNotifications'>['notifications'][number];

const VIAS = ['EMAIL', 'SLACK_MEMBER', 'TEAMS', 'SLACK', 'STANDARD'] as const;
const RULES = ['ENDED', 'REMOVED', 'DIGEST'] as const;

function parseRules(given: readonly string[] = ['ENDED']): (typeof RULES)[number][] {
  return given.map((word) => {
    const rule = RULES.find((each) => each === word.toUpperCase());
    if (rule === undefined) throw usageError(`--when takes ${RULES.map((each) => each.toLowerCase()).join(', ')}.`);
    return rule;
  });
}

const create = commandFor(
  'createNotification',
  {
    text: 'Send a person messages about their pull requests.',
    takes: {
      '<address>': 'An address of mail, the id of a member of Slack, or the address of a webhook.',
      '--for <account>': {
        text: 'The author: the login at the forge, as github.com/ada; on plain git the name in commits, as local/Ada.',
        isRequired: true,
      },
      '--via <way>': { ...choice('How: by mail, if it is not given.', VIAS), initial: 'EMAIL' },
      '--when <rules>': ['ended (the default), removed, digest; by commas, or repeated.', collectNames],
      '--repo <repo>': ['Only this repository, as host/owner/name; repeat it for several.', collectRepos],
    },
    examples: [
      'sluice notify create ada@acme.dev --for github.com/ada',
      'sluice notify create U012AB3CD --via slack-member --for github.com/ada --when removed,digest',
    ],
    about: ({ id }) => `Set up as ${id}.`,
    show: describe,
    next: ({ id }) => `sluice notify test ${id}`,
  },
  ({ address, for: account, via, when, repo }) => {
    const [host = '', ...login] = account.split('/');
    if (login.length === 0) throw usageError('--for takes the host and the login: github.com/ada.');
    return {
      ...{ address, via, account: { host, login: login.join('/') }, when: parseRules(when) },
      ...(repo && { repositories: repo }),
    };
  },
);

const list = commandFor('listNotifications', {
  text: 'List messages to people: your own, or as an administrator all.',
  examples: ['sluice notify list'],
  show: ({ notifications }) =>
    notifications.length === 0
      ? 'No messages to people.\n'
      : formatRows(notifications, [
          { title: 'FOR', shrinks: true, cell: ({ account }) => `${account.host}/${account.login}` },
          { title: 'VIA', cell: ({ via }) => via },
          { title: 'WHEN', cell: ({ when }) => when.join(', ') },
          { title: 'ADDRESS', shrinks: true, cell: ({ address }) => address },
          { title: 'STATE', cell: stateOf },
          { title: 'ID', keeps: true, cell: ({ id }) => id },
        ]),
});

const remove = commandFor('deleteNotification', {
  text: 'End messages to a person.',
  takes: { '<id>': 'Their id.' },
  examples: ['sluice notify delete 3f1de2a4-57a4-4f0e-9d7b-6c1f2b8a9e10'],
  show: () => 'No more messages.\n',
});

const test = commandFor('testNotification', {
  text: 'Send a test message now.',
  takes: { '<id>': 'Their id.' },
  examples: ['sluice notify test 3f1de2a4-57a4-4f0e-9d7b-6c1f2b8a9e10'],
  show: ({ delivered, status, problem }) => `${delivered ? 'Sent' : 'Not sent'}: ${status ?? problem}.\n`,
});

const deliveries = commandFor('listWebhookDeliveries', {
  text: 'List what was sent, newest first. For administrators.',
  takes: { '<id>': 'Their id.' },
  examples: ['sluice notify deliveries 3f1de2a4-57a4-4f0e-9d7b-6c1f2b8a9e10'],
  show: (reply) => formatDeliveries(reply.deliveries),
});

// SPEC W89
export const NOTIFY: Row = {
  examples: ['sluice notify create ada@acme.dev --for github.com/ada', 'sluice notify list'],
  rows: { create, list, delete: remove, test, deliveries },
};

function stateOf({ disabledAt, failingSince }: Notification): string {
  if (disabledAt !== null) return 'disabled';
  return failingSince === null ? 'ok' : 'failing';
}

function describe({ account, via, when, address }: Notification): string {
  return `${clean(account.host)}/${clean(account.login)}: ${when.join(', ')} by ${via} to ${clean(address)}\n`;
}
