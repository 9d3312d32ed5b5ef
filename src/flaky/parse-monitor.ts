import type { Instant } from '../lib/clock.ts';
import { snakeCase } from '../lib/text.ts';
import { MAX_BRANCH_PATTERN_LENGTH, MAX_BRANCH_PATTERNS } from './core/branch-pattern.ts';
import { LABEL_ONLY_TYPES, MONITOR_TYPES, type Monitor, type MonitorAction, type MonitorType } from './core/monitor.ts';
import { PARAMETER_SPECS, type ParameterSpec } from './monitor-parameters.ts';

export interface MonitorProblem {
  /** Such as `monitor.parameters.window_hours`. */
  readonly path: string;
  /** The end of a sentence that begins with the path. */
  readonly message: string;
}

export type ParsedMonitor =
  | { readonly kind: 'monitor'; readonly monitor: Monitor }
  | { readonly kind: 'refused'; readonly problems: readonly MonitorProblem[] };

const MAX_NAME_LENGTH = 100;
const MAX_LABELS = 20;
export const MAX_LABEL_LENGTH = 64;

type Fields = Readonly<Record<string, unknown>>;
type Report = (path: string, message: string) => void;

/** Parses a monitor from the wire (snake case, units last). Reports all problems at once. */
// SPEC F8
export function parseMonitor(
  input: unknown,
  given: { readonly id: string; readonly createdAt: Instant },
): ParsedMonitor {
  const problems: MonitorProblem[] = [];
  const report: Report = (path, message) => problems.push({ path: `monitor${path}`, message });
  const fields = fieldsOf(input);
  const type = MONITOR_TYPES.find((name) => name === fields?.['type']);
  if (fields === undefined) report('', 'must be an object');
  else if (type === undefined) report('.type', `must be one of ${MONITOR_TYPES.join(', ')}`);
  if (fields === undefined || type === undefined) return { kind: 'refused', problems };
  const monitor = {
    ...given,
    type,
    name: parseText(fields['name'] ?? type, MAX_NAME_LENGTH, (message) => report('.name', message)),
    enabled: parseEnabled(fields['enabled'], report),
    branches: parseBranches(fields['branches'], report),
    action: parseAction(fields['action'], type, report),
    parameters: parseParameters(fields['parameters'], type, report),
  };
  return problems.length > 0 ? { kind: 'refused', problems } : { kind: 'monitor', monitor: monitor as Monitor };
}

export function wireParameters(monitor: Monitor): Readonly<Record<string, number | null>> {
  const entries = Object.entries(monitor.parameters as Readonly<Record<string, number | null>>);
  return Object.fromEntries(entries.map(([name, value]) => [snakeCase(name), value]));
}

function parseEnabled(value: unknown, report: Report): boolean {
  if (value !== undefined && typeof value !== 'boolean') report('.enabled', 'must be true or false');
  return value !== false;
}

function parseBranches(value: unknown, report: Report): readonly string[] {
  if (value === undefined) return ['*'];
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_BRANCH_PATTERNS) {
    report('.branches', `must be a list of 1 to ${MAX_BRANCH_PATTERNS} patterns`);
    return [];
  }
  return value.map((pattern, index) =>
    parseText(pattern, MAX_BRANCH_PATTERN_LENGTH, (message) => report(`.branches[${index}]`, message)),
  );
}

function parseAction(value: unknown, type: MonitorType, report: Report): MonitorAction {
  const fields = fieldsOf(value) ?? {};
  const { classify, labels } = fields;
  if ((classify === undefined) === (labels === undefined)) {
    report('.action', 'must have exactly one of classify (FLAKY or BROKEN) and labels');
  } else if (classify !== undefined) return parseClassify(classify, type, report);
  return { kind: 'label', labels: parseLabels(labels, report), removeOnResolve: parseRemoval(fields, report) };
}

// SPEC F43
function parseClassify(value: unknown, type: MonitorType, report: Report): MonitorAction {
  const status = typeof value === 'string' ? value.toUpperCase() : value;
  if (LABEL_ONLY_TYPES.has(type)) report('.action', `must have labels: ${type} says nothing about health`);
  else if (status !== 'FLAKY' && status !== 'BROKEN') report('.action.classify', 'must be FLAKY or BROKEN');
  else if (type === 'pass_on_retry' && status === 'BROKEN') {
    report('.action.classify', 'must be FLAKY: a test that passes when it is tried again is not broken');
  }
  return { kind: 'classify', status: status === 'BROKEN' ? 'BROKEN' : 'FLAKY' };
}

function parseLabels(value: unknown, report: Report): readonly string[] {
  if (value === undefined) return [];
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_LABELS) {
    report('.action.labels', `must be a list of 1 to ${MAX_LABELS} names`);
    return [];
  }
  const labels = value.map((label, index) =>
    parseText(label, MAX_LABEL_LENGTH, (message) => report(`.action.labels[${index}]`, message)),
  );
  return [...new Set(labels)];
}

function parseRemoval(fields: Fields, report: Report): boolean {
  const value = fields['remove_on_resolve'];
  if (value !== undefined && typeof value !== 'boolean') report('.action.remove_on_resolve', 'must be true or false');
  return value !== false;
}

function parseParameters(value: unknown, type: MonitorType, report: Report): Readonly<Record<string, number | null>> {
  const fields = fieldsOf(value ?? {});
  if (fields === undefined) {
    report('.parameters', 'must be an object');
    return {};
  }
  const specs: Readonly<Record<string, ParameterSpec>> = PARAMETER_SPECS[type];
  const known = new Map(Object.keys(specs).map((name) => [snakeCase(name), name]));
  for (const name of Object.keys(fields)) {
    if (!known.has(name))
      report(`.parameters.${name}`, `is not a parameter of ${type}: ${[...known.keys()].join(', ')}`);
  }
  const parsed: Record<string, number | null> = {};
  for (const [wire, name] of known) {
    const spec = specs[name] as ParameterSpec;
    parsed[name] = parseParameter(fields[wire], spec, (message) => report(`.parameters.${wire}`, message));
  }
  return checkTogether(parsed, type, report);
}

function parseParameter(value: unknown, spec: ParameterSpec, report: (message: string) => void): number | null {
  if (value === undefined || value === null) {
    if (spec.initial === undefined) report('is required');
    return spec.initial ?? null;
  }
  const isNumber = typeof value === 'number' && Number.isFinite(value);
  const isWhole = spec.kind === 'number' || Number.isInteger(value);
  const isInside = isNumber && value <= spec.max && (spec.isAboveMin === true ? value > spec.min : value >= spec.min);
  if (isNumber && isWhole && isInside) return value;
  report(`must be ${rangeText(spec)}${isNumber && spec.max === 1 ? ', such as 0.9 for 90%' : ''}`);
  return spec.min;
}

function rangeText(spec: ParameterSpec): string {
  const what = spec.kind === 'integer' ? 'a whole number' : 'a number';
  return spec.isAboveMin === true
    ? `${what} above ${spec.min} and at most ${spec.max}`
    : `${what} from ${spec.min} to ${spec.max}`;
}

/** Checks parameters that constrain each other. */
function checkTogether(
  parsed: Readonly<Record<string, number | null>>,
  type: MonitorType,
  report: Report,
): Readonly<Record<string, number | null>> {
  const value = (name: string) => parsed[name] ?? Number.NaN;
  if (type === 'failure_rate') {
    if (Number.isNaN(value('resolutionThreshold')))
      return { ...parsed, resolutionThreshold: value('activationThreshold') };
    if (value('resolutionThreshold') > value('activationThreshold')) {
      report('.parameters.resolution_threshold', 'must not be above activation_threshold');
    }
  } else if (type === 'failure_count' && value('resolutionTimeoutMinutes') < value('windowMinutes')) {
    report('.parameters.resolution_timeout_minutes', 'must be at least window_minutes');
  } else if (type === 'timeout_inflation' && value('resolutionRatio') > value('activationRatio')) {
    report('.parameters.resolution_ratio', 'must not be above activation_ratio');
  }
  return parsed;
}

function parseText(value: unknown, maxLength: number, report: (message: string) => void): string {
  if (typeof value === 'string' && value.trim() !== '' && value.length <= maxLength) return value;
  report(`must be a text of 1 to ${maxLength} characters`);
  return '';
}

function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}
