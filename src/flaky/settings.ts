import type { Instant } from '../lib/clock.ts';
import type { Monitor } from './core/monitor.ts';
import { uuidV5 } from './identity/test-id.ts';

/** Test settings of a repository. */
export interface TestSettings {
  readonly quarantineEnabled: boolean;
  readonly autoQuarantine: boolean;
  readonly infrastructureProtectionEnabled: boolean;
  /** A fraction; null: far above the usual share. */
  readonly infrastructureFailureThreshold: number | null;
  readonly retentionDays: number;
  /** `{key}` stands for the ticket's key; null: no template. */
  readonly ticketUrlTemplate: string | null;
}

export const DEFAULT_TEST_SETTINGS: TestSettings = {
  quarantineEnabled: true,
  autoQuarantine: false,
  infrastructureProtectionEnabled: true,
  infrastructureFailureThreshold: null,
  retentionDays: 45,
  ticketUrlTemplate: null,
};

/**
 * The monitors of a repository whose settings were never changed. Ids are derived, so every server computes the same
 * ones.
 */
export function defaultMonitors(repositoryId: string, createdAt: Instant): readonly Monitor[] {
  let made = 0;
  const makeId = () => {
    made += 1;
    return uuidV5(`${repositoryId}#monitor#${made}`);
  };
  return seedMonitors(makeId, createdAt);
}

const LONG_LIVED = ['main', 'master', 'develop', 'dev', 'release/*'];
const WEEK_MINUTES = 7 * 24 * 60;

/** The monitors of a new repository. `makeId` is called once for each, in this order. */
// SPEC F7, F42
export function seedMonitors(makeId: () => string, createdAt: Instant): readonly Monitor[] {
  const common = { enabled: true, createdAt };
  const onLongLived = { ...common, branches: LONG_LIVED };
  return [
    {
      ...common,
      id: makeId(),
      type: 'pass_on_retry',
      name: 'Pass on retry',
      branches: ['*'],
      action: { kind: 'classify', status: 'FLAKY' },
      parameters: { recoveryDays: 7 },
    },
    {
      ...onLongLived,
      id: makeId(),
      type: 'failure_count',
      name: 'Repeated failures',
      action: { kind: 'classify', status: 'FLAKY' },
      parameters: {
        failureCount: 5,
        windowMinutes: WEEK_MINUTES,
        resolutionTimeoutMinutes: WEEK_MINUTES,
        passesBetween: 1,
      },
    },
    {
      ...onLongLived,
      id: makeId(),
      type: 'failure_rate',
      name: 'Nearly always failing',
      action: { kind: 'classify', status: 'BROKEN' },
      parameters: {
        activationThreshold: 0.9,
        resolutionThreshold: 0.9,
        windowHours: 24,
        minimumSampleSize: 5,
        staleTimeoutHours: null,
      },
    },
    {
      ...onLongLived,
      id: makeId(),
      type: 'new_test',
      name: 'New tests',
      action: { kind: 'label', labels: ['New'], removeOnResolve: true },
      parameters: { newDays: 7 },
    },
    {
      ...onLongLived,
      id: makeId(),
      type: 'skipped_test',
      name: 'Skipped tests',
      action: { kind: 'label', labels: ['Skipped'], removeOnResolve: true },
      parameters: { windowMinutes: 24 * 60, minimumSkippedCount: 1, resolutionDays: 7 },
    },
  ];
}

const KEY = /^[A-Za-z0-9#][A-Za-z0-9._#/-]{0,99}$/;
const PLACE = '{key}';

/**
 * The URL of a ticket: the ticket itself if it is a URL, else the template with its key. Undefined if neither works.
 */
// SPEC F26
export function findTicketUrl(ticket: string, template: string | null): string | undefined {
  if (isHttpUrl(ticket)) return ticket;
  if (template === null || !KEY.test(ticket)) return undefined;
  return template.replaceAll(PLACE, encodeURIComponent(ticket));
}

export function isTicketTemplate(text: string): boolean {
  return text.includes(PLACE) && isHttpUrl(text.replaceAll(PLACE, 'KEY-1'));
}

/** Pages show these links, so spaces and embedded passwords are refused. */
function isHttpUrl(text: string): boolean {
  if (!/^https?:\/\/[^\s"<>\\]+$/i.test(text) || !URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username === '' && password === '';
}
