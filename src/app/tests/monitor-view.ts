import type { listMonitors } from '../../contract/monitors.ts';
import type { ReplyOf } from '../../contract/operation.ts';
import type { Monitor } from '../../flaky/core/monitor.ts';
import { wireParameters } from '../../flaky/parse-monitor.ts';

export type MonitorView = ReplyOf<typeof listMonitors>['monitors'][number];

export function viewMonitor(monitor: Monitor): MonitorView {
  const { id, type, name, enabled, branches, action } = monitor;
  const viewed =
    action.kind === 'classify'
      ? { classify: action.status }
      : { labels: action.labels, remove_on_resolve: action.removeOnResolve };
  return { id, type, name, enabled, branches, action: viewed, parameters: wireParameters(monitor) };
}
