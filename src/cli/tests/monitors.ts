import { InvalidArgumentError } from 'commander';
import { present } from '../../lib/present.ts';
import { collectNames } from '../core/arguments.ts';
import { choice, commandFor, type Given, type Row } from '../core/command.ts';
import { usageError } from '../core/exit.ts';
import { type AnswerOf, type BodyOf, CHOICES } from '../core/operations.ts';
import { readInput } from '../core/read-input.ts';
import { formatFacts } from '../core/table.ts';
import { clean, paint } from '../core/terminal.ts';
import { findMonitorId, MONITOR_TEXT, TESTS_OF_REPO } from './scope.ts';

type MonitorView = AnswerOf<'listMonitors'>['monitors'][number];
type MonitorInput = BodyOf<'setMonitor'>['monitor'];

const list = commandFor('listMonitors', {
  isDefault: true,
  on: TESTS_OF_REPO,
  text: 'List the monitors of a repository; the word list may be left out.',
  examples: ['sluice tests monitors', 'sluice tests monitors --json'],
  show: ({ monitors }) => formatMonitors(monitors),
});

const SET_OPTIONS = {
  '--file <file>': 'A file with the monitor as JSON or YAML, as --json shows it; - is standard input.',
  '--type <type>': choice('What it looks for; for a new one.', CHOICES.monitorType),
  '--name <name>': 'Its name.',
  '--enabled': 'Switch it on.',
  '--no-enabled': 'Switch it off: it is resolved for every test.',
  '--branches <patterns>': ['Branches whose runs count, such as main,release/*.', collectNames],
  '--classify <status>': choice('What it calls a test that it detects.', ['FLAKY', 'BROKEN']),
  '--labels <labels>': ['Instead of --classify: labels for such a test, by commas.', collectNames],
  '--keep-labels': 'With --labels: they stay when the monitor resolves.',
  '--parameter <name=value>': [
    'A parameter of its type, such as window_hours=24; none for null. Repeat it for several.',
    collectParameter,
  ],
} as const;

const set = commandFor(
  'setMonitor',
  {
    on: TESTS_OF_REPO,
    text: 'Change a monitor; without <monitor>, create one. What is not named keeps its value. All tests follow.',
    takes: { '[monitor]': MONITOR_TEXT, ...SET_OPTIONS },
    examples: [
      "sluice tests monitors set 'Pass on retry' --parameter recovery_days=3",
      "sluice tests monitors set --type failure_rate --name 'Often red' --branches main --classify flaky \\\n" +
        '      --parameter activation_threshold=0.2 --parameter window_hours=24 --parameter minimum_sample_size=20',
      'sluice tests monitors set --file monitor.yaml',
      "sluice tests monitors set 'New tests' --no-enabled",
    ],
    show: ({ monitor }) => `It is set; the tests follow in some seconds.\n\n${formatMonitors([monitor])}`,
  },
  async ({ repo, org_url_slug, monitor: words, ...options }, context) => {
    const scope = { repo, org_url_slug };
    const id = words === undefined ? {} : { id: await findMonitorId(context, scope, words) };
    return { ...scope, monitor: { ...(await readMonitor(options)), ...id } };
  },
);

const remove = commandFor(
  'deleteMonitor',
  {
    on: TESTS_OF_REPO,
    text: 'Delete a monitor. It is resolved for every test.',
    takes: { '<monitor>': MONITOR_TEXT },
    examples: ["sluice tests monitors delete 'Often red'"],
    show: (_reply, { monitor }) => `The monitor ${clean(monitor)} is deleted. The tests follow in some seconds.`,
  },
  async ({ monitor, ...scope }, context) => ({ ...scope, monitor_id: await findMonitorId(context, scope, monitor) }),
);

export const MONITORS: Row = {
  text: 'Show or change the monitors, which decide what is flaky or broken.',
  examples: [
    'sluice tests monitors',
    "sluice tests monitors set 'Pass on retry' --parameter recovery_days=3",
    'sluice tests monitors set --file monitor.yaml',
  ],
  rows: { list, set, delete: remove },
};

/** Options override the file. */
async function readMonitor(options: Given<typeof SET_OPTIONS>): Promise<MonitorInput> {
  const base = options.file === undefined ? {} : await readDocument(options.file);
  const { type, name, enabled, branches, classify, labels, keepLabels, parameter } = options;
  if (classify !== undefined && labels !== undefined) throw usageError('Say only one of --classify and --labels.');
  const action = labels === undefined ? { classify } : { labels, ...(keepLabels ? { remove_on_resolve: false } : {}) };
  const given = {
    ...present({ type: type?.toLowerCase(), name, enabled, branches }),
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
