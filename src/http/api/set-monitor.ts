import { setMonitor as set } from '../../app/tests/set-monitor.ts';
import { setMonitor } from '../../contract/monitors.ts';
import { route } from '../core/route.ts';

export const setMonitorRoute = route(setMonitor, ({ app, caller }, body) => {
  const { id, type, ...fields } = body.monitor;
  return set(app, caller, {
    repo: body.repo,
    orgUrlSlug: body.org_url_slug,
    monitorId: id?.toLowerCase(),
    monitor: type === undefined ? fields : { ...fields, type: type.toLowerCase() },
  });
});
