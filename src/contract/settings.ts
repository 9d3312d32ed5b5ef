import { type TSchema, type TUnsafe, Type } from 'typebox';
import { FREEZE_REPEATS } from '../engine/model/freeze.ts';
import { REQUESTABLE_QUEUE_STATES } from '../engine/model/queue.ts';
import {
  DEFAULT_SETTINGS,
  type QueueSettings,
  SETTING_NAMES,
  SETTING_SPECS,
  type SettingName,
  type SettingSpec,
} from '../engine/model/settings.ts';
import { component, inputEnum, nullableList, optional, outputEnum, record, text, trimmedText } from './schema.ts';

const BatchingRule = component(
  'BatchingRule',
  Type.Object(
    {
      targetPattern: {
        ...trimmedText(1000, 'A target, or a prefix of targets followed by one *.'),
        allOf: [{ pattern: '^[^*]+\\*?$' }],
        'x-sluice-message': 'must be a target, or a prefix of targets followed by one *',
      },
      policy: inputEnum(['ISOLATE'], 'ISOLATE: a pull request that impacts such a target is tested alone.'),
    },
    { description: 'Keeps pull requests out of batches.', additionalProperties: false },
  ),
);

const localTime = (what: string) => ({
  ...Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}$' }),
  description: `${what}, as a local time of the time zone such as 2026-12-24T18:00.`,
  'x-sluice-message': 'must be a local time such as 2026-12-24T18:00',
});

const ALLOW_URGENT = 'Urgent pull requests land nevertheless.';
const REPEAT = 'NONE: once. WEEKLY: from then on in every week, at the same local times.';
const TIME_ZONE = 'An IANA name such as Europe/Berlin.';

export const Freeze = component(
  'Freeze',
  Type.Object(
    {
      name: trimmedText(100, 'Its name. Explanations and comments show it.'),
      from: localTime('When it begins'),
      until: localTime('When it ends'),
      ...optional({
        timeZone: { ...trimmedText(100, TIME_ZONE), default: 'UTC' },
        repeat: { ...component('FreezeRepeat', inputEnum(FREEZE_REPEATS, REPEAT)), default: 'NONE' },
        allowUrgent: Type.Boolean({ description: ALLOW_URGENT, default: false }),
      }),
    },
    { description: 'A time in which nothing lands.', additionalProperties: false },
  ),
);

const FreezeSetting = record('FreezeSetting', 'A time in which nothing lands.', {
  name: text('Its name.'),
  from: text('When it begins, as a local time.'),
  until: text('When it ends, as a local time.'),
  timeZone: text(TIME_ZONE),
  repeat: component('FreezeRepeat', outputEnum(FREEZE_REPEATS, REPEAT)),
  allowUrgent: Type.Boolean({ description: ALLOW_URGENT }),
});

const RequiredStatus = component(
  'RequiredStatus',
  Type.Union(
    [
      trimmedText(255, 'The name of a check.'),
      component(
        'RequiredStatusOfApp',
        Type.Object(
          {
            name: trimmedText(255, 'The name of the check.'),
            app: Type.String({
              pattern: '^(?:\\*|[A-Za-z0-9][A-Za-z0-9._-]{0,98})$',
              description:
                'The slug of the app that must report it, such as github-actions, or its number. On Gitea: the login of the account, or * for any.',
            }),
          },
          { additionalProperties: false, description: 'A check that only one app or account may report.' },
        ),
      ),
    ],
    {
      description: 'A check, by its name; or with the app that must report it. /trunk/v1 shows names only.',
      'x-sluice-message': 'must be the name of a check, or { name, app }',
    },
  ),
);

/** The writable settings, all optional, from the engine's table. */
export const settingInputs: Record<string, TSchema> = {
  state: Type.Optional(
    component(
      'RequestableQueueState',
      inputEnum(
        REQUESTABLE_QUEUE_STATES,
        'RUNNING, PAUSED (admits, starts and lands nothing) or DRAINING (finishes what is in it).',
      ),
    ),
  ),
  ...Object.fromEntries(SETTING_NAMES.map((name) => [name, Type.Optional(inputSchema(name, DEFAULT_SETTINGS[name]))])),
};

/** For updates, where an absent setting keeps its value: without defaults. */
export const settingChanges: Record<string, TSchema> = Object.fromEntries(
  Object.entries(settingInputs).map(([name, input]) => {
    const { default: _, ...change } = input as TSchema & { default?: unknown };
    return [name, Type.Optional(change)];
  }),
);

type Read<Name extends SettingName> = Name extends 'bisectionConcurrency' | 'testingTimeoutMinutes'
  ? number
  : QueueSettings[Name];

export const settingOutputs = Object.fromEntries(
  SETTING_NAMES.map((name) => [name, outputSchema(name)]),
) as unknown as { readonly [Name in SettingName]: TUnsafe<Read<Name>> };

/** Reads and writes of a setting have one name for its values. */
function choiceName(name: SettingName): string {
  return name === 'mode' ? 'QueueMode' : name[0]?.toUpperCase() + name.slice(1);
}

function inputSchema(name: SettingName, initial: unknown): TSchema {
  const spec: SettingSpec = SETTING_SPECS[name];
  const note = { description: spec.text, default: initial };
  switch (spec.kind) {
    case 'integer': {
      const message = `must be a whole number from ${spec.min} to ${spec.max}`;
      const integer = Type.Integer({ minimum: spec.min, maximum: spec.max });
      if (!spec.nullable) return { ...integer, ...note, 'x-sluice-message': message };
      return Type.Union([integer, Type.Null()], { ...note, 'x-sluice-message': `${message}, or null` });
    }
    case 'number': {
      const message = `must be a number from ${spec.min} to ${spec.max}`;
      return Type.Number({ minimum: spec.min, maximum: spec.max, ...note, 'x-sluice-message': message });
    }
    case 'boolean':
      return Type.Boolean({ ...note, 'x-sluice-message': 'must be true or false' });
    case 'choice':
      return { ...component(choiceName(name), inputEnum(spec.values, spec.text)), default: initial };
    case 'text':
      return { ...trimmedText(spec.maxLength, spec.text), default: initial };
    case 'names': {
      const message = `must be a list of at most ${spec.maxItems} different names`;
      const names = Type.Array(trimmedText(255, 'A name.'), { maxItems: spec.maxItems, uniqueItems: true });
      return { ...names, ...note, 'x-sluice-message': message };
    }
    case 'statuses': {
      const statuses = Type.Array(RequiredStatus, { maxItems: spec.maxItems, uniqueItems: true });
      const message = `must be a list of at most ${spec.maxItems} different names, or { name, app } where one app must report it`;
      if (!spec.nullable) return { ...statuses, ...note, 'x-sluice-message': message };
      return Type.Union([statuses, Type.Null()], { ...note, 'x-sluice-message': `${message}, or null` });
    }
    case 'batchingRules':
      return Type.Array(BatchingRule, { ...note, maxItems: spec.maxItems });
    case 'freezes':
      return Type.Array(Freeze, { ...note, maxItems: spec.maxItems });
  }
}

function outputSchema(name: SettingName): TSchema {
  const spec: SettingSpec = SETTING_SPECS[name];
  const note = { description: spec.text };
  switch (spec.kind) {
    case 'integer':
      return Type.Integer(note);
    case 'number':
      return Type.Number(note);
    case 'boolean':
      return Type.Boolean(note);
    case 'choice':
      return component(choiceName(name), outputEnum(spec.values, spec.text));
    case 'text':
      return Type.String(note);
    case 'names':
      return Type.Array(Type.String(), note);
    case 'statuses':
      return spec.nullable ? nullableList(RequiredStatus, spec.text) : Type.Array(RequiredStatus, note);
    case 'batchingRules':
      return Type.Array(
        record('BatchingRuleSetting', 'Keeps pull requests out of batches.', {
          targetPattern: text('A target, or a prefix of targets followed by one *.'),
          policy: outputEnum(['ISOLATE'], 'Tested alone.'),
        }),
        note,
      );
    case 'freezes':
      return Type.Array(FreezeSetting, note);
  }
}

const FREEZE_DEFAULTS = { timeZone: 'UTC', repeat: 'NONE', allowUrgent: false };

/** Picks the settings out of a request. */
export function parseSettings(body: Readonly<Record<string, unknown>>): Partial<QueueSettings> {
  const given = SETTING_NAMES.map((name) => [name, body[name]]).filter(([, value]) => value !== undefined);
  const settings: Partial<QueueSettings> = Object.fromEntries(given);
  const { freezes } = settings;
  return freezes ? { ...settings, freezes: freezes.map((freeze) => ({ ...FREEZE_DEFAULTS, ...freeze })) } : settings;
}
