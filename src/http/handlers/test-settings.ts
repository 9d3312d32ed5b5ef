import { getQuarantineConfig } from '../../app/tests/get-quarantine-config.ts';
import { deleteMonitor, listMonitors, setMonitor } from '../../app/tests/monitors.ts';
import { getTestSettings, updateTestSettings } from '../../app/tests/test-settings.ts';
import * as monitorsContract from '../../contract/monitors.ts';
import * as testSettingsContract from '../../contract/test-settings.ts';
import * as uploaderContract from '../../contract/uploader.ts';
import { named, testScope } from '../core/parse.ts';
import { type Route, route } from '../core/route.ts';

export const TEST_SETTINGS_ROUTES: readonly Route[] = [
  route(testSettingsContract.getTestSettings, ({ app, caller }, body) => getTestSettings(app, caller, testScope(body))),
  route(testSettingsContract.updateTestSettings, ({ app, caller }, body) =>
    updateTestSettings(app, caller, {
      ...testScope(body),
      settings: named({
        quarantineEnabled: body.quarantine_enabled,
        autoQuarantine: body.auto_quarantine,
        infrastructureProtectionEnabled: body.infrastructure_protection_enabled,
        infrastructureFailureThreshold: body.infrastructure_failure_threshold,
        retentionDays: body.retention_days,
        ticketUrlTemplate: body.ticket_url_template,
      }),
    }),
  ),
  route(monitorsContract.listMonitors, ({ app, caller }, body) => listMonitors(app, caller, testScope(body))),
  route(monitorsContract.setMonitor, ({ app, caller }, body) => {
    const { id, type, ...fields } = body.monitor;
    return setMonitor(app, caller, {
      ...testScope(body),
      monitorId: id?.toLowerCase(),
      monitor: type === undefined ? fields : { ...fields, type: type.toLowerCase() },
    });
  }),
  route(monitorsContract.deleteMonitor, ({ app, caller }, body) =>
    deleteMonitor(app, caller, {
      ...testScope(body),
      monitorId: body.monitor_id.toLowerCase(),
    }),
  ),
  route(uploaderContract.getQuarantineConfig, ({ app, caller }, body) =>
    getQuarantineConfig(app, caller, {
      repo: body.repo,
      orgUrlSlug: body.orgUrlSlug,
      tests: body.testIdentifiers.map(({ id, name, parentName, className, file, variant, suitePaths }) => ({
        id,
        name,
        parentName: parentName ?? '',
        className: className ?? null,
        file: file ?? null,
        variant: variant ?? null,
        suitePaths: suitePaths ?? null,
      })),
    }),
  ),
];
