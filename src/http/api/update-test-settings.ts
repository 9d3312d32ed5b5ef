import { updateTestSettings as update } from '../../app/tests/update-test-settings.ts';
import { updateTestSettings } from '../../contract/test-settings.ts';
import { named } from '../core/parse.ts';
import { route } from '../core/route.ts';

export const updateTestSettingsRoute = route(updateTestSettings, ({ app, caller }, body) =>
  update(app, caller, {
    repo: body.repo,
    orgUrlSlug: body.org_url_slug,
    settings: named({
      quarantineEnabled: body.quarantine_enabled,
      autoQuarantine: body.auto_quarantine,
      infrastructureProtectionEnabled: body.infrastructure_protection_enabled,
      infrastructureFailureThreshold: body.infrastructure_failure_threshold,
      retentionDays: body.retention_days,
      ticketUrlTemplate: body.ticket_url_template,
    }),
  }),
);
