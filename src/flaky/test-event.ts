import type { Instant } from '../lib/clock.ts';
import type { ResolutionCause } from './core/detector.ts';
import type { HealthStatus, MonitorType } from './core/monitor.ts';
import type { Evidence, LabelSource } from './core/state.ts';

/** Why a monitor no longer speaks about a test. */
export type EndCause = ResolutionCause | 'disabled' | 'deleted' | 'changed';

/** What stands behind a status; a person's flag has no monitor. */
export interface Contribution {
  readonly monitorId: string | null;
  readonly type: MonitorType | 'manual';
}

/** With its name as it is then: a history outlives its monitors. */
interface OfMonitor {
  readonly monitorId: string;
  readonly monitorName: string;
}

interface OfLabel {
  readonly label: string;
  readonly source: LabelSource['source'];
  /** Where a monitor acts. */
  readonly monitorName?: string;
}

/** What happened to a test, for its history and for webhooks. `actor` is null where nobody acted. */
export type TestEvent = { readonly at: Instant; readonly actor: string | null } & (
  | (OfMonitor & {
      readonly kind: 'monitor_activated';
      readonly type: MonitorType;
      readonly reason: string;
      readonly evidence: Evidence;
    })
  | (OfMonitor & {
      readonly kind: 'monitor_resolved';
      readonly type: MonitorType;
      readonly cause: EndCause;
      readonly reason: string;
    })
  | {
      readonly kind: 'status_changed';
      readonly from: HealthStatus;
      readonly to: HealthStatus;
      readonly reason: string;
      /** Everything that classifies the test right after. */
      readonly active: readonly Contribution[];
    }
  | (OfMonitor & {
      readonly kind: 'monitor_muted';
      readonly until: Instant | null;
      readonly reason: string | null;
    })
  | (OfMonitor & { readonly kind: 'monitor_unmuted'; readonly hasExpired: boolean })
  | { readonly kind: 'test_flagged'; readonly reason: string | null }
  | { readonly kind: 'test_unflagged' }
  | { readonly kind: 'upload_ignored'; readonly uploadId: string; readonly reason: string }
  | (OfLabel & { readonly kind: 'label_added' })
  | (OfLabel & { readonly kind: 'label_removed' })
);

export interface Changed<State> {
  readonly state: State;
  readonly events: readonly TestEvent[];
}
