import { listMonitors as list } from '../../app/tests/list-monitors.ts';
import { listMonitors } from '../../contract/monitors.ts';
import { route } from '../core/route.ts';

export const listMonitorsRoute = route(listMonitors, ({ app, caller }, body) =>
  list(app, caller, { repo: body.repo, orgUrlSlug: body.org_url_slug }),
);
