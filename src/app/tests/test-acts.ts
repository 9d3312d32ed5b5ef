import type { RequestOf } from '../../contract/operation.ts';
import type * as contract from '../../contract/test-acts.ts';
import { flag, mute, unflag, unmute } from '../../flaky/acts.ts';
import { pathsOf, suiteNameOf } from '../../flaky/core/paths.ts';
import type { TestState } from '../../flaky/core/state.ts';
import { labelsOf, setLabel as putLabel } from '../../flaky/labels.ts';
import { findTicketUrl } from '../../flaky/settings.ts';
import type { TestRow } from '../../storage/tests.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { type Answer, isRefusal, type Refusal, refuse, refuseField } from '../core/refusal.ts';
import { type ActedTest, type ChangedTest, changeTest } from './change-test.ts';
import { monitorNotFound } from './monitors.ts';
import type { Place } from './test-view.ts';

/** Bounds the size of a stored test. */
const MAX_LABELS = 50;

// SPEC F53, F80
export function setQuarantine(
  app: App,
  caller: Caller,
  input: RequestOf<typeof contract.setQuarantine>,
  { baseUrl }: Place,
): Answer<ChangedTest> {
  const { setting, reason, expires_at: expiresAt = null, suites: named = null } = input;
  const actor = caller.name;
  return changeTest(app, caller, { ...input, baseUrl }, ({ test, state, at }): ActedTest | Refusal => {
    if (expiresAt !== null && expiresAt <= at) return refuseField('/expires_at', 'must be in the future');
    const isAlways = setting === 'ALWAYS_QUARANTINE';
    if (!isAlways && named !== null) return refuseField('/suites', 'goes with ALWAYS_QUARANTINE alone');
    const suites = chooseSuites(test, state, named);
    if (isRefusal(suites)) return suites;
    const facts = { actor, at, reason, expiresAt, ...(isAlways && { suites }) };
    const { quarantineOverride: from } = test;
    const names = suites.map((path) => suiteNameOf(test.parent, path));
    const change = { from, to: setting, reason, expiresAt, ...(isAlways && names.length > 0 && { suites: names }) };
    return {
      test: { ...test, quarantineOverride: setting, override: setting === 'UNSPECIFIED' ? null : facts },
      state,
      events: [{ kind: 'override_changed', at, actor, ...change }],
    };
  });
}

/** The paths of the suites of these names; all known ones if none is named. */
function chooseSuites(test: TestRow, state: TestState, names: readonly string[] | null): readonly string[] | Refusal {
  const known = new Map(pathsOf(state).map(([path]) => [suiteNameOf(test.parent, path), path]));
  if (names === null) return [...known.values()];
  const unknown = names.find((name) => !known.has(name));
  if (unknown === undefined) return [...new Set(names)].map((name) => known.get(name) as string);
  const all = [...known.keys()].map((name) => JSON.stringify(name)).join(', ') || 'none';
  return refuseField('/suites', `must be suites of the test: there is no ${JSON.stringify(unknown)}. It has ${all}`);
}

export function flagTest(
  app: App,
  caller: Caller,
  input: RequestOf<typeof contract.flagTest>,
  { baseUrl }: Place,
): Answer<ChangedTest> {
  const actor = caller.name;
  return changeTest(app, caller, { ...input, baseUrl }, ({ test, state, monitors, at }) => {
    if (!input.flagged) return { test, ...unflag(state, monitors, { actor, at }) };
    const flagged = flag(state, monitors, { actor, at, reason: input.reason ?? null });
    return flagged.kind === 'refused' ? refuse('TEST_NOT_FLAGGABLE', flagged.detail) : { test, ...flagged };
  });
}

export function muteMonitor(
  app: App,
  caller: Caller,
  input: RequestOf<typeof contract.muteMonitor>,
  { baseUrl }: Place,
): Answer<ChangedTest> {
  const { monitor_id: monitorId, muted: isMuted = true, until = null, reason = null } = input;
  const actor = caller.name;
  return changeTest(app, caller, { ...input, baseUrl }, ({ test, state, monitors, settings, at }) => {
    if (!settings.monitors.some((monitor) => monitor.id === monitorId)) return monitorNotFound(monitorId);
    if (!isMuted) return { test, ...unmute(state, monitors, { actor, at, monitorId }) };
    if (until !== null && until <= at) return refuseField('/until', 'must be in the future');
    const muted = mute(state, monitors, { actor, at, monitorId, until, reason });
    return muted.kind === 'refused' ? refuse('MONITOR_NOT_MUTABLE', muted.detail) : { test, ...muted };
  });
}

// SPEC F25
export function setLabel(
  app: App,
  caller: Caller,
  input: RequestOf<typeof contract.setLabel>,
  { baseUrl }: Place,
): Answer<ChangedTest> {
  const { label, on: isOn } = input;
  return changeTest(app, caller, { ...input, baseUrl }, ({ test, state, at }) => {
    const labelled = putLabel(state, { label, isOn, actor: caller.name, at });
    if (isOn && labelsOf(labelled.state).length > MAX_LABELS)
      return refuseField('/label', `must be one of at most ${MAX_LABELS}: take another label away first`);
    return { test, ...labelled };
  });
}

export function linkTicketToTestCase(
  app: App,
  caller: Caller,
  input: RequestOf<typeof contract.linkTicketToTestCase>,
  { baseUrl }: Place,
): Answer<ChangedTest> {
  const { repo, test_case_id: test_id, external_ticket_id: ticket } = input;
  const actor = caller.name;
  const of = { repo, test_id, org_url_slug: caller.organization.slug, baseUrl };
  return changeTest(app, caller, of, ({ test, state, settings, at }) => {
    const { ticketUrlTemplate } = settings.settings;
    const url = ticket === null ? null : findTicketUrl(ticket, ticketUrlTemplate);
    if (url === undefined) {
      const message =
        ticketUrlTemplate === null
          ? 'must be an http or https address: the repository has no ticket_url_template for keys'
          : 'must be an http or https address, or a key of at most 100 letters, digits and -._#/';
      return refuseField('/external_ticket_id', message);
    }
    const { ticketUrl: previousUrl } = test;
    if (url === previousUrl) return { test, state, events: [] };
    const event =
      url === null
        ? { kind: 'ticket_unlinked', at, actor, previousUrl }
        : { kind: 'ticket_linked', at, actor, url, previousUrl };
    return { test: { ...test, ticketUrl: url }, state, events: [event] };
  });
}
