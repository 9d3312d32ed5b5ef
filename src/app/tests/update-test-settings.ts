import { isTicketTemplate, type TestSettings } from '../../flaky/settings.ts';
import type { StoredTestSettings } from '../../storage/test-settings.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { findTestScope, type TestScope } from '../core/list-page.ts';
import { type FieldError, isRefusal, type Refusal, refuse } from '../core/refusal.ts';
import { type TestSettingsView, viewTestSettings } from './get-test-settings.ts';
import { changeTestSettings, type NextSettings } from './stored-test-settings.ts';

export interface UpdateTestSettings extends TestScope {
  readonly settings: Partial<TestSettings>;
}

// SPEC F27
export async function updateTestSettings(
  app: App,
  caller: Caller,
  input: UpdateTestSettings,
): Promise<TestSettingsView | Refusal> {
  const repository = await findTestScope(app, caller, input);
  if (isRefusal(repository)) return repository;
  const saved = await changeTestSettings(app, { repository, actor: caller.name }, (current) =>
    apply(current, input.settings),
  );
  return isRefusal(saved) ? saved : viewTestSettings(app, repository, saved);
}

// SPEC F55
function apply(
  { settings: before, monitors }: StoredTestSettings,
  named: Partial<TestSettings>,
): NextSettings | Refusal | undefined {
  const merged = { ...before, ...named };
  const problem = check(merged, named);
  if (problem !== undefined) return problem;
  // Disabling quarantine also ends auto-quarantine: enabling it again needs a new decision.
  const settings = { ...merged, autoQuarantine: merged.autoQuarantine && merged.quarantineEnabled };
  const names = Object.keys(settings) as (keyof TestSettings)[];
  const changes = names
    .filter((name) => settings[name] !== before[name])
    .map((name) => ({ name, from: before[name], to: settings[name] }));
  return changes.length === 0 ? undefined : { settings, monitors, detail: { kind: 'settings_changed', changes } };
}

function check(merged: TestSettings, named: Partial<TestSettings>): Refusal | undefined {
  const errors: FieldError[] = [];
  if (named.autoQuarantine === true && !merged.quarantineEnabled) {
    errors.push({ path: '/auto_quarantine', message: 'needs quarantine_enabled' });
  }
  if (typeof named.ticketUrlTemplate === 'string' && !isTicketTemplate(named.ticketUrlTemplate)) {
    const message = 'must be an http or https address with {key} in it, such as https://acme.example/browse/{key}';
    errors.push({ path: '/ticket_url_template', message });
  }
  const [first] = errors;
  if (first === undefined) return undefined;
  return refuse('VALIDATION_FAILED', `${first.path.slice(1)} ${first.message}. Nothing was changed.`, errors);
}
