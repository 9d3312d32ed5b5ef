import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { findTestScope, type TestScope } from '../core/list-page.ts';
import { isRefusal, type Refusal } from '../core/refusal.ts';
import { type MonitorView, viewMonitor } from './monitor-view.ts';
import { getTestSettings } from './test-settings.ts';

export async function listMonitors(
  app: App,
  caller: Caller,
  input: TestScope,
): Promise<{ readonly monitors: readonly MonitorView[] } | Refusal> {
  const repository = await findTestScope(app, caller, input);
  if (isRefusal(repository)) return repository;
  const { monitors } = await getTestSettings(app, repository);
  return { monitors: monitors.map(viewMonitor) };
}
