import type { Instant } from '../lib/clock.ts';
import type { ResolutionCause } from './core/detector.ts';
import type { HealthStatus, MonitorType } from './core/monitor.ts';
import type { Evidence, LabelSource } from './core/state.ts';

/** Why a monitor stopped classifying a test. */
export type EndCause = ResolutionCause | 'disabled' | 'deleted' | 'changed';

/** A source of a status; a person's flag has no monitor. */
export interface Contribution {
  readonly monitorId: string | null;
  readonly type: MonitorType | 'manual';
}

/** The name is a copy, because the history outlives its monitors. */
interface OfMonitor {
  readonly monitorId: string;
  readonly monitorName: string;
}

interface OfLabel {
  readonly label: string;
  readonly source: LabelSource['source'];
  /** Set if a monitor acts. */
  readonly monitorName?: string;
}

/** An event in a test's history, also sent to webhooks. `actor` is null if no person acted. */
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
