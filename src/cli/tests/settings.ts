import type { Command } from 'commander';
import type { Static } from 'typebox';
import type { getTestSettings } from '../../contract/test-settings.ts';
import { addExamples } from '../core/arguments.ts';
import { withContext } from '../core/context.ts';
import { usageError } from '../core/exit.ts';
import { TEST_SETTINGS, type TestSetting } from '../core/operations.ts';
import { formatFacts } from '../core/table.ts';
import { clean, formatTime } from '../core/terminal.ts';
import { chooseScope, type ScopeOptions, scopedCommand } from './scope.ts';

type Settings = Static<typeof getTestSettings.reply>;

const NAMES = Object.keys(TEST_SETTINGS);

export function defineSettings(tests: Command): void {
  const settings = tests.command('settings').description('Show or change how Sluice treats the tests of a repository.');
  addExamples(settings, ['sluice tests settings', 'sluice tests settings set auto_quarantine=true']);
  const get = scopedCommand(
    settings,
    'get',
    'Show the settings, and who changed them and the monitors last; the word get may be left out.',
    { isDefault: true },
  ).action(
    withContext(async (context, options: ScopeOptions) => {
      const reply = await context.call('getTestSettings', await chooseScope(context, options));
      context.show(reply, () => formatSettings(reply));
    }),
  );
  addExamples(get, ['sluice tests settings', 'sluice tests settings --repo github.com/acme/app --json']);
  defineSet(settings);
}

function defineSet(settings: Command): void {
  const command = scopedCommand(settings, 'set', 'Change settings. What is not named stays.')
    .argument('<name=value...>', `Of ${NAMES.join(', ')}; none for no template or threshold.`)
    .action(
      withContext(async (context, pairs: readonly string[], options: ScopeOptions) => {
        const changes = Object.fromEntries(pairs.map(parsePair));
        const reply = await context.call('updateTestSettings', {
          ...(await chooseScope(context, options)),
          ...changes,
        });
        context.show(reply, () => formatSettings({ ...reply, changes: [] }));
      }),
    );
  addExamples(command, [
    'sluice tests settings set auto_quarantine=true retention_days=90',
    "sluice tests settings set 'ticket_url_template=https://tickets.acme.dev/browse/{key}'",
  ]);
}

function parsePair(text: string): readonly [string, unknown] {
  const [, given = '', value = ''] = /^([A-Za-z_-]+)=(.*)$/s.exec(text) ?? [];
  const name = given.toLowerCase().replaceAll('-', '_');
  const schema = TEST_SETTINGS[name];
  if (schema === undefined)
    throw usageError(`"${text}" is no setting. Write name=value, with one of ${NAMES.join(', ')}.`);
  return [name, parseValue(name, value, schema)];
}

const BOOLEANS: Readonly<Record<string, boolean>> = {
  true: true,
  on: true,
  yes: true,
  false: false,
  off: false,
  no: false,
};

function parseValue(name: string, value: string, { type }: TestSetting): unknown {
  if (type === 'boolean') {
    const boolean = BOOLEANS[value.toLowerCase()];
    if (boolean === undefined) throw usageError(`${name} must be true or false.`);
    return boolean;
  }
  const isNullable = Array.isArray(type) && type.includes('null');
  if (isNullable && (value === '' || value === 'none')) return null;
  if (type === 'integer' || [type].flat().includes('number')) {
    const number = value.trim() === '' ? Number.NaN : Number(value);
    if (Number.isNaN(number)) throw usageError(`${name} must be a number.`);
    return number;
  }
  return value;
}

/** The text of these changes lacks a verb; the kind supplies it. */
const DONE: Readonly<Record<string, string>> = { MONITOR_CREATED: ' made', MONITOR_DELETED: ' deleted' };

function formatSettings(settings: Settings): string {
  const values = settings as unknown as Readonly<Record<string, unknown>>;
  const facts = formatFacts(NAMES.map((name) => [name, clean(String(values[name] ?? 'none'))]));
  const applied = settings.is_applied ? '' : '\nThe tests follow the last change in some seconds.\n';
  const changes = settings.changes.map(
    ({ at, actor, kind, text }) => `  ${formatTime(at)}  ${clean(text)}${DONE[kind] ?? ''}, by ${clean(actor)}\n`,
  );
  return `${facts}${applied}${changes.length === 0 ? '' : `\nChanges\n${changes.join('')}`}`;
}
