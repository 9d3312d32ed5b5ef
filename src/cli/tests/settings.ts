import { commandFor, type Row } from '../core/command.ts';
import { usageError } from '../core/exit.ts';
import { type AnswerOf, TEST_SETTINGS, type TestSetting } from '../core/operations.ts';
import { formatFacts } from '../core/table.ts';
import { clean, formatTime } from '../core/terminal.ts';
import { TESTS_OF_REPO } from './scope.ts';

const NAMES = Object.keys(TEST_SETTINGS);

const get = commandFor('getTestSettings', {
  isDefault: true,
  on: TESTS_OF_REPO,
  text: 'Show the settings, and who changed them and the monitors last; the word get may be left out.',
  examples: ['sluice tests settings', 'sluice tests settings --repo github.com/acme/app --json'],
  show: formatSettings,
});

const set = commandFor(
  'updateTestSettings',
  {
    on: TESTS_OF_REPO,
    text: 'Change settings. What is not named stays.',
    takes: { '<name=value...>': `Of ${NAMES.join(', ')}; none for no template or threshold.` },
    examples: [
      'sluice tests settings set auto_quarantine=true retention_days=90',
      "sluice tests settings set 'ticket_url_template=https://tickets.acme.dev/browse/{key}'",
    ],
    show: (reply) => formatSettings({ ...reply, changes: [] }),
  },
  ({ 'name=value...': pairs, ...scope }) => ({ ...scope, ...Object.fromEntries(pairs.map(parsePair)) }),
);

export const SETTINGS: Row = {
  text: 'Show or change how Sluice treats the tests of a repository.',
  examples: ['sluice tests settings', 'sluice tests settings set auto_quarantine=true'],
  rows: { get, set },
};

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

function formatSettings(settings: AnswerOf<'getTestSettings'>): string {
  const values = settings as unknown as Readonly<Record<string, unknown>>;
  const facts = formatFacts(NAMES.map((name) => [name, clean(String(values[name] ?? 'none'))]));
  const applied = settings.is_applied ? '' : '\nThe tests follow the last change in some seconds.\n';
  const changes = settings.changes.map(
    ({ at, actor, kind, text }) => `  ${formatTime(at)}  ${clean(text)}${DONE[kind] ?? ''}, by ${clean(actor)}\n`,
  );
  return `${facts}${applied}${changes.length === 0 ? '' : `\nChanges\n${changes.join('')}`}`;
}
