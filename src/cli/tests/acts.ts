import { InvalidArgumentError } from 'commander';
import { present } from '../../lib/present.ts';
import { collect, parseInstant } from '../core/arguments.ts';
import { commandFor, row } from '../core/command.ts';
import { clean, formatTime, paint } from '../core/terminal.ts';
import { type DetailsView, describeQuarantine, formatName, styleOfStatus } from './format-test.ts';
import { findMonitorId, MONITOR_TEXT, TEST } from './scope.ts';
import { askForSuites, findSuites } from './suites.ts';

const EXAMPLE_ID = 'd8c1d5ba-6c9a-5c0a-8f3e-5a1f5a4c9b11';
const REASON = { '--reason <text>': ['Why.', parseReason] } as const;

export const quarantine = row({
  on: TEST,
  text: 'Quarantine a test: it still runs, and its failures block nobody. --never forbids that, --clear ends either.',
  takes: {
    '--never': 'Never quarantine it, whatever its status is.',
    '--clear': "End what was decided: back to what the repository's settings say.",
    '--reason <text>': { text: 'Why. The history of the test shows it.', parse: parseReason, isRequired: true },
    '--until <when>': [
      'When it ends automatically: 7d (also m, h, w) from now, or an instant.',
      parseInstant('future'),
    ],
    '--suite <suite>': ['Quarantine it in this suite alone; repeat it for several.', collect],
    '--all-suites': 'Quarantine it in every suite in which it is known now.',
  },
  examples: [
    `sluice tests quarantine ${EXAMPLE_ID} --reason 'Blocks everybody; see NET-12' --until 7d`,
    `sluice tests quarantine ${EXAMPLE_ID} --reason 'See NET-12' --suite 'connection > pooled'`,
    `sluice tests quarantine ${EXAMPLE_ID} --never --reason 'Guards the payments'`,
    `sluice tests quarantine ${EXAMPLE_ID} --clear --reason 'Fixed by #71'`,
  ],
  check: ({ never, clear, until, suite, allSuites }) => {
    if (never && clear) return 'Say only one of --never and --clear.';
    if (clear && until !== undefined) return '--until says when a decision ends; --clear ends it now.';
    if (suite && allSuites) return 'Say only one of --suite and --all-suites.';
    if ((suite || allSuites) && (never || clear))
      return '--suite and --all-suites say where a test is quarantined, and go with no other decision.';
    return undefined;
  },
  run: async (context, { never, clear, reason, until, suite, allSuites, ...test }) => {
    const setting = never ? 'NEVER_QUARANTINE' : clear ? 'UNSPECIFIED' : 'ALWAYS_QUARANTINE';
    const isOpen = setting === 'ALWAYS_QUARANTINE' && !suite && !allSuites;
    const where = isOpen ? await findSuites(context, test, askForSuites) : present({ suites: suite });
    const expiry = present({ expires_at: until });
    const reply = await context.act('setQuarantine', { ...test, setting, reason, ...expiry, ...where });
    context.show(reply, () => `${formatTitle(reply.test)}: ${describeQuarantine(reply.test)}.`);
  },
});

export const flag = commandFor(
  'flagTest',
  {
    on: TEST,
    text: 'Mark a test as flaky before a monitor does.',
    takes: { '--remove': 'Take the flag away.', ...REASON },
    examples: [
      `sluice tests flag ${EXAMPLE_ID} --reason 'Fails on Mondays'`,
      `sluice tests flag ${EXAMPLE_ID} --remove --reason 'Fixed by #71'`,
    ],
    show: ({ test }) => formatStatus(test),
  },
  ({ remove, ...test }) => ({ ...test, flagged: !remove }),
);

export const mute = commandFor(
  'muteMonitor',
  {
    on: TEST,
    text: 'Mute a monitor for one test: it still detects, but does not count for the status.',
    takes: {
      '<monitor>': MONITOR_TEXT,
      '--for <time>': [
        'For 24h (also m, d, w), or until an instant. Default: until somebody ends it.',
        parseInstant('future'),
      ],
      '--remove': 'End the mute.',
      ...REASON,
    },
    examples: [
      `sluice tests mute ${EXAMPLE_ID} 'Pass on retry' --for 24h --reason 'Known'`,
      `sluice tests mute ${EXAMPLE_ID} 'Pass on retry' --remove`,
    ],
    check: ({ remove, for: end }) => (remove && end !== undefined ? 'Say only one of --for and --remove.' : undefined),
    show: ({ test }, { remove, for: until }) => {
      const end = until === undefined ? '' : `, which ends ${formatTime(until)}`;
      const done = remove ? 'The monitor counts again.' : `The monitor is muted for this test${end}.`;
      return `${done} ${formatStatus(test)}`;
    },
  },
  async ({ monitor, remove, for: until, ...test }, context) => ({
    ...test,
    monitor_id: await findMonitorId(context, test, monitor),
    muted: !remove,
    ...present({ until }),
  }),
);

export const label = commandFor(
  'setLabel',
  {
    on: TEST,
    text: 'Put a label on a test, or take it away.',
    takes: { '<label>': 'The label.', '--remove': 'Take it away.' },
    examples: [`sluice tests label ${EXAMPLE_ID} network`, `sluice tests label ${EXAMPLE_ID} network --remove`],
    show: ({ test }) =>
      `${formatTitle(test)}. Labels: ${test.labels.map(({ name }) => clean(name)).join(', ') || 'none'}.`,
  },
  ({ remove, ...test }) => ({ ...test, on: !remove }),
);

export const ticket = commandFor(
  'linkTicketToTestCase',
  {
    on: TEST,
    text: 'Link a ticket to a test. It replaces the present one.',
    takes: {
      '[ticket]': "Its address, or its key if the repository's settings have a ticket_url_template.",
      '--remove': 'Take the link away.',
    },
    examples: [
      `sluice tests ticket ${EXAMPLE_ID} https://tickets.acme.dev/browse/NET-12`,
      `sluice tests ticket ${EXAMPLE_ID} NET-12`,
      `sluice tests ticket ${EXAMPLE_ID} --remove`,
    ],
    check: (given) =>
      (given.ticket === undefined) === (given.remove === true) ? undefined : 'Name the ticket, or say --remove.',
    show: ({ test }) => {
      const url = test.ticket?.html_url;
      return `${formatTitle(test)}. ${url === undefined ? 'It has no ticket.' : `Its ticket is ${clean(url)}`}`;
    },
  },
  ({ repo, test_id, ticket: external_ticket_id = null }) => ({ repo, test_case_id: test_id, external_ticket_id }),
);

function formatTitle(test: DetailsView): string {
  return clean(formatName(test));
}

function formatStatus(test: DetailsView): string {
  const { value, reason } = test.status;
  return `${formatTitle(test)} is ${paint(styleOfStatus(value), value)}: ${clean(reason)}`;
}

function parseReason(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('Say why in a few words.');
  return text;
}
