import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { findTestScope, type TestScope } from '../core/list-page.ts';
import { isRefusal, type Refusal } from '../core/refusal.ts';
import { getTestSettings as getStored } from './test-settings.ts';
import { type TestSettingsView, viewTestSettings } from './test-settings-view.ts';

export async function getTestSettings(app: App, caller: Caller, input: TestScope): Promise<TestSettingsView | Refusal> {
  const repository = await findTestScope(app, caller, input);
  if (isRefusal(repository)) return repository;
  return viewTestSettings(app, repository, await getStored(app, repository));
}
