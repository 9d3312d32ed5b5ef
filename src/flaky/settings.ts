import type { Instant } from '../lib/clock.ts';
import type { Monitor } from './core/monitor.ts';
import { uuidV5 } from './identity/uuid-v5.ts';
import { seedMonitors } from './seed-monitors.ts';

/** What a repository says about its tests. */
export interface TestSettings {
  readonly quarantineEnabled: boolean;
  readonly autoQuarantine: boolean;
  readonly infrastructureProtectionEnabled: boolean;
  /** A fraction; null: far above what is usual. */
  readonly infrastructureFailureThreshold: number | null;
  readonly retentionDays: number;
  /** With `{key}` where the ticket's key goes; null: none. */
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

/** The monitors of a repository that nobody changed: the same ones whenever and wherever they are asked for. */
export function defaultMonitors(repositoryId: string, createdAt: Instant): readonly Monitor[] {
  let made = 0;
  const makeId = () => {
    made += 1;
    return uuidV5(`${repositoryId}#monitor#${made}`);
  };
  return seedMonitors(makeId, createdAt);
}
