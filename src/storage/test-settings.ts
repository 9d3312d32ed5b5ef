import type { Monitor } from '../flaky/core/monitor.ts';
import type { TestSettings } from '../flaky/settings.ts';
import type { Instant } from '../lib/clock.ts';
import type { RepositoryId } from './repositories.ts';

export interface StoredTestSettings {
  /** Grows with every change, from 1. A repository that has none follows the defaults, which are version 0. */
  readonly version: number;
  readonly settings: TestSettings;
  readonly monitors: readonly Monitor[];
  /** Every test follows this version. */
  readonly appliedVersion: number;
  /** The monitors of that version; of version 0, whose are the defaults, none. */
  readonly appliedMonitors: readonly Monitor[];
  /** Who made the latest change. */
  readonly actor: string | null;
  readonly changedAt: Instant | null;
}

export interface SettingsChange {
  readonly at: Instant;
  readonly actor: string;
  /** What changed, as JSON. */
  readonly detail: string;
}

export interface TestSettingsStore {
  find(repositoryId: RepositoryId): Promise<StoredTestSettings | undefined>;
  /** Stored as the next version; undefined where `expectedVersion` is not the stored one (0: none). */
  save(
    repositoryId: RepositoryId,
    expectedVersion: number,
    next: Pick<StoredTestSettings, 'settings' | 'monitors'>,
    change: SettingsChange,
  ): Promise<StoredTestSettings | undefined>;
  /** Those of a stored version, which some tests may still follow; those of version 0 are the defaults: undefined. */
  findMonitors(repositoryId: RepositoryId, version: number): Promise<readonly Monitor[] | undefined>;
  /** Every test follows this version now. */
  markApplied(repositoryId: RepositoryId, version: number): Promise<void>;
  /** Repositories whose tests do not all follow the latest version. */
  listBehind(): Promise<readonly RepositoryId[]>;
  /** Newest first. */
  listChanges(repositoryId: RepositoryId, limit: number): Promise<readonly SettingsChange[]>;
}
