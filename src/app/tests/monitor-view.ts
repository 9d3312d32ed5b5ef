import type { Monitor, MonitorType } from '../../flaky/core/monitor.ts';
import { wireParameters } from '../../flaky/parse-monitor.ts';

export interface MonitorView {
  readonly id: string;
  readonly type: MonitorType;
  readonly name: string;
  readonly enabled: boolean;
  readonly branches: readonly string[];
  readonly action: {
    readonly classify?: 'FLAKY' | 'BROKEN';
    readonly labels?: readonly string[];
    readonly remove_on_resolve?: boolean;
  };
  readonly parameters: Readonly<Record<string, number | null>>;
}

export function viewMonitor(monitor: Monitor): MonitorView {
  const { id, type, name, enabled, branches, action } = monitor;
  const viewed =
    action.kind === 'classify'
      ? { classify: action.status }
      : { labels: action.labels, remove_on_resolve: action.removeOnResolve };
  return { id, type, name, enabled, branches, action: viewed, parameters: wireParameters(monitor) };
}
