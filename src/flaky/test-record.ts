/** The shown facts of a test, derived from its state and from people's decisions. */
import type { Instant } from '../lib/clock.ts';
import type { HealthStatus } from './core/monitor.ts';
import type { TestState } from './core/state.ts';
import { labelsOf } from './labels.ts';
import { type QuarantineOverride, type QuarantineSettings, quarantineOf } from './quarantine.ts';

export interface TestRecord {
  readonly status: HealthStatus;
  readonly statusReason: string;
  /** When the status was set; for a test that was never classified, when it was first seen. */
  readonly statusAt: Instant;
  readonly quarantinedAt: Instant | null;
  readonly isFlagged: boolean;
  readonly labels: readonly string[];
}

export interface QuarantineChanged {
  readonly kind: 'quarantine_changed';
  readonly at: Instant;
  readonly actor: string | null;
  readonly isQuarantined: boolean;
  readonly reason: string;
}

export interface Recorded {
  readonly record: TestRecord;
  readonly event: QuarantineChanged | undefined;
}

/** `quarantinedAt` is the previous value; it is kept while the test stays quarantined. */
export function recordTest(
  state: TestState,
  of: {
    readonly override: QuarantineOverride | null;
    readonly settings: QuarantineSettings;
    readonly quarantinedAt: Instant | null;
    readonly at: Instant;
    readonly actor: string | null;
  },
): Recorded {
  const { override, settings, at, actor } = of;
  const quarantine = quarantineOf(state.status, override, settings, at);
  const { isQuarantined, reason } = quarantine;
  const record: TestRecord = {
    status: state.status,
    statusReason: state.statusReason,
    statusAt: state.statusSince ?? state.firstSeenAt,
    quarantinedAt: isQuarantined ? (of.quarantinedAt ?? at) : null,
    isFlagged: state.flag !== null,
    labels: labelsOf(state),
  };
  const hasChanged = isQuarantined !== (of.quarantinedAt !== null);
  return {
    record,
    event: hasChanged ? { kind: 'quarantine_changed', at, actor, isQuarantined, reason } : undefined,
  };
}
