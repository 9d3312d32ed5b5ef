import type { Instant } from '../lib/clock.ts';
import type { HealthStatus } from './core/monitor.ts';
import type { Conclusion } from './core/run.ts';

export interface QuarantineSettings {
  /** The master switch. */
  readonly isEnabled: boolean;
  /** Flaky tests are quarantined without a person's decision. */
  readonly isAutomatic: boolean;
}

export interface QuarantineOverride {
  readonly mode: 'ALWAYS_QUARANTINE' | 'NEVER_QUARANTINE';
  readonly expiresAt: Instant | null;
}

/** The origin of a quarantine. A person decides for suites, given by their paths; automatic quarantine follows evidence. */
export type Quarantine =
  | { readonly by: 'person'; readonly at: Instant; readonly suites: readonly string[] }
  | { readonly by: 'auto' };

export type QuarantineState =
  | { readonly isQuarantined: true; readonly by: 'ALWAYS_QUARANTINE' | 'AUTO_QUARANTINE'; readonly reason: string }
  | { readonly isQuarantined: false; readonly reason: string };

/** Combines settings, a person's override and the status. Broken tests are never quarantined automatically. */
// SPEC F21
export function quarantineOf(
  status: HealthStatus,
  override: QuarantineOverride | null,
  settings: QuarantineSettings,
  at: Instant,
): QuarantineState {
  const mode = override === null || hasExpired(override, at) ? null : override.mode;
  const no = (reason: string): QuarantineState => ({ isQuarantined: false, reason });
  if (!settings.isEnabled) return no('Quarantine is switched off for the repository.');
  if (mode === 'NEVER_QUARANTINE') return no('Somebody decided that this test is never quarantined.');
  if (mode === 'ALWAYS_QUARANTINE') {
    return { isQuarantined: true, by: mode, reason: 'Somebody decided that this test is always quarantined.' };
  }
  if (!settings.isAutomatic) return no('Flaky tests are not quarantined automatically.');
  if (status === 'BROKEN') return no('A broken test is never quarantined automatically.');
  if (status === 'HEALTHY') return no('The test is healthy.');
  return { isQuarantined: true, by: 'AUTO_QUARANTINE', reason: 'The test is flaky.' };
}

function hasExpired({ expiresAt }: QuarantineOverride, at: Instant): boolean {
  return expiresAt !== null && expiresAt <= at;
}

/** True if a failing run blocked a merge because of a test known to be unhealthy. */
export function isBlockingRun(
  conclusion: Conclusion,
  test: { readonly status: HealthStatus; readonly isQuarantined: boolean },
): boolean {
  return conclusion === 'FAILURE' && test.status !== 'HEALTHY' && !test.isQuarantined;
}

/** A quarantined test, for the review of quarantines. */
export interface QuarantinedTest {
  readonly quarantinedAt: Instant;
  /** Since the quarantine began, as far back as runs are kept, without skipped runs. */
  readonly passes: number;
  readonly failures: number;
  readonly lastRunAt: Instant | null;
}

export const REVIEW_AFTER_DAYS = 14;
/** Fewer passes say little about a test that fails now and then. */
export const REVIEW_MINIMUM_PASSES = 50;
const DAY_MS = 86_400_000;

/** Finds quarantines that outlived their reason: the test always passes now, or no longer runs. */
// SPEC F22
export function reviewOf(test: QuarantinedTest, at: Instant): 'ALWAYS_PASSES' | 'NEVER_RUNS' | undefined {
  const since = at - REVIEW_AFTER_DAYS * DAY_MS;
  if (test.quarantinedAt > since) return undefined;
  if (test.lastRunAt === null || test.lastRunAt <= since) return 'NEVER_RUNS';
  return test.failures === 0 && test.passes >= REVIEW_MINIMUM_PASSES ? 'ALWAYS_PASSES' : undefined;
}
