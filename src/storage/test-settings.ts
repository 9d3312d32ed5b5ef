import type { Monitor } from '../flaky/core/monitor.ts';
import type { TestSettings } from '../flaky/settings.ts';
import type { Instant } from '../lib/clock.ts';
import type { RepositoryId } from './repositories.ts';

export interface StoredTestSettings {
  /** Grows with every change, from 1. Version 0 are the defaults of a repository without stored settings. */
  readonly version: number;
  readonly settings: TestSettings;
  readonly monitors: readonly Monitor[];
  /** Every test follows this version. */
  readonly appliedVersion: number;
  /** The monitors of that version; empty for version 0, the defaults. */
  readonly appliedMonitors: readonly Monitor[];
  readonly actor: string | null;
  readonly changedAt: Instant | null;
}

export interface SettingsChange {
  readonly at: Instant;
  readonly actor: string;
  /** The change, as JSON. */
  readonly detail: string;
}

export interface TestSettingsStore {
  find(repositoryId: RepositoryId): Promise<StoredTestSettings | undefined>;
  /** Stored as the next version; undefined if `expectedVersion` is not the stored one (0: none). */
  save(
    repositoryId: RepositoryId,
    expectedVersion: number,
    next: Pick<StoredTestSettings, 'settings' | 'monitors'>,
    change: SettingsChange,
  ): Promise<StoredTestSettings | undefined>;
  /** The monitors of a stored version, which some tests may still follow; undefined for version 0, the defaults. */
  findMonitors(repositoryId: RepositoryId, version: number): Promise<readonly Monitor[] | undefined>;
  /** Every test follows this version now. */
  markApplied(repositoryId: RepositoryId, version: number): Promise<void>;
  /** Repositories whose tests do not all follow the latest version. */
  listBehind(): Promise<readonly RepositoryId[]>;
  /** Newest first. */
  listChanges(repositoryId: RepositoryId, limit: number): Promise<readonly SettingsChange[]>;
}
