import { type TProperties, Type } from 'typebox';
import { LABEL_ONLY_TYPES, MONITOR_TYPES, type MonitorType } from '../flaky/core/monitor.ts';
import { PARAMETER_SPECS, type ParameterSpec } from '../flaky/monitor-parameters.ts';
import { snakeCase } from '../lib/text.ts';
import {
  boolean,
  component,
  exactlyOneOf,
  fixedEnum,
  inputEnum,
  inputUuid,
  list,
  object,
  optional,
  readAs,
  record,
  text,
} from './schema.ts';
import { EXAMPLE_MONITOR_ID } from './test-details.ts';
import { EXAMPLE_SCOPE, SCOPE_NOT_FOUND, testOperation, testScope } from './test-scope.ts';

/** Describes each parameter and its types, from the table that also validates them. */
function describeParameters(): Record<string, string> {
  const texts: Record<string, string[]> = {};
  for (const type of MONITOR_TYPES) {
    const specs: Readonly<Record<string, ParameterSpec>> = PARAMETER_SPECS[type];
    for (const [name, spec] of Object.entries(specs)) {
      const wire = snakeCase(name);
      texts[wire] ??= [];
      texts[wire].push(`${type}: ${spec.text} ${rangeOf(spec)}`);
    }
  }
  return Object.fromEntries(Object.entries(texts).map(([name, lines]) => [name, lines.join(' ')]));
}

function rangeOf({ min, max, isAboveMin, initial }: ParameterSpec): string {
  const range = isAboveMin === true ? `Above ${min}, at most ${max}` : `${min} to ${max}`;
  if (initial === undefined) return `${range}, required.`;
  return initial === null || Number.isNaN(initial) ? `${range}.` : `${range}, ${initial} unless given.`;
}

const parameterFields: TProperties = Object.fromEntries(
  Object.entries(describeParameters()).map(([name, description]) => [
    name,
    Type.Optional(
      Type.Unsafe<number | null>({
        type: ['number', 'null'],
        description,
        'x-sluice-message': 'must be a number, or null where it may be unset',
      }),
    ),
  ]),
);

type Parameters = Readonly<Record<string, number | null>>;

const Parameters = component(
  'MonitorParameters',
  Type.Unsafe<Parameters>(
    Type.Object(parameterFields, {
      maxProperties: 50,
      description: "The parameters of the monitor's type; thresholds are fractions.",
    }),
  ),
);

const BRANCHES =
  'Up to 10 patterns: a run counts if any matches its branch. `*` is any run of characters, / included, `?` exactly one.';
const CLASSIFY = `Calls a test FLAKY or BROKEN while the monitor is active. Not for ${[...LABEL_ONLY_TYPES].join(', ')}; pass_on_retry says FLAKY only.`;

const labelled = {
  labels: Type.Optional(list(Type.String(), 'Instead: puts these labels on a test, at most 20 of 64 characters.')),
  // Without a default: the serializer of replies would fill it in.
  remove_on_resolve: Type.Optional(
    boolean('With labels: takes them away when the monitor resolves. True unless given.'),
  ),
};

const Monitor = record('Monitor', 'Something that looks at every test of a repository.', {
  id: text('Its id.'),
  type: component('MonitorType', fixedEnum(MONITOR_TYPES, 'What it looks for.')),
  name: text('Its name.'),
  enabled: boolean('False: it detects nothing, and is resolved for every test.'),
  branches: list(Type.String(), BRANCHES),
  action: object('What it does with a test that it detects: classify it, or label it.', {
    classify: Type.Optional(fixedEnum(['FLAKY', 'BROKEN'], CLASSIFY)),
    ...labelled,
  }),
  parameters: Parameters,
});

const monitors = list(Monitor, 'All monitors of the repository, the oldest first.');

type MonitorExample = { readonly type: MonitorType } & Readonly<Record<string, unknown>>;
const EXAMPLE_MONITOR: MonitorExample = {
  id: EXAMPLE_MONITOR_ID,
  type: 'failure_rate',
  name: 'Often failing on main',
  enabled: true,
  branches: ['main', 'release/*'],
  action: { classify: 'FLAKY' },
  parameters: {
    activation_threshold: 0.2,
    resolution_threshold: 0.1,
    window_hours: 24,
    minimum_sample_size: 20,
    stale_timeout_hours: null,
  },
};

export const listMonitors = testOperation('listMonitors', {
  scope: 'read',
  summary: 'List the monitors of a repository',
  description: 'A new repository has five: pass on retry, repeated failures, nearly always failing, new and skipped.',
  body: Type.Object(testScope),
  reply: Type.Object({ monitors }),
  errors: SCOPE_NOT_FOUND,
  example: { body: EXAMPLE_SCOPE, reply: { monitors: [EXAMPLE_MONITOR] } },
});

/** A new monitor needs its type, its action and the required parameters of its type; labels suit every type. */
// SPEC H36
const MONITOR_RULES = {
  if: { required: ['id'] },
  else: { required: ['type', 'action'] },
  dependentSchemas: { type: { allOf: MONITOR_TYPES.flatMap(rulesOf) } },
};

function rulesOf(type: MonitorType): object[] {
  const specs: Readonly<Record<string, ParameterSpec>> = PARAMETER_SPECS[type];
  const needed = Object.keys(specs).filter((name) => specs[name]?.initial === undefined);
  const parameters = { required: needed.map(snakeCase) };
  const ofType = { properties: { type: { const: type } } };
  const isNew = { ...ofType, not: { required: ['id'] } };
  return [
    ...(needed.length > 0 ? [{ if: isNew, ...then({ required: ['parameters'], properties: { parameters } }) }] : []),
    ...(LABEL_ONLY_TYPES.has(type)
      ? [{ if: ofType, ...then({ properties: { action: { required: ['labels'] } } }) }]
      : []),
    ...(type === 'pass_on_retry'
      ? [{ if: ofType, ...then({ properties: { action: { properties: { classify: { const: 'FLAKY' } } } } }) }]
      : []),
  ];
}

function then(schema: object): object {
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
  return { then: schema };
}

export const setMonitor = testOperation('setMonitor', {
  scope: 'admin',
  summary: 'Make or change a monitor',
  description:
    'Without an id, a new monitor. With one, that monitor is changed: what is not named stays. All tests follow within seconds. One that is disabled, or counts other runs than before, is resolved for every test at once. A repository has at most 50 monitors.',
  isIdempotent: true,
  body: Type.Object({
    ...testScope,
    monitor: Type.Object(
      optional({
        id: inputUuid('Which monitor to change; absent for a new one.'),
        type: readAs(
          Type.Unsafe<MonitorType | Uppercase<MonitorType>>({
            type: 'string',
            enum: [...MONITOR_TYPES, ...MONITOR_TYPES.map((type) => type.toUpperCase())],
            'x-sluice-shown': MONITOR_TYPES,
            'x-sluice-component': 'MonitorType',
            description: 'What it looks for; required for a new one.',
            'x-sluice-message': `must be one of ${MONITOR_TYPES.join(', ')}`,
          }),
          (given) => given.toLowerCase() as MonitorType,
        ),
        name: text('Its name, at most 100 characters; its type unless given.'),
        enabled: Type.Boolean({ default: true, description: 'Whether it is switched on.' }),
        branches: list(Type.String(), `${BRANCHES} All unless given.`),
        action: Type.Object(
          { classify: Type.Optional(inputEnum(['FLAKY', 'BROKEN'], CLASSIFY)), ...labelled },
          {
            description: 'Exactly one of classify and labels; required for a new one.',
            'x-sluice-shown-rules': exactlyOneOf('classify', 'labels'),
          },
        ),
        parameters: Parameters,
      }),
      { description: 'The monitor.', 'x-sluice-shown-rules': MONITOR_RULES },
    ),
  }),
  reply: Type.Object({ monitor: Monitor, monitors }),
  errors: [...SCOPE_NOT_FOUND, 'MONITOR_NOT_FOUND', 'MONITOR_LIMIT_REACHED'],
  example: {
    body: { ...EXAMPLE_SCOPE, monitor: EXAMPLE_MONITOR },
    reply: { monitor: EXAMPLE_MONITOR, monitors: [EXAMPLE_MONITOR] },
  },
});

export const deleteMonitor = testOperation('deleteMonitor', {
  scope: 'admin',
  summary: 'Delete a monitor',
  description: 'It is resolved for every test. Deleting one that is gone is 404.',
  body: Type.Object({ ...testScope, monitor_id: inputUuid('Which monitor.') }),
  reply: Type.Object({ monitors }),
  errors: [...SCOPE_NOT_FOUND, 'MONITOR_NOT_FOUND'],
  example: { body: { ...EXAMPLE_SCOPE, monitor_id: EXAMPLE_MONITOR_ID }, reply: { monitors: [] } },
});
