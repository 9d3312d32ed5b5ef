import { costOfFlakes } from '../../app/tests/cost-of-flakes.ts';
import { getQuarantineConfig } from '../../app/tests/get-quarantine-config.ts';
import { getTestDetails } from '../../app/tests/get-test-details.ts';
import { listQuarantinedTests } from '../../app/tests/list-quarantined-tests.ts';
import { listFailingTests, listTests, listUnhealthyTests, searchTests } from '../../app/tests/list-tests.ts';
import { deleteMonitor, listMonitors, setMonitor } from '../../app/tests/monitors.ts';
import { flagTest, linkTicketToTestCase, muteMonitor, setLabel, setQuarantine } from '../../app/tests/test-acts.ts';
import { listTestEvents, listTestRuns } from '../../app/tests/test-history.ts';
import { getTestSettings, updateTestSettings } from '../../app/tests/test-settings.ts';
import { costOfFlakes as costOfFlakesContract } from '../../contract/cost-of-flakes.ts';
import * as flakyTestsContract from '../../contract/flaky-tests.ts';
import * as monitorsContract from '../../contract/monitors.ts';
import { upper } from '../../contract/schema.ts';
import * as testActsContract from '../../contract/test-acts.ts';
import * as testHistoryContract from '../../contract/test-history.ts';
import * as testSettingsContract from '../../contract/test-settings.ts';
import * as uploaderContract from '../../contract/uploader.ts';
import { instant, named, pageQuery, testRef, testScope } from '../core/parse.ts';
import { type Route, route } from '../core/route.ts';

export const TESTS_ROUTES: readonly Route[] = [
  route(flakyTestsContract.searchTests, ({ app, caller, baseUrl }, body) =>
    searchTests(app, caller, {
      ...testScope(body),
      text: body.query,
      limit: body.limit ?? 20,
      baseUrl,
    }),
  ),
  route(flakyTestsContract.listFailingTests, ({ app, caller, baseUrl }, body) =>
    listFailingTests(app, caller, {
      ...testScope(body),
      from: instant('/start_time', body.start_time),
      until: instant('/end_time', body.end_time),
      page: pageQuery(body.page_query),
      baseUrl,
    }),
  ),
  route(flakyTestsContract.listUnhealthyTests, ({ app, caller, baseUrl }, body) =>
    listUnhealthyTests(app, caller, {
      ...testScope(body),
      status: upper(body.status),
      page: pageQuery(body.page_query),
      baseUrl,
    }),
  ),
  route(flakyTestsContract.listQuarantinedTests, ({ app, caller, dialect }, body) =>
    listQuarantinedTests(app, caller, {
      ...testScope(body),
      page: pageQuery(body.page_query),
      hasReview: dialect.hasReviews,
      onlyToReview: dialect.hasReviews && body.only_to_review === true,
    }),
  ),
  route(flakyTestsContract.listTests, ({ app, caller, baseUrl }, body) =>
    listTests(app, caller, {
      ...testScope(body),
      page: pageQuery(body.page_query),
      order: upper(body.sort ?? 'PULL_REQUESTS'),
      status: body.status === undefined ? null : upper(body.status),
      isQuarantined: body.quarantined ?? null,
      owner: body.owner ?? null,
      text: body.text ?? null,
      baseUrl,
    }),
  ),
  route(costOfFlakesContract, ({ app, caller, baseUrl }, body) =>
    costOfFlakes(app, caller, {
      ...testScope(body),
      from: instant('/start_time', body.start_time),
      until: instant('/end_time', body.end_time),
      baseUrl,
    }),
  ),
  route(flakyTestsContract.getTestDetails, ({ app, caller, baseUrl }, body) =>
    getTestDetails(app, caller, { ...testRef(body), baseUrl }),
  ),
  route(testHistoryContract.listTestRuns, ({ app, caller }, body) =>
    listTestRuns(app, caller, {
      ...testRef(body),
      page: pageQuery(body.page_query),
      branch: body.branch ?? null,
      conclusion: body.conclusion === undefined ? null : upper(body.conclusion),
      hasFailureText: body.include_failure_text ?? false,
    }),
  ),
  route(testHistoryContract.listTestEvents, ({ app, caller }, body) =>
    listTestEvents(app, caller, {
      ...testRef(body),
      page: pageQuery(body.page_query),
    }),
  ),
  route(testActsContract.flagTest, ({ app, caller, baseUrl }, body) =>
    flagTest(app, caller, {
      ...testRef(body),
      isFlagged: body.flagged,
      reason: body.reason ?? null,
      baseUrl,
    }),
  ),
  route(testActsContract.setQuarantine, ({ app, caller, baseUrl }, body) =>
    setQuarantine(app, caller, {
      ...testRef(body),
      setting: upper(body.setting),
      reason: body.reason,
      expiresAt: body.expires_at === undefined ? null : instant('/expires_at', body.expires_at),
      suites: body.suites ?? null,
      baseUrl,
    }),
  ),
  route(testActsContract.setLabel, ({ app, caller, baseUrl }, body) =>
    setLabel(app, caller, {
      ...testRef(body),
      label: body.label,
      isOn: body.on,
      baseUrl,
    }),
  ),
  route(testActsContract.linkTicketToTestCase, ({ app, caller, baseUrl }, body) =>
    linkTicketToTestCase(app, caller, {
      repo: body.repo,
      orgUrlSlug: caller.organization.slug,
      testId: body.test_case_id,
      ticket: body.external_ticket_id,
      baseUrl,
    }),
  ),
  route(testActsContract.muteMonitor, ({ app, caller, baseUrl }, body) =>
    muteMonitor(app, caller, {
      ...testRef(body),
      monitorId: body.monitor_id.toLowerCase(),
      isMuted: body.muted ?? true,
      until: body.until === undefined || body.until === null ? null : instant('/until', body.until),
      reason: body.reason ?? null,
      baseUrl,
    }),
  ),
];

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
