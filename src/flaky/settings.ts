import type { Instant } from '../lib/clock.ts';
import type { Monitor } from './core/monitor.ts';
import { uuidV5 } from './identity/uuid-v5.ts';
import { seedMonitors } from './seed-monitors.ts';

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
