import { muteMonitor as mute } from '../../app/tests/mute-monitor.ts';
import { muteMonitor } from '../../contract/test-acts.ts';
import { instant } from '../core/parse.ts';
import { route } from '../core/route.ts';

export const muteMonitorRoute = route(muteMonitor, ({ app, caller, baseUrl }, body) =>
  mute(app, caller, {
    repo: body.repo,
    orgUrlSlug: body.org_url_slug,
    testId: body.test_id,
    monitorId: body.monitor_id.toLowerCase(),
    isMuted: body.muted ?? true,
    until: body.until === undefined || body.until === null ? null : instant('/until', body.until),
    reason: body.reason ?? null,
    baseUrl,
  }),
);
