import { deleteMonitor as remove } from '../../app/tests/delete-monitor.ts';
import { deleteMonitor } from '../../contract/monitors.ts';
import { route } from '../core/route.ts';

export const deleteMonitorRoute = route(deleteMonitor, ({ app, caller }, body) =>
  remove(app, caller, {
    repo: body.repo,
    orgUrlSlug: body.org_url_slug,
    monitorId: body.monitor_id.toLowerCase(),
  }),
);
