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
import * as testActsContract from '../../contract/test-acts.ts';
import * as testHistoryContract from '../../contract/test-history.ts';
import * as testSettingsContract from '../../contract/test-settings.ts';
import * as uploaderContract from '../../contract/uploader.ts';
import { type Route, route } from '../core/route.ts';

export const TESTS_ROUTES: readonly Route[] = [
  route(flakyTestsContract.searchTests, searchTests),
  route(flakyTestsContract.listFailingTests, listFailingTests),
  route(flakyTestsContract.listUnhealthyTests, listUnhealthyTests),
  route(flakyTestsContract.listQuarantinedTests, listQuarantinedTests),
  route(flakyTestsContract.listTests, listTests),
  route(costOfFlakesContract, costOfFlakes),
  route(flakyTestsContract.getTestDetails, getTestDetails),
  route(testHistoryContract.listTestRuns, listTestRuns),
  route(testHistoryContract.listTestEvents, listTestEvents),
  route(testActsContract.flagTest, flagTest),
  route(testActsContract.setQuarantine, setQuarantine),
  route(testActsContract.setLabel, setLabel),
  route(testActsContract.linkTicketToTestCase, linkTicketToTestCase),
  route(testActsContract.muteMonitor, muteMonitor),
  route(testSettingsContract.getTestSettings, getTestSettings),
  route(testSettingsContract.updateTestSettings, updateTestSettings),
  route(monitorsContract.listMonitors, listMonitors),
  route(monitorsContract.setMonitor, setMonitor),
  route(monitorsContract.deleteMonitor, deleteMonitor),
  route(uploaderContract.getQuarantineConfig, getQuarantineConfig),
];
