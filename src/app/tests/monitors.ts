import { randomUUID } from 'node:crypto';
import type * as monitorsContract from '../../contract/monitors.ts';
import type { ReplyOf, RequestOf } from '../../contract/operation.ts';
import type { Monitor } from '../../flaky/core/monitor.ts';
import { type MonitorProblem, parseMonitor, wireParameters } from '../../flaky/parse-monitor.ts';
import type { Instant } from '../../lib/clock.ts';
import { readTestSettings } from '../../storage/test-codec.ts';
import type { StoredTestSettings } from '../../storage/test-settings.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { findTestScope, type TestScope } from '../core/list-page.ts';
import { type Answer, isRefusal, type Refusal, refuse } from '../core/refusal.ts';
import { changeTestSettings, type NextSettings } from './stored-test-settings.ts';

export type MonitorView = ReplyOf<typeof monitorsContract.listMonitors>['monitors'][number];

export function viewMonitor(monitor: Monitor): MonitorView {
  const { id, type, name, enabled, branches, action } = monitor;
  const viewed =
    action.kind === 'classify'
      ? { classify: action.status }
      : { labels: action.labels, remove_on_resolve: action.removeOnResolve };
  return { id, type, name, enabled, branches, action: viewed, parameters: wireParameters(monitor) };
}

export async function listMonitors(
  app: App,
  caller: Caller,
  input: TestScope,
): Answer<{ readonly monitors: readonly MonitorView[] }> {
  const repository = await findTestScope(app, caller, input);
  if (isRefusal(repository)) return repository;
  const { monitors } = await readTestSettings(app.store, repository);
  return { monitors: monitors.map(viewMonitor) };
}

/** Each monitor evaluates every test of every upload. */
const MAX_MONITORS = 50;

type Fields = Readonly<Record<string, unknown>>;

type SetMonitor = RequestOf<typeof monitorsContract.setMonitor>;
type GivenMonitor = Omit<SetMonitor['monitor'], 'id'>;

interface SetMonitorReply {
  readonly monitor: MonitorView;
  readonly monitors: readonly MonitorView[];
}

// SPEC F28
export async function setMonitor(app: App, caller: Caller, input: SetMonitor): Answer<SetMonitorReply> {
  const repository = await findTestScope(app, caller, input);
  if (isRefusal(repository)) return repository;
  const { id: known, ...fields } = input.monitor;
  const id = known ?? randomUUID();
  const saved = await changeTestSettings(app, { repository, actor: caller.name }, (current) =>
    known === undefined
      ? addMonitor(current, fields, { id, createdAt: app.clock.now() })
      : replaceMonitor(current, fields, id),
  );
  if (isRefusal(saved)) return saved;
  const monitors = saved.monitors.map(viewMonitor);
  return { monitor: monitors.find((monitor) => monitor.id === id) as MonitorView, monitors };
}

function addMonitor(
  current: StoredTestSettings,
  fields: Fields,
  given: { readonly id: string; readonly createdAt: Instant },
): NextSettings | Refusal {
  const { settings, monitors } = current;
  if (monitors.length >= MAX_MONITORS) {
    return refuse('MONITOR_LIMIT_REACHED', `A repository has at most ${MAX_MONITORS} monitors. Delete one first.`);
  }
  const parsed = parseMonitor(fields, given);
  if (parsed.kind === 'refused') return badMonitor(parsed.problems);
  const { monitor } = parsed;
  return { settings, monitors: [...monitors, monitor], detail: { kind: 'monitor_created', monitor } };
}

function replaceMonitor(
  { settings, monitors }: StoredTestSettings,
  fields: GivenMonitor,
  id: string,
): NextSettings | Refusal | undefined {
  const before = monitors.find((monitor) => monitor.id === id);
  if (before === undefined) return monitorNotFound(id);
  const parsed = parseMonitor(mergeMonitor(before, fields), { id, createdAt: before.createdAt });
  if (parsed.kind === 'refused') return badMonitor(parsed.problems);
  const { monitor } = parsed;
  if (JSON.stringify(viewMonitor(monitor)) === JSON.stringify(viewMonitor(before))) return undefined;
  return {
    settings,
    monitors: monitors.map((other) => (other === before ? monitor : other)),
    detail: { kind: 'monitor_changed', before, monitor },
  };
}

/** Parameters of another type have no meaning for this one. */
function mergeMonitor(before: Monitor, fields: GivenMonitor): Fields {
  const known = viewMonitor(before);
  const isSameType = fields.type === undefined || fields.type === before.type;
  const parameters = isSameType ? { ...known.parameters, ...fields.parameters } : fields.parameters;
  return { ...known, ...fields, parameters };
}

export function monitorNotFound(id: string): Refusal {
  return refuse(
    'MONITOR_NOT_FOUND',
    `This repository has no monitor with the id ${id}. listMonitors shows those it has.`,
  );
}

function badMonitor(problems: readonly MonitorProblem[]): Refusal {
  const [first] = problems;
  const errors = problems.map(({ path, message }) => ({ path: toPointer(path), message }));
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  return refuse('VALIDATION_FAILED', `${first?.path} ${first?.message}${more}. Nothing was changed.`, errors);
}

/** `monitor.branches[0]` as a JSON pointer. */
function toPointer(path: string): string {
  return `/${path.replaceAll(/[.[]/g, '/').replaceAll(']', '')}`;
}

export async function deleteMonitor(
  app: App,
  caller: Caller,
  input: RequestOf<typeof monitorsContract.deleteMonitor>,
): Answer<{ readonly monitors: readonly MonitorView[] }> {
  const repository = await findTestScope(app, caller, input);
  if (isRefusal(repository)) return repository;
  const { monitor_id: monitorId } = input;
  const saved = await changeTestSettings(app, { repository, actor: caller.name }, ({ settings, monitors }) => {
    const monitor = monitors.find(({ id }) => id === monitorId);
    if (monitor === undefined) return monitorNotFound(monitorId);
    const left = monitors.filter((other) => other !== monitor);
    return { settings, monitors: left, detail: { kind: 'monitor_deleted', monitor } };
  });
  return isRefusal(saved) ? saved : { monitors: saved.monitors.map(viewMonitor) };
}
