import type { Instant } from '../lib/clock.ts';
import type { ResolutionCause } from './detector.ts';
import type { HealthStatus, MonitorType } from './monitor.ts';
import type { Evidence, LabelSource } from './state.ts';

/** Why a monitor no longer speaks about a test. */
export type EndCause = ResolutionCause | 'disabled' | 'deleted' | 'changed';

/** What stands behind a status; a person's flag has no monitor. */
export interface Contribution {
  readonly monitorId: string | null;
  readonly type: MonitorType | 'manual';
}

/** What happened to a test, for its history and for webhooks. `actor` is null where nobody acted. */
export type TestEvent = { readonly at: Instant; readonly actor: string | null } & (
  | {
      readonly kind: 'monitor_activated';
      readonly monitorId: string;
      readonly type: MonitorType;
      readonly reason: string;
      readonly evidence: Evidence;
    }
  | {
      readonly kind: 'monitor_resolved';
      readonly monitorId: string;
      readonly type: MonitorType;
      readonly cause: EndCause;
      readonly reason: string;
    }
  | {
      readonly kind: 'status_changed';
      readonly from: HealthStatus;
      readonly to: HealthStatus;
      readonly reason: string;
      /** Everything that classifies the test right after. */
      readonly active: readonly Contribution[];
    }
  | {
      readonly kind: 'monitor_muted';
      readonly monitorId: string;
      readonly until: Instant | null;
      readonly reason: string | null;
    }
  | { readonly kind: 'monitor_unmuted'; readonly monitorId: string; readonly hasExpired: boolean }
  | { readonly kind: 'test_flagged'; readonly reason: string | null }
  | { readonly kind: 'test_unflagged' }
  | { readonly kind: 'label_added'; readonly label: string; readonly source: LabelSource['source'] }
  | { readonly kind: 'label_removed'; readonly label: string; readonly source: LabelSource['source'] }
);

export interface Changed<State> {
  readonly state: State;
  readonly events: readonly TestEvent[];
}
