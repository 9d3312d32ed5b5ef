import type { App } from './app.ts';
import type { Caller } from './caller.ts';
import { findTestScope, type TestScope } from './list-page.ts';
import { isRefusal, type Refusal } from './refusal.ts';
import { getTestSettings } from './test-settings.ts';
import { type MonitorView, viewMonitor } from './views/monitor-view.ts';

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
