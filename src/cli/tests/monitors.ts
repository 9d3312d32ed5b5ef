import { type Command, InvalidArgumentError } from 'commander';
import type { Static } from 'typebox';
import type { listMonitors, setMonitor } from '../../contract/monitors.ts';
import { present } from '../../lib/present.ts';
import { addExamples, choiceOption, collectNames } from '../core/arguments.ts';
import { withContext } from '../core/context.ts';
import { usageError } from '../core/exit.ts';
import { CHOICES } from '../core/operations.ts';
import { readInput } from '../core/read-input.ts';
import { formatFacts } from '../core/table.ts';
import { clean, paint } from '../core/terminal.ts';
import { chooseScope, findMonitorId, MONITOR_TEXT, type ScopeOptions, scopedCommand } from './scope.ts';

type MonitorView = Static<typeof listMonitors.reply>['monitors'][number];
type MonitorInput = Static<typeof setMonitor.body>['monitor'];

export function defineMonitors(tests: Command): void {
  const monitors = tests
    .command('monitors')
    .description('Show or change the monitors, which decide what is flaky or broken.');
  addExamples(monitors, [
    'sluice tests monitors',
    "sluice tests monitors set 'Pass on retry' --parameter recovery_days=3",
    'sluice tests monitors set --file monitor.yaml',
  ]);
  const description = 'List the monitors of a repository; the word list may be left out.';
  const list = scopedCommand(monitors, 'list', description, { isDefault: true }).action(
    withContext(async (context, options: ScopeOptions) => {
      const reply = await context.call('listMonitors', await chooseScope(context, options));
      context.show(reply, () => formatMonitors(reply.monitors));
    }),
  );
  addExamples(list, ['sluice tests monitors', 'sluice tests monitors --json']);
  defineSet(monitors);
  defineDelete(monitors);
}

interface SetOptions extends ScopeOptions {
  readonly file?: string;
  readonly type?: string;
  readonly name?: string;
  readonly enabled?: boolean;
  readonly branches?: readonly string[];
  readonly classify?: string;
  readonly labels?: readonly string[];
  readonly keepLabels?: true;
  readonly parameter?: readonly (readonly [name: string, value: number | null])[];
}

function defineSet(monitors: Command): void {
  const description =
    'Change a monitor; without <monitor>, create one. What is not named keeps its value. All tests follow.';
  const command = scopedCommand(monitors, 'set', description)
    .argument('[monitor]', MONITOR_TEXT)
    .option('--file <file>', 'A file with the monitor as JSON or YAML, as --json shows it; - is standard input.')
    .addOption(choiceOption('--type <type>', 'What it looks for; for a new one.', CHOICES.monitorType))
    .option('--name <name>', 'Its name.')
    .option('--enabled', 'Switch it on.')
    .option('--no-enabled', 'Switch it off: it is resolved for every test.')
    .option('--branches <patterns>', 'Branches whose runs count, such as main,release/*.', collectNames)
    .addOption(choiceOption('--classify <status>', 'What it calls a test that it detects.', ['FLAKY', 'BROKEN']))
    .option('--labels <labels>', 'Instead of --classify: labels for such a test, by commas.', collectNames)
    .option('--keep-labels', 'With --labels: they stay when the monitor resolves.')
    .option(
      '--parameter <name=value>',
      'A parameter of its type, such as window_hours=24; none for null. Repeat it for several.',
      collectParameter,
    )
    .action(
      withContext(async (context, words: string | undefined, options: SetOptions) => {
        const scope = await chooseScope(context, options);
        const id = words === undefined ? {} : { id: await findMonitorId(context, scope, words) };
        const monitor = { ...(await readMonitor(options)), ...id };
        const reply = await context.call('setMonitor', { ...scope, monitor });
        context.show(reply, () => `It is set; the tests follow in some seconds.\n\n${formatMonitors([reply.monitor])}`);
      }),
    );
  addExamples(command, [
    "sluice tests monitors set 'Pass on retry' --parameter recovery_days=3",
    "sluice tests monitors set --type failure_rate --name 'Often red' --branches main --classify flaky \\\n" +
      '      --parameter activation_threshold=0.2 --parameter window_hours=24 --parameter minimum_sample_size=20',
    'sluice tests monitors set --file monitor.yaml',
    "sluice tests monitors set 'New tests' --no-enabled",
  ]);
}

/** Options override the file. */
async function readMonitor(options: SetOptions): Promise<MonitorInput> {
  const base = options.file === undefined ? {} : await readDocument(options.file);
  const { type, name, enabled, branches, classify, labels, keepLabels, parameter } = options;
  if (classify !== undefined && labels !== undefined) throw usageError('Say only one of --classify and --labels.');
  const action =
    labels === undefined ? { classify } : { labels: [...labels], ...(keepLabels ? { remove_on_resolve: false } : {}) };
  const given = {
    ...present({ type: type?.toLowerCase(), name, enabled, branches: branches && [...branches] }),
    ...(classify === undefined && labels === undefined ? {} : { action }),
    ...(parameter === undefined
      ? {}
      : { parameters: { ...asObject(base['parameters']), ...Object.fromEntries(parameter) } }),
  };
  const monitor = { ...base, ...given };
  if (Object.keys(monitor).length === 0) throw usageError('Say what to set: see sluice tests monitors set --help');
  return monitor as MonitorInput;
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function collectParameter(
  text: string,
  before: readonly (readonly [string, number | null])[] | undefined,
): readonly (readonly [string, number | null])[] {
  const [, name = '', value = ''] = /^([a-z_-]+)=(.+)$/.exec(text) ?? [];
  const number = value === 'none' || value === 'null' ? null : Number(value);
  if (name === '' || Number.isNaN(number))
    throw new InvalidArgumentError('Write it as name=number, such as window_hours=24, or name=none.');
  return [...(before ?? []), [name.replaceAll('-', '_'), number]];
}

function defineDelete(monitors: Command): void {
  const command = scopedCommand(monitors, 'delete', 'Delete a monitor. It is resolved for every test.')
    .argument('<monitor>', MONITOR_TEXT)
    .action(
      withContext(async (context, words: string, options: ScopeOptions) => {
        const scope = await chooseScope(context, options);
        const monitor_id = await findMonitorId(context, scope, words);
        const reply = await context.call('deleteMonitor', { ...scope, monitor_id });
        context.show(reply, () => `The monitor ${clean(words)} is deleted. The tests follow in some seconds.`);
      }),
    );
  addExamples(command, ["sluice tests monitors delete 'Often red'"]);
}

/** Blocks instead of a table, which would cut parameters and branches. */
function formatMonitors(monitors: readonly MonitorView[]): string {
  if (monitors.length === 0) return 'No monitors: no test becomes flaky or broken automatically.\n';
  return monitors.map(formatMonitor).join('\n');
}

function formatMonitor({ id, type, name, enabled, branches, action, parameters }: MonitorView): string {
  const values = Object.entries(parameters).map(([key, value]) => `${key}=${value ?? 'none'}`);
  const kept = action.remove_on_resolve === false ? ', which stay' : '';
  const facts: [string, string][] = [
    ['  Type', type],
    ['  Does', action.classify ?? clean(`labels ${(action.labels ?? []).join(', ')}${kept}`)],
    ['  Branches', clean(branches.join(', '))],
    ['  Parameters', values.join(' ')],
    ['  Id', id],
  ];
  return `${paint('bold', clean(name))}${enabled ? '' : paint('gray', ' (off)')}\n${formatFacts(facts)}`;
}

/** Parses JSON or YAML; JSON is a subset of YAML. */
async function readDocument(file: string): Promise<Readonly<Record<string, unknown>>> {
  const { name, text } = readInput(file);
  const { parse } = await import('yaml');
  let value: unknown;
  try {
    // Aliases expand: a few lines of them could fill the memory.
    value = parse(text, { maxAliasCount: 100 });
  } catch (error) {
    throw usageError(`${name} is neither JSON nor YAML: ${(error as Error).message.split('\n')[0]}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw usageError(`${name} must hold one object.`);
  return value as Readonly<Record<string, unknown>>;
}
