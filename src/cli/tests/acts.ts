import { type Command, InvalidArgumentError } from 'commander';
import { present } from '../../lib/present.ts';
import { addExamples, collect, parseInstant } from '../core/arguments.ts';
import { type Context, withContext } from '../core/context.ts';
import { usageError } from '../core/exit.ts';
import { clean, formatTime, paint } from '../core/terminal.ts';
import { type DetailsView, describeQuarantine, formatName, styleOfStatus } from './format-test.ts';
import {
  chooseScope,
  findMonitorId,
  findTestId,
  MONITOR_TEXT,
  type ScopeOptions,
  type TestScope,
  testCommand,
} from './scope.ts';
import { askForSuites, findSuites } from './suites.ts';

// SPEC W8
export function defineActs(tests: Command): void {
  defineQuarantine(tests);
  defineFlag(tests);
  defineMute(tests);
  defineLabel(tests);
  defineTicket(tests);
}

interface Found {
  readonly scope: TestScope;
  readonly test_id: string;
}

async function find(context: Context, words: string, options: ScopeOptions): Promise<Found> {
  const scope = await chooseScope(context, options);
  return { scope, test_id: await findTestId(context, scope, words) };
}

const EXAMPLE_ID = 'd8c1d5ba-6c9a-5c0a-8f3e-5a1f5a4c9b11';

interface QuarantineOptions extends ScopeOptions {
  readonly never?: true;
  readonly clear?: true;
  readonly reason: string;
  readonly until?: string;
  readonly suite?: string[];
  readonly allSuites?: true;
}

function defineQuarantine(tests: Command): void {
  const description =
    'Quarantine a test: it still runs, and its failures block nobody. --never forbids that, --clear ends either.';
  const command = testCommand(tests, 'quarantine', description)
    .option('--never', 'Never quarantine it, whatever its status is.')
    .option('--clear', "End what was decided: back to what the repository's settings say.")
    .requiredOption('--reason <text>', 'Why. The history of the test shows it.', parseReason)
    .option(
      '--until <when>',
      'When it ends automatically: 7d (also m, h, w) from now, or an instant.',
      parseInstant('future'),
    )
    .option('--suite <suite>', 'Quarantine it in this suite alone; repeat it for several.', collect)
    .option('--all-suites', 'Quarantine it in every suite in which it is known now.')
    .action(
      withContext(async (context, words: string, options: QuarantineOptions) => {
        const { never, clear, reason, until, suite, allSuites } = options;
        if (never && clear) throw usageError('Say only one of --never and --clear.');
        if (clear && until !== undefined) throw usageError('--until says when a decision ends; --clear ends it now.');
        if (suite && allSuites) throw usageError('Say only one of --suite and --all-suites.');
        if ((suite || allSuites) && (never || clear))
          throw usageError('--suite and --all-suites say where a test is quarantined, and go with no other decision.');
        const setting = never ? 'NEVER_QUARANTINE' : clear ? 'UNSPECIFIED' : 'ALWAYS_QUARANTINE';
        const { scope, test_id } = await find(context, words, options);
        const expiry = until === undefined ? {} : { expires_at: until };
        const isOpen = setting === 'ALWAYS_QUARANTINE' && !suite && !allSuites;
        const where = isOpen
          ? await findSuites(context, { ...scope, test_id }, askForSuites)
          : present({ suites: suite });
        const reply = await context.call('setQuarantine', { ...scope, test_id, setting, reason, ...expiry, ...where });
        context.show(reply, () => `${formatTitle(reply.test)}: ${describeQuarantine(reply.test)}.`);
      }),
    );
  addExamples(command, [
    `sluice tests quarantine ${EXAMPLE_ID} --reason 'Blocks everybody; see NET-12' --until 7d`,
    `sluice tests quarantine ${EXAMPLE_ID} --reason 'See NET-12' --suite 'connection > pooled'`,
    `sluice tests quarantine ${EXAMPLE_ID} --never --reason 'Guards the payments'`,
    `sluice tests quarantine ${EXAMPLE_ID} --clear --reason 'Fixed by #71'`,
  ]);
}

interface FlagOptions extends ScopeOptions {
  readonly remove?: true;
  readonly reason?: string;
}

function defineFlag(tests: Command): void {
  const command = testCommand(tests, 'flag', 'Mark a test as flaky before a monitor does.')
    .option('--remove', 'Take the flag away.')
    .option('--reason <text>', 'Why.', parseReason)
    .action(
      withContext(async (context, words: string, options: FlagOptions) => {
        const { scope, test_id } = await find(context, words, options);
        const why = present({ reason: options.reason });
        const reply = await context.call('flagTest', { ...scope, test_id, flagged: !options.remove, ...why });
        context.show(reply, () => formatStatus(reply.test));
      }),
    );
  addExamples(command, [
    `sluice tests flag ${EXAMPLE_ID} --reason 'Fails on Mondays'`,
    `sluice tests flag ${EXAMPLE_ID} --remove --reason 'Fixed by #71'`,
  ]);
}

interface MuteOptions extends ScopeOptions {
  readonly for?: string;
  readonly remove?: true;
  readonly reason?: string;
}

function defineMute(tests: Command): void {
  const command = testCommand(
    tests,
    'mute',
    'Mute a monitor for one test: it still detects, but does not count for the status.',
  )
    .argument('<monitor>', MONITOR_TEXT)
    .option(
      '--for <time>',
      'For 24h (also m, d, w), or until an instant. Default: until somebody ends it.',
      parseInstant('future'),
    )
    .option('--remove', 'End the mute.')
    .option('--reason <text>', 'Why.', parseReason)
    .action(
      withContext(async (context, words: string, monitor: string, options: MuteOptions) => {
        if (options.remove && options.for !== undefined) throw usageError('Say only one of --for and --remove.');
        const { scope, test_id } = await find(context, words, options);
        const reply = await context.call('muteMonitor', {
          ...scope,
          test_id,
          monitor_id: await findMonitorId(context, scope, monitor),
          muted: !options.remove,
          ...present({ until: options.for, reason: options.reason }),
        });
        const end = options.for === undefined ? '' : `, which ends ${formatTime(options.for)}`;
        const done = options.remove ? 'The monitor counts again.' : `The monitor is muted for this test${end}.`;
        context.show(reply, () => `${done} ${formatStatus(reply.test)}`);
      }),
    );
  addExamples(command, [
    `sluice tests mute ${EXAMPLE_ID} 'Pass on retry' --for 24h --reason 'Known'`,
    `sluice tests mute ${EXAMPLE_ID} 'Pass on retry' --remove`,
  ]);
}

function defineLabel(tests: Command): void {
  const command = testCommand(tests, 'label', 'Put a label on a test, or take it away.')
    .argument('<label>', 'The label.')
    .option('--remove', 'Take it away.')
    .action(
      withContext(async (context, words: string, label: string, options: ScopeOptions & { remove?: true }) => {
        const { scope, test_id } = await find(context, words, options);
        const reply = await context.call('setLabel', { ...scope, test_id, label, on: !options.remove });
        const labels = reply.test.labels.map(({ name }) => clean(name)).join(', ') || 'none';
        context.show(reply, () => `${formatTitle(reply.test)}. Labels: ${labels}.`);
      }),
    );
  addExamples(command, [
    `sluice tests label ${EXAMPLE_ID} network`,
    `sluice tests label ${EXAMPLE_ID} network --remove`,
  ]);
}

function defineTicket(tests: Command): void {
  const command = testCommand(tests, 'ticket', 'Link a ticket to a test. It replaces the present one.')
    .argument('[ticket]', "Its address, or its key if the repository's settings have a ticket_url_template.")
    .option('--remove', 'Take the link away.')
    .action(
      withContext(
        async (context, words: string, ticket: string | undefined, options: ScopeOptions & { remove?: true }) => {
          if ((ticket === undefined) !== (options.remove === true))
            throw usageError('Name the ticket, or say --remove.');
          const { scope, test_id } = await find(context, words, options);
          const reply = await context.call('linkTicketToTestCase', {
            repo: scope.repo,
            test_case_id: test_id,
            external_ticket_id: ticket ?? null,
          });
          const url = reply.test.ticket?.html_url;
          const now = url === undefined ? 'It has no ticket.' : `Its ticket is ${clean(url)}`;
          context.show(reply, () => `${formatTitle(reply.test)}. ${now}`);
        },
      ),
    );
  addExamples(command, [
    `sluice tests ticket ${EXAMPLE_ID} https://tickets.acme.dev/browse/NET-12`,
    `sluice tests ticket ${EXAMPLE_ID} NET-12`,
    `sluice tests ticket ${EXAMPLE_ID} --remove`,
  ]);
}

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
