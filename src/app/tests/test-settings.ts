import type { ReplyOf, RequestOf } from '../../contract/operation.ts';
import type * as testSettingsContract from '../../contract/test-settings.ts';
import type { Monitor } from '../../flaky/core/monitor.ts';
import { DEFAULT_TEST_SETTINGS, isTicketTemplate, type TestSettings } from '../../flaky/settings.ts';
import { formatInstant } from '../../lib/clock.ts';
import { snakeCase } from '../../lib/text.ts';
import type { Repository } from '../../storage/repositories.ts';
import { readTestSettings } from '../../storage/test-codec.ts';
import type { SettingsChange, StoredTestSettings } from '../../storage/test-settings.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { findTestScope, type TestScope } from '../core/list-page.ts';
import { type Answer, type FieldError, isRefusal, type Refusal, refuseFields } from '../core/refusal.ts';
import { viewMonitor } from './monitors.ts';
import { changeTestSettings, type NextSettings, type SettingsChangeDetail } from './stored-test-settings.ts';

export async function getTestSettings(app: App, caller: Caller, input: TestScope): Answer<TestSettingsView> {
  const repository = await findTestScope(app, caller, input);
  if (isRefusal(repository)) return repository;
  return viewTestSettings(app, repository, await readTestSettings(app.store, repository));
}

export type TestSettingsView = ReplyOf<typeof testSettingsContract.getTestSettings>;
type SettingsChangeView = TestSettingsView['changes'][number];

const MAX_CHANGES = 50;

async function viewTestSettings(
  app: App,
  repository: Repository,
  stored: StoredTestSettings,
): Promise<TestSettingsView> {
  const { settings, version, appliedVersion } = stored;
  const changes = await app.store.testSettings.listChanges(repository.id, MAX_CHANGES);
  return {
    quarantine_enabled: settings.quarantineEnabled,
    auto_quarantine: settings.autoQuarantine,
    infrastructure_protection_enabled: settings.infrastructureProtectionEnabled,
    infrastructure_failure_threshold: settings.infrastructureFailureThreshold,
    retention_days: settings.retentionDays,
    ticket_url_template: settings.ticketUrlTemplate,
    is_applied: version === appliedVersion,
    changes: changes.map(viewChange),
  };
}

function viewChange({ at, actor, detail }: SettingsChange): SettingsChangeView {
  const change = JSON.parse(detail) as SettingsChangeDetail;
  const kind = change.kind.toUpperCase() as Uppercase<SettingsChangeDetail['kind']>;
  return { at: formatInstant(at), actor, kind, text: describeChange(change) };
}

function describeChange(change: SettingsChangeDetail): string {
  switch (change.kind) {
    case 'settings_changed':
      return change.changes
        .map(({ name, from, to }) => `${snakeCase(name)} from ${JSON.stringify(from)} to ${JSON.stringify(to)}`)
        .join(', ');
    case 'monitor_created':
    case 'monitor_deleted':
      return `"${change.monitor.name}" (${change.monitor.type})`;
    case 'monitor_changed': {
      const { name, type } = change.monitor;
      return `"${name}" (${type}): ${describeDifference(fieldsOf(change.before), fieldsOf(change.monitor))}`;
    }
  }
}

type Fields = Readonly<Record<string, unknown>>;

/** Parameters and the parts of the action become fields of their own, so that a change names only what differs. */
function fieldsOf(monitor: Monitor): Fields {
  const { action, parameters, ...rest } = viewMonitor(monitor);
  return { ...rest, ...action, ...parameters };
}

function describeDifference(before: Fields, after: Fields): string {
  const names = [...new Set([...Object.keys(after), ...Object.keys(before)])];
  const words = names.map((name) => [name, wordOf(before[name]), wordOf(after[name])] as const);
  return words
    .filter(([, from, to]) => from !== to)
    .map(([name, from, to]) => `${name} from ${from} to ${to}`)
    .join(', ');
}

function wordOf(value: unknown): string {
  return value === undefined || value === null ? 'none' : JSON.stringify(value);
}

// SPEC F27
export async function updateTestSettings(
  app: App,
  caller: Caller,
  input: RequestOf<typeof testSettingsContract.updateTestSettings>,
): Answer<TestSettingsView> {
  const repository = await findTestScope(app, caller, input);
  if (isRefusal(repository)) return repository;
  const saved = await changeTestSettings(app, { repository, actor: caller.name }, (current) =>
    apply(current, nameSettings(input)),
  );
  return isRefusal(saved) ? saved : viewTestSettings(app, repository, saved);
}

const NAMES = Object.keys(DEFAULT_TEST_SETTINGS) as (keyof TestSettings)[];

function nameSettings(input: Fields): Partial<TestSettings> {
  const given = NAMES.map((name) => [name, input[snakeCase(name)]]).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given);
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
  const changes = NAMES.filter((name) => settings[name] !== before[name]).map((name) => ({
    name,
    from: before[name],
    to: settings[name],
  }));
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
  return refuseFields(errors);
}
