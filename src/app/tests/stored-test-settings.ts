import type { Monitor } from '../../flaky/core/monitor.ts';
import type { QuarantinedFor } from '../../flaky/coverage.ts';
import type { TestSettings } from '../../flaky/settings.ts';
import type { Instant } from '../../lib/clock.ts';
import { Fault } from '../../lib/fault.ts';
import type { Repository } from '../../storage/repositories.ts';
import { currentTestSettings, decodeState, quarantineBy, readTestSettings } from '../../storage/test-codec.ts';
import type { KnownTest } from '../../storage/test-ingest.ts';
import type { StoredTestSettings } from '../../storage/test-settings.ts';
import type { App } from '../core/app.ts';
import { type Answer, isRefusal, type Refusal } from '../core/refusal.ts';

const DAY_MS = 24 * 3_600_000;
/** Only people change settings, so that conflicts are rare. */
const MAX_TRIES = 20;

export type SettingsChangeDetail =
  | { readonly kind: 'settings_changed'; readonly changes: readonly SettingChange[] }
  | { readonly kind: 'monitor_created' | 'monitor_deleted'; readonly monitor: Monitor }
  | { readonly kind: 'monitor_changed'; readonly before: Monitor; readonly monitor: Monitor };

interface SettingChange {
  readonly name: keyof TestSettings;
  readonly from: TestSettings[keyof TestSettings];
  readonly to: TestSettings[keyof TestSettings];
}

export interface NextSettings {
  readonly settings: TestSettings;
  readonly monitors: readonly Monitor[];
  readonly detail: SettingsChangeDetail;
}

// SPEC F56
export async function getRetentionStart(app: App, repository: Repository, at: Instant): Promise<Instant> {
  const { settings } = await readTestSettings(app.store, repository);
  return at - settings.retentionDays * DAY_MS;
}

/** `change` gets the present settings, and again after a concurrent change. Undefined from it: nothing changes. */
export async function changeTestSettings(
  app: App,
  of: { readonly repository: Repository; readonly actor: string },
  change: (current: StoredTestSettings) => NextSettings | Refusal | undefined,
): Answer<StoredTestSettings> {
  const { repository, actor } = of;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const current = await readTestSettings(app.store, repository);
    const next = change(current);
    if (next === undefined) return current;
    if (isRefusal(next)) return next;
    const { settings, monitors, detail } = next;
    const audit = { at: app.clock.now(), actor, detail: JSON.stringify(detail) };
    const saved = await app.store.testSettings.save(repository.id, current.version, { settings, monitors }, audit);
    if (saved === undefined) continue;
    app.ingest.wake();
    return currentTestSettings(repository, saved);
  }
  throw new Fault('STORE_UNAVAILABLE', 'Too many people change these settings at once.');
}

/** An expired decision counts as none, also before the stored test follows. */
export function quarantinedFor(
  { test, memory }: KnownTest,
  settings: StoredTestSettings,
  now: Instant,
): QuarantinedFor {
  const isBehind = memory.settingsVersion !== settings.version;
  const state = decodeState(memory.state);
  const monitors = isBehind ? settings.appliedMonitors : settings.monitors;
  return { state, monitors, quarantine: quarantineBy(test, state, now) };
}
