import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { findTestScope, type TestScope } from '../core/list-page.ts';
import { isRefusal, type Refusal } from '../core/refusal.ts';
import { type MonitorView, viewMonitor } from './monitor-view.ts';
import { monitorNotFound } from './set-monitor.ts';
import { changeTestSettings } from './test-settings.ts';

export async function deleteMonitor(
  app: App,
  caller: Caller,
  input: TestScope & { readonly monitorId: string },
): Promise<{ readonly monitors: readonly MonitorView[] } | Refusal> {
  const repository = await findTestScope(app, caller, input);
  if (isRefusal(repository)) return repository;
  const { monitorId } = input;
  const saved = await changeTestSettings(app, { repository, actor: caller.name }, ({ settings, monitors }) => {
    const monitor = monitors.find(({ id }) => id === monitorId);
    if (monitor === undefined) return monitorNotFound(monitorId);
    const left = monitors.filter((other) => other !== monitor);
    return { settings, monitors: left, detail: { kind: 'monitor_deleted', monitor } };
  });
  return isRefusal(saved) ? saved : { monitors: saved.monitors.map(viewMonitor) };
}
