import type { QuarantinedFor } from '../../flaky/coverage.ts';
import type { Instant } from '../../lib/clock.ts';
import { decodeState, quarantineBy } from '../../storage/test-codec.ts';
import type { KnownTest } from '../../storage/test-ingest.ts';
import type { StoredTestSettings } from '../../storage/test-settings.ts';

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
